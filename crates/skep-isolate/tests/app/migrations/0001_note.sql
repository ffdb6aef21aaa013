create table note (id integer primary key, text text not null unique, length text not null default 'short', size real, data blob);
