create table note (
    id integer primary key autoincrement,
    title text not null,
    body text not null,
    written text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
) strict;
