-- The search looks through articles as they read, and shows excerpts of that: Markdown's marks are in neither. Each article gets
-- its plain text when its file is read at the next start.
alter table article add column plain text not null default '';

drop trigger article_inserted;
drop trigger article_deleted;
drop trigger article_updated;
drop table article_search;

create virtual table article_search using fts5 (
    title, summary, plain,
    content = 'article', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);

insert into article_search (article_search) values ('rebuild');

create trigger article_inserted after insert on article begin
    insert into article_search (rowid, title, summary, plain) values (new.id, new.title, new.summary, new.plain);
end;

create trigger article_deleted after delete on article begin
    insert into article_search (article_search, rowid, title, summary, plain)
    values ('delete', old.id, old.title, old.summary, old.plain);
end;

create trigger article_updated after update on article begin
    insert into article_search (article_search, rowid, title, summary, plain)
    values ('delete', old.id, old.title, old.summary, old.plain);
    insert into article_search (rowid, title, summary, plain) values (new.id, new.title, new.summary, new.plain);
end;
