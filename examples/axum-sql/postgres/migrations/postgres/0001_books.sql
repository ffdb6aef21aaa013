create table book (
    id bigint generated always as identity primary key,
    title text not null unique,
    author text not null,
    copies bigint not null check (copies >= 0)
);
