create table ticket (
    id integer primary key autoincrement,
    customer_id integer not null references user (id),
    -- Who looks after it.
    agent_id integer references user (id),
    title text not null,
    status text not null default 'open' check (status in ('open', 'waiting', 'solved')),
    priority text not null default 'normal' check (priority in ('low', 'normal', 'high', 'urgent')),
    escalated integer not null default 0,
    created text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    changed text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    -- The first answer of an agent.
    answered text
) strict;

create index ticket_by_customer on ticket (customer_id, changed desc);
create index ticket_by_status on ticket (status, changed desc);
create index ticket_by_change on ticket (changed desc);

create table ticket_tag (
    ticket_id integer not null references ticket (id) on delete cascade,
    tag text not null,
    primary key (ticket_id, tag)
) strict, without rowid;

create index ticket_by_tag on ticket_tag (tag, ticket_id);

-- The first one is what the customer reported.
create table comment (
    id integer primary key autoincrement,
    ticket_id integer not null references ticket (id) on delete cascade,
    author_id integer not null references user (id),
    -- For agents only.
    internal integer not null default 0,
    text text not null,
    written text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
) strict;

create index comment_by_ticket on comment (ticket_id, id);

create table attachment (
    id integer primary key autoincrement,
    comment_id integer not null references comment (id) on delete cascade,
    -- The file in the data directory, and what its owner calls it.
    file text not null unique,
    name text not null,
    bytes integer not null
) strict;

create index attachment_by_comment on attachment (comment_id);

-- Full-text search. Titles and comments are written once, so that inserts are all there is to follow.
create virtual table ticket_search using fts5 (
    title, content = 'ticket', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);

create virtual table comment_search using fts5 (
    text, content = 'comment', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);

create trigger ticket_inserted after insert on ticket begin
    insert into ticket_search (rowid, title) values (new.id, new.title);
end;

create trigger comment_inserted after insert on comment begin
    insert into comment_search (rowid, text) values (new.id, new.text);
end;
