-- skep: function lower(text) text
create table post (title text not null) strict;
