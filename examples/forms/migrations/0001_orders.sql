create table placed (
    number integer primary key autoincrement,
    name text not null,
    lines text not null
) strict;
