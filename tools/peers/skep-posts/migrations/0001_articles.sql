-- The bench brings a database with these tables, and rows in the first.
create table if not exists article (
    id integer primary key, slug text not null, title text not null, summary text not null,
    published text not null, tags text not null) strict;
create table if not exists blank (
    id integer primary key, slug text not null, title text not null, summary text not null,
    published text not null, tags text not null) strict;
