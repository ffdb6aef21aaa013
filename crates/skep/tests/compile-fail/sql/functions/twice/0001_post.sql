-- skep: function slug(text) text
create table post (title text not null) strict;
