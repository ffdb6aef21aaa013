create table user (id integer primary key, name text not null) strict;
insert into user (id, name) values (1, 'Anna');
