create table note (
    id bigint generated always as identity primary key,
    title text not null,
    body text not null,
    written timestamptz not null default now()
);
