create table visit (path text not null) strict;
