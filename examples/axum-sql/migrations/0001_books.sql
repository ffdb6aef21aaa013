create table book (
    id integer primary key autoincrement,
    title text not null unique,
    author text not null,
    copies integer not null check (copies >= 0)
) strict;
