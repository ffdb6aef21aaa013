create table post (id integer primary key, title text not null unique);
