create table hive (
    id bigint generated always as identity primary key,
    name text not null unique,
    frames integer not null,
    note text,
    since date
);

create table visit (
    id bigint generated always as identity primary key,
    hive bigint not null references hive on delete cascade,
    at timestamptz not null default now(),
    weight double precision,
    healthy boolean not null
);

create view visited as
    select hive.id, hive.name, count(visit.id) as visits, max(visit.at) as last
    from hive left join visit on visit.hive = hive.id group by hive.id;

create table change (what text not null);

create function note_change() returns trigger language plpgsql as $$
begin
    insert into change values (tg_table_name);
    return null;
end $$;

create table apiary (id bigint primary key, place text not null);
create trigger changed after insert or update or delete on apiary for each statement execute function note_change();
