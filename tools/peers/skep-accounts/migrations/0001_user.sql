create table user (id integer primary key autoincrement, name text not null,
    random text not null default (hex(randomblob(16)))) strict;
insert into user (id, name) values (1, 'Anna');
