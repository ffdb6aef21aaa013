-- What is text in every database: a moment with its time zone, a span, a time zone.
create table meeting (
    id integer primary key,
    starts text not null,
    takes text not null,
    zone text
) strict;
