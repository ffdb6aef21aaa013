create table account (
    id bigint generated always as identity primary key,
    email text not null unique,
    name text not null,
    -- A hash of argon2id.
    password text not null,
    role text not null default 'member' check (role in ('member', 'trainer', 'admin')),
    language text not null,
    -- Of the tz database: Europe/Berlin.
    zone text not null,
    -- Sessions, tokens and links end when it is drawn anew.
    random text not null default gen_random_uuid()::text
);

-- Lets a program act for an account.
-- skep: token is scoped by account_id
create table token (
    id bigint generated always as identity primary key,
    account_id bigint not null unique references account (id) on delete cascade,
    digest text not null unique,
    stamp text not null
);
