create table city (
    name text not null primary key
) strict;

create table reminder (
    id integer primary key autoincrement,
    address text not null,
    -- As 2026-11-24 21:05:00.
    at text not null
) strict;
