create table account (
    id integer primary key autoincrement,
    email text not null unique,
    -- A hash of argon2id.
    password text not null,
    -- Sessions, remembered devices and links end when it is drawn anew.
    random text not null default (hex(randomblob(16)))
) strict;
