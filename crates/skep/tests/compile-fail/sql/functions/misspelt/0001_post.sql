create table post (title text not null) strict;

-- skep: function slug(text)
