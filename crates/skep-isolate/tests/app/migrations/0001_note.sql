create table note (id integer primary key, text text not null unique, size real, data blob);
