-- skep: token is scoped by user_id
create table token (id integer primary key, user_id integer not null, name text not null) strict;
