-- Articles come from a folder of Markdown files; this table is what was last read from it.
create table article (
    id integer primary key autoincrement,
    slug text not null unique,
    title text not null,
    -- A day, as 2026-11-21: it sorts as text.
    published text not null,
    summary text not null,
    markdown text not null,
    -- All tags, separated by spaces, as lists show them: a list of articles is read from one table.
    tags text not null
) strict;

create index article_by_day on article (published desc, id desc);

-- The same tags one by one, as they are asked for.
create table article_tag (
    article_id integer not null references article (id) on delete cascade,
    tag text not null,
    primary key (article_id, tag)
) strict, without rowid;

create index article_by_tag on article_tag (tag, article_id);

-- Full-text search over what `article` holds; the triggers keep both the same.
create virtual table article_search using fts5 (
    title, summary, markdown,
    content = 'article', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);

create trigger article_inserted after insert on article begin
    insert into article_search (rowid, title, summary, markdown)
    values (new.id, new.title, new.summary, new.markdown);
end;

create trigger article_deleted after delete on article begin
    insert into article_search (article_search, rowid, title, summary, markdown)
    values ('delete', old.id, old.title, old.summary, old.markdown);
end;

create trigger article_updated after update on article begin
    insert into article_search (article_search, rowid, title, summary, markdown)
    values ('delete', old.id, old.title, old.summary, old.markdown);
    insert into article_search (rowid, title, summary, markdown)
    values (new.id, new.title, new.summary, new.markdown);
end;
