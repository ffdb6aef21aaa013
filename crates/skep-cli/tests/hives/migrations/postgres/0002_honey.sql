create table honey (
    id bigint generated always as identity primary key,
    keeper_id bigint not null,
    jar text not null,
    grams integer not null,
    unique (keeper_id, jar)
);
-- skep: honey is scoped by keeper_id
