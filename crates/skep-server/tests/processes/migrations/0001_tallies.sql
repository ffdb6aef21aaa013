create table first_tally (id integer primary key, value integer not null) strict;
create table second_tally (id integer primary key, value integer not null) strict;
insert into first_tally values (0, 0), (1, 0), (2, 0);
insert into second_tally select * from first_tally;
