-- The database of docs/guides/data/database.md.
create table hive (
    id integer primary key,
    name text not null unique,
    frames integer not null
) strict;
