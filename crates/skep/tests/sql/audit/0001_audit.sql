create table audit (id integer primary key, text text not null) strict;
