create table account (id integer primary key autoincrement, name text not null) strict;

-- skep: token is scoped by user_id
create table token (id integer primary key autoincrement, user_id integer not null, name text not null) strict;

-- skep: ticket is scoped by account_id
create table ticket (
    id integer primary key autoincrement,
    account_id integer not null references account (id),
    title text not null
) strict;

create view title as select title from ticket;
