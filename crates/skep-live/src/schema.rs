//! The tables of messages, and of who is present. Each statement changes nothing if it ran before.
//!
//! A message becomes visible with its number, and never behind one with a higher number that others have seen. On
//! SQLite there is one writer, so numbers are given and committed in one order. On PostgreSQL, a sequence alone would
//! not do: who takes 7 may commit after who takes 8, and a subscriber who has seen 8 would skip 7. So a number is given
//! when the transaction commits (a deferred trigger), under a lock that is held until it has: the same order in which
//! `notify` has transactions commit anyway. Waiting for the oldest running transaction (`pg_current_snapshot`) would
//! need no lock, but one long import would then hold up every message.

/// The channel of PostgreSQL.
pub(crate) const CHANNEL: &str = "skep_topic";

/// For who comes back: the messages of one key.
const KEYS: &str = "create index if not exists skep_topic_key on skep_topic (topic, key, number)";

/// Numbers are never given twice (`autoincrement`): pages remember them.
pub(crate) const SQLITE: &[&str] = &["create table if not exists skep_topic (
    number integer primary key autoincrement, topic text not null, key text not null, at integer not null, payload text not null
) strict", KEYS];

pub(crate) const POSTGRES: &[&str] = &[
    "create table if not exists skep_topic (
    id bigint generated always as identity primary key, number bigint unique, topic text not null, key text not null,
    at bigint not null, payload text not null
)",
    KEYS,
    "create sequence if not exists skep_topic_number",
    "create or replace function skep_topic_number() returns trigger language plpgsql as $$
begin
    perform pg_advisory_xact_lock(8316866951398981635);
    update skep_topic set number = nextval('skep_topic_number') where id = new.id;
    perform pg_notify('skep_topic', '');
    return null;
end $$",
    "do $$
begin
    if not exists (select from pg_trigger where tgname = 'skep_topic_number' and tgrelid = 'skep_topic'::regclass) then
        create constraint trigger skep_topic_number after insert on skep_topic
            deferrable initially deferred for each row execute function skep_topic_number();
    end if;
end $$",
];

const PRESENCE_KEYS: &str = "create index if not exists skep_presence_key on skep_presence (topic, key)";

/// Connections by their processes, and the leases of these.
pub(crate) const PRESENCE_SQLITE: &[&str] = &[
    "create table if not exists skep_presence (
    process text not null, number integer not null, topic text not null, key text not null, id text not null,
    who text not null, at integer not null, primary key (process, number)
) strict, without rowid",
    PRESENCE_KEYS,
    "create table if not exists skep_presence_process (process text primary key, until integer not null) strict, without rowid",
];

pub(crate) const PRESENCE_POSTGRES: &[&str] = &[
    "create table if not exists skep_presence (
    process text not null, number bigint not null, topic text not null, key text not null, id text not null,
    who text not null, at bigint not null, primary key (process, number)
)",
    PRESENCE_KEYS,
    "create table if not exists skep_presence_process (process text primary key, until bigint not null)",
];
