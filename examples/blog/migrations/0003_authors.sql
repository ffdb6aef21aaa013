-- Who may write. Readers have no accounts.
create table author (
    id integer primary key autoincrement,
    email text not null unique collate nocase,
    name text not null,
    -- A hash of argon2id.
    password text not null
) strict;
