//! Which tables statements read and write, so that what was made of them can be invalidated.
//!
//! A page notes what it reads in [`ReadTables`]; a committed write calls the [`OnCommit`] of the database. Both know a
//! statement by what `sql!` found out when the program was compiled.

use std::sync::{Arc, Mutex};

use skep_units::lock;

use super::checked::{Checked, Dialect};
use super::query::Query;

/// Stands for all tables: what a statement from a text may have written, or read from PostgreSQL. A page has this tag
/// if it read anything.
pub const ANY_TABLE: &str = "*";

/// Stands for tables that are not known: read by a statement from a text on PostgreSQL, and changed by every write
/// there.
const SOME_TABLE: &str = "?";

/// Who invalidates what was made of tables, such as pages in a cache: `Database::on_commit`.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use skep_sql::OnCommit;
///
/// /// Grows with each commit that may have changed the table `post`: what was made of an earlier number is stale.
/// struct PostsVersion(Arc<AtomicU64>);
///
/// impl OnCommit for PostsVersion {
///     fn tables_changed(&self, tables: &[&'static str]) {
///         if tables.iter().any(|table| ["post", "*", "?"].contains(table)) {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
/// ```
pub trait OnCommit: Send + Sync {
    /// A transaction that has written these is committed. `*` stands for any table: it was a statement from a text
    /// ([`query`](crate::query)); `?` comes with each write on PostgreSQL, where a function may have written more.
    ///
    /// It is called on the thread that commits, before the one who wrote hears that it is done. Of PostgreSQL that is a
    /// thread of the runtime.
    fn tables_changed(&self, tables: &[&'static str]);

    /// Whether that waits for a disk or a network: then it is called on the pool (no).
    fn blocks(&self) -> bool {
        false
    }
}

/// The tables that the statements of a page read.
#[derive(Clone, Debug, Default)]
pub struct ReadTables(Arc<Mutex<Vec<&'static str>>>);

impl ReadTables {
    /// Notes what a statement reads. On PostgreSQL, one from a text may read any table; on SQLite those are not noted,
    /// since `sql!` is there for pages.
    pub(super) fn note<T>(&self, dialect: Dialect, query: &Query<'_, T>) {
        let reads = query.checked().map(Checked::reads);
        let may_read_any = || reads.is_none_or(|reads| names(reads).any(|table| table == ANY_TABLE));
        if dialect == Dialect::Postgres && may_read_any() {
            add(&mut lock(&self.0), [ANY_TABLE, SOME_TABLE]);
        } else if let Some(reads) = reads {
            add(&mut lock(&self.0), names(reads));
        }
    }

    /// Notes that any table may have been read.
    #[doc(hidden)]
    pub fn note_any(&self) {
        add(&mut lock(&self.0), [ANY_TABLE]);
    }

    /// Each once.
    #[doc(hidden)]
    pub fn names(&self) -> Vec<&'static str> {
        lock(&self.0).clone()
    }
}

/// The tables that a statement writes if it changes anything.
#[derive(Clone, Copy)]
pub(super) enum Writes {
    Nothing,
    Known(&'static Checked),
    /// Of a statement from a text.
    Anything,
}

impl Writes {
    pub(super) fn of<T>(query: &Query<'_, T>) -> Self {
        match query.checked() {
            Some(checked) if checked.writes().is_empty() => Self::Nothing,
            Some(checked) => Self::Known(checked),
            None if query.is_own() => Self::Nothing,
            None => Self::Anything,
        }
    }

    pub(super) fn tables(self) -> Vec<&'static str> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Known(checked) if checked.dialect() == Dialect::Postgres => {
                names(checked.writes()).chain([SOME_TABLE]).collect()
            }
            Self::Known(checked) => names(checked.writes()).collect(),
            Self::Anything => vec![ANY_TABLE],
        }
    }
}

/// Adds those that are not there yet.
pub(super) fn add(tables: &mut Vec<&'static str>, more: impl IntoIterator<Item = &'static str>) {
    for table in more {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
}

/// The tables of what [`Checked`](super::Checked) lists by table and column, in order.
fn names(columns: &'static [(&'static str, &'static str)]) -> impl Iterator<Item = &'static str> {
    let is_first = |nth: &usize| *nth == 0 || columns[nth - 1].0 != columns[*nth].0;
    (0..columns.len()).filter(is_first).map(|nth| columns[nth].0)
}
