create table post (id integer primary key, title txt) strict;
