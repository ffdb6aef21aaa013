create table user (
    id integer primary key autoincrement,
    email text not null unique,
    password text,
    -- Sessions, links and tokens end with it: an account without a password has nothing else that is random.
    random text not null default (hex(randomblob(16))),
    totp text
) strict;

create table recovery_code (
    user integer not null references user,
    hash text not null,
    primary key (user, hash)
) strict;

create table security_event (
    kind text not null,
    account text,
    path text not null
) strict;
