create table user (
    id integer primary key,
    email text unique,
    name text not null
) strict;

-- Who a user is at which provider.
create table identity (
    issuer text not null,
    subject text not null,
    user integer not null references user,
    primary key (issuer, subject)
) strict;
