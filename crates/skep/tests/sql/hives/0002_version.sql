-- What docs/guides/data/database.md adds for optimistic locking.
alter table hive add column version integer not null default 1;
