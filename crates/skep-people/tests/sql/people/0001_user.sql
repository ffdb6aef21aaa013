create table user (
    id integer primary key autoincrement,
    email text not null unique,
    password text,
    -- Sessions, links and tokens end with it: an account without a password has nothing else that is random.
    random text not null default (hex(randomblob(16))),
    admin integer not null default 0,
    locked integer not null default 0
) strict;
