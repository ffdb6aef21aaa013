create table placed (
    number integer primary key,
    name text not null,
    lines text not null
) strict;
