create table user (
    id integer primary key,
    email text not null unique,
    password text,
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
