//! The table of what the sweep has to know, in the application's database: files that a transaction has stored, until
//! their note is gone, and files that one has removed, until they are.

use skep::sql::{self, Query, query};

use crate::key::Key;

pub(crate) const SQLITE: &[&str] =
    &["create table if not exists skep_file (key text primary key, removed integer not null) strict, without rowid"];

pub(crate) const POSTGRES: &[&str] =
    &["create table if not exists skep_file (key text primary key, removed bigint not null)"];

/// A statement of which no page is made.
fn own<'q, T>(text: &'q str, parameters: impl sql::Parameters<'q>) -> Query<'q, T> {
    query(text, parameters).own()
}

pub(crate) fn register(key: &Key) -> Query<'_> {
    own("insert into skep_file (key, removed) values (?, 0)", key.as_str())
}

pub(crate) fn remove(key: &Key) -> Query<'_> {
    own("insert into skep_file (key, removed) values (?, 1) on conflict (key) do update set removed = 1", key.as_str())
}

/// 0 or 1, if it is known.
pub(crate) fn removed(key: &Key) -> Query<'_, i64> {
    own("select removed from skep_file where key = ?", key.as_str())
}

/// Removed files that are read at once.
pub(crate) const AT_ONCE: u32 = 1_000;

/// The next ones, in the order of their keys.
pub(crate) fn removed_after(key: &str) -> Query<'_, String> {
    own("select key from skep_file where removed = 1 and key > ? order by key limit ?", (key, i64::from(AT_ONCE)))
}

/// There is nothing more to be done for it.
pub(crate) fn forget(key: &Key, removed: i64) -> Query<'_> {
    own("delete from skep_file where key = ? and removed = ?", (key.as_str(), removed))
}
