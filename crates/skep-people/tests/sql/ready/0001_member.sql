create table member (
    id integer primary key autoincrement,
    mail text not null unique,
    name text not null,
    password text,
    language text not null default 'en',
    random text not null default (hex(randomblob(16))),
    locked integer not null default 0
) strict;

-- skep: token is scoped by member_id
create table token (
    digest text primary key,
    member_id integer not null references member (id) on delete cascade,
    stamp text not null
) strict;
