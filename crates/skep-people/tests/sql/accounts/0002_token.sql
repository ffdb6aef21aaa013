create table token (
    digest text primary key,
    user integer not null references user on delete cascade,
    stamp text not null
) strict;
