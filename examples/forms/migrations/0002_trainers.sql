create table trainer (
    id integer primary key autoincrement,
    place text not null,
    name text not null,
    retired integer not null default 0
) strict;

insert into trainer (id, place, name, retired) values
    (1, 'In the garden', 'Ann', 0), (2, 'In the garden', 'Bob', 0), (3, 'In the forest', 'Eve', 0), (4, 'In the forest', 'Tom', 1);
