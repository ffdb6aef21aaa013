-- skep: function slug(varchar) text
create table post (title text not null) strict;
