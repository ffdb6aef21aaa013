-- Counts the changes of agents: who saw another version does not overwrite.
alter table ticket add column version integer not null default 1;
