create table user (
    id integer primary key autoincrement,
    email text unique,
    name text not null,
    -- Sessions end with it: an account without a password has nothing else that is random.
    random text not null default (hex(randomblob(16)))
) strict;

-- Who a user is at which provider.
create table identity (
    issuer text not null,
    subject text not null,
    user integer not null references user,
    primary key (issuer, subject)
) strict;
