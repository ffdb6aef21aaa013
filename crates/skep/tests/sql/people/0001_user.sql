create table user (
    id integer primary key,
    email text not null unique,
    password text,
    admin integer not null default 0,
    locked integer not null default 0
) strict;
