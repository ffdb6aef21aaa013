create table user (
    id integer primary key autoincrement,
    email text not null unique collate nocase,
    name text not null,
    -- A hash of argon2id.
    password text not null,
    role text not null default 'customer' check (role in ('customer', 'agent', 'admin')),
    language text not null default 'en',
    locked integer not null default 0,
    -- Sessions, tokens and links end with it. It is drawn anew when the account is locked.
    stamp text not null default (hex(randomblob(16)))
) strict;

-- What lets a program act for a user. The token itself stands nowhere.
create table token (
    id integer primary key autoincrement,
    user_id integer not null references user (id) on delete cascade,
    name text not null,
    -- Of the token.
    digest text not null unique,
    -- Of the user, when the token was made.
    stamp text not null,
    created text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
) strict;

create index token_by_user on token (user_id);

-- Who changed what. No foreign key: what was done stays on record when its user is gone.
create table audit (
    id integer primary key autoincrement,
    at text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    user text,
    action text not null,
    path text not null
) strict;
