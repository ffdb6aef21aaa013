create table entry (
    id integer primary key autoincrement,
    name text not null,
    text text not null,
    written text not null default current_timestamp
) strict;
