create table note (id integer primary key autoincrement, room text not null, text text not null) strict;
create table holder (id integer primary key autoincrement, key text not null) strict;
create table elsewhere (id integer primary key autoincrement, text text not null) strict;
insert into holder (key) values ('ada'), ('bob');
