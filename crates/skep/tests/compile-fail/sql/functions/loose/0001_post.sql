-- skep: function pick(text) text not deterministic
create table post (title text not null) strict;
create index picked on post (pick(title));
