create table user (
    id integer primary key autoincrement,
    name text not null,
    -- Sessions end with it.
    random text not null default (hex(randomblob(16))),
    locked integer not null default 0,
    -- A passkey is asked for after the password.
    two_factors integer not null default 0
) strict;

create table passkey (
    -- What the authenticator calls it.
    id text primary key,
    user integer not null references user (id) on delete cascade,
    name text not null,
    public_key text not null,
    counter integer not null,
    verifies_user integer not null
) strict;

create index passkey_by_user on passkey (user);

create table security_event (id integer primary key autoincrement, kind text not null, account text) strict;

insert into user (id, name) values (1, 'Ada'), (2, 'Eve');
