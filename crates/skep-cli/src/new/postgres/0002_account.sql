create table account (
    id bigint generated always as identity primary key,
    email text not null unique,
    -- A hash of argon2id.
    password text not null,
    -- Sessions, remembered devices and links end when it is drawn anew.
    random uuid not null default gen_random_uuid()
);
