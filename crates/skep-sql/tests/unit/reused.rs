//! Tests of `reused`.

use std::sync::Arc;

use super::*;
use crate::offload::Inline;
use crate::{Migration, Migrations};

const MIGRATIONS: Migrations = Migrations::new(&[Migration::new(
    1,
    "0001_tables.sql",
    r#"create table "user" (id INTEGER primary key, name text) strict;
        create table company (id integer primary key autoincrement);
        create table team (id integer, name text default 'autoincrement', primary key (id)); -- autoincrement
        create table account (number integer primary key /* autoincrement */, password_hash text);
        create table alone (id integer primary key, parent integer references alone);
        create table word (id text primary key);
        create table pair (a integer, b integer, primary key (a, b));
        create table small (id integer primary key) without rowid;
        create table int_key (id int primary key);
        create table slug (id integer primary key, slug text unique);
        create table refers (
            a references "user", b references company (id), c references Team (ID), d references word, e, f,
            g references small, h references int_key, i references slug (slug), foreign key (e, f) references pair
        );"#,
)]);

#[test]
fn only_keys_that_come_again_and_that_something_names_are_found() {
    let database = Database::temporary(&MIGRATIONS, Arc::new(Inline)).unwrap();
    let found = database.reused_keys().unwrap();
    let tables: Vec<_> = found.iter().map(|line| line.split([' ', ':']).nth(1).unwrap()).collect();
    assert_eq!(tables, ["account", "team", "user"]);
}
