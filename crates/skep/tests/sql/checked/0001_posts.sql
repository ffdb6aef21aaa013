-- What the tests and examples of `sql!` are checked against.
create table author (
    id integer primary key,
    name text not null unique,
    -- Not everybody says.
    born integer
) strict;

create table post (
    id integer primary key,
    author integer references author (id) on delete cascade,
    slug text not null unique,
    title text not null,
    body text,
    rating real not null default 0,
    seen integer not null default 0,
    picture blob
) strict;

create table tag (
    post integer not null references post (id) on delete cascade,
    name text not null,
    primary key (post, name)
) strict, without rowid;

create table change (what text not null) strict;

create trigger post_changed after update of title on post begin
    insert into change (what) values (new.title);
end;
