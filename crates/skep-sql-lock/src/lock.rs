//! The lock file: what is known of all statements of a package that use one folder of migrations.
//!
//! ```text
//! statement 6c62272e07bb014262b821756295c58d
//! | select name, note from hive where frames >= ?
//! parameter integer
//! column text name
//! column text? note
//! unique name
//! reads hive
//! ```
//!
//! The number is the hash of the migrations and of all lines below it: what was made of other migrations, or changed by
//! hand, is stale. Entries are sorted by statement, so that two people who add some rarely meet.

use std::collections::BTreeMap;
use std::fmt;

use crate::entry::Entry;
use crate::hash::hash;

/// The name of the file, in the folder of migrations.
pub const FILE: &str = "sql.lock";

const HEAD: &str = "# Made by `skep sql check`, which asks PostgreSQL. An entry that is changed by hand is stale.\n";
const BEGIN: &str = "statement ";

/// A lock file.
///
/// ```
/// use skep_sql_lock::{Entry, Lock, Reach, Tables, Unknown};
///
/// let entry = Entry {
///     statement: "select 1 as one".to_owned(),
///     parameters: Vec::new(),
///     columns: Vec::new(),
///     reads: Tables::none(),
///     writes: Tables::none(),
///     is_volatile: false,
///     reach: Reach::NoScoped,
/// };
/// let text = Lock::new([entry.clone()], "of the migrations").to_string();
/// let lock = Lock::parse(&text).unwrap();
/// assert_eq!(lock.find("select 1 as one", "of the migrations"), Ok(&entry));
/// assert_eq!(lock.find("select 1 as one", "of others"), Err(Unknown::Stale));
/// assert_eq!(lock.find("select 2 as two", "of the migrations"), Err(Unknown::Missing));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lock {
    /// By statement: its hash, and what is known.
    entries: BTreeMap<String, (String, Entry)>,
}

/// Why nothing is known of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It has no entry.
    Missing,
    /// Its entry was made of other migrations, or changed.
    Stale,
}

impl Lock {
    /// With these entries, made of the migrations with this [hash](crate::Migrations::hash).
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = Entry>, migrations: &str) -> Self {
        let mut lock = Self::default();
        for entry in entries {
            let hash = hash([migrations, &entry.lines()]);
            lock.entries.insert(entry.statement.clone(), (hash, entry));
        }
        lock
    }

    /// Reads a lock file.
    ///
    /// # Errors
    /// The number of a line that no lock file has, and the line.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut lock = Self::default();
        let mut open: Option<(String, Entry)> = None;
        let mut is_first = true;
        for (nth, line) in text.lines().enumerate() {
            let wrong = || (nth + 1, line.to_owned());
            if let Some(hash) = line.strip_prefix(BEGIN) {
                lock.close(open.replace((hash.to_owned(), Entry::empty())));
                is_first = true;
            } else if let Some((_, entry)) = &mut open {
                if !line.is_empty() {
                    entry.read(line, is_first).ok_or_else(wrong)?;
                    is_first = false;
                }
            } else if !line.is_empty() && !line.starts_with('#') {
                return Err(wrong());
            }
        }
        lock.close(open);
        Ok(lock)
    }

    fn close(&mut self, open: Option<(String, Entry)>) {
        if let Some((hash, entry)) = open {
            self.entries.insert(entry.statement.clone(), (hash, entry));
        }
    }

    /// What is known of a statement, if the migrations have this hash.
    ///
    /// # Errors
    /// Nothing is.
    pub fn find(&self, statement: &str, migrations: &str) -> Result<&Entry, Unknown> {
        let (noted, entry) = self.entries.get(statement).ok_or(Unknown::Missing)?;
        if *noted == hash([migrations, &entry.lines()]) { Ok(entry) } else { Err(Unknown::Stale) }
    }

    /// Adds the entries of another, which replace those of the same statements.
    pub fn add(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    /// The hash of a statement's entry, which says whether another file has the same.
    #[must_use]
    pub fn hash_of(&self, statement: &str) -> Option<&str> {
        self.entries.get(statement).map(|(hash, _)| hash.as_str())
    }

    /// The statements.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for (hash, entry) in self.entries.values() {
            write!(f, "\n{BEGIN}{hash}\n{}", entry.lines())?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/lock.rs"]
mod tests;
