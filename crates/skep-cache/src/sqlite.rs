//! Entries in a table of an SQLite database: the application's, or one of its own.
//!
//! Survives restarts and `kill -9`, is shared by the processes of one machine, and each step is a transaction. Reads wait
//! for nobody (write-ahead log). For sessions, and whatever must not be lost when memory is short.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::clock::Time;
use crate::driver::{Claim, Driver, Entry, Ready, Record, Removal, Token, Usage, When};
use crate::error::{Error, Result};
use crate::slot::{self, Act, Change, Outcome, Stored};

/// How many writes of one driver lie between two sweeps.
const SWEEP_EVERY: u64 = 256;

/// How many dead entries one sweep removes at most, so that no write waits long for it. More than come between two.
const SWEEP_ROWS: u32 = 1024;

/// The least bound on entries: some are marks and epochs.
const LEAST: u64 = 16;

/// Connections that are kept for the next caller.
const IDLE: usize = 8;

/// Entries in a table of an SQLite database.
///
/// Works without a runtime: each call waits in place for SQLite, some microseconds for a read and for a write what the
/// disk takes, or longer while another process writes. Where that must not delay others, put it `OnPool`.
///
/// ```
/// use skep_cache::Sqlite;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sessions.db");
/// let driver = Sqlite::open(path)?;
/// # let _ = driver;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    table: String,
    statements: Statements,
    busy: Duration,
    /// How many entries there may be; without a bound, `None`.
    most: Option<u64>,
    idle: Mutex<Vec<Connection>>,
    writes: AtomicU64,
    evicted: AtomicU64,
    usage: Mutex<Usage>,
}

/// What is said to the database for each call, with the table's name in it.
#[derive(Debug)]
struct Statements {
    read: String,
    put: String,
    delete: String,
    sweep: String,
    how_many: String,
    evict: String,
}

impl Statements {
    fn new(table: &str) -> Self {
        Self {
            read: format!("select slot from {table} where key = ?"),
            put: format!(
                "insert into {table} (key, slot, ends) values (?1, ?2, ?3)
                 on conflict (key) do update set slot = ?2, ends = ?3"
            ),
            delete: format!("delete from {table} where key = ?"),
            sweep: format!(
                "delete from {table} where rowid in (select rowid from {table} where ends <= ? limit {SWEEP_ROWS})"
            ),
            how_many: format!("select entries from {table}_count"),
            evict: format!(
                "delete from {table} where rowid in
                 (select rowid from {table} where key <> ?1 order by ends limit ?2)"
            ),
        }
    }
}

impl Sqlite {
    /// Entries in the table `skep_cache` of this database. Both are made if they are not there.
    ///
    /// # Errors
    ///
    /// If the file is no database or may not be written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_table(path, "skep_cache")
    }

    /// The same, in a table of another name: letters, digits and `_`.
    ///
    /// # Errors
    ///
    /// As [`Sqlite::open`]; and if the name is no such name.
    ///
    /// See [`Sqlite`] for an example.
    pub fn open_table(path: impl AsRef<Path>, table: &str) -> Result<Self> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if table.is_empty() || !table.bytes().all(is_name) || table.as_bytes()[0].is_ascii_digit() {
            let error = Error::misused("a table's name is letters, digits and `_`, and begins with no digit");
            return Err(error.because(format!("got \"{table}\"")));
        }
        let driver = Self {
            path: path.as_ref().to_owned(),
            table: table.to_owned(),
            statements: Statements::new(table),
            busy: Duration::from_secs(5),
            most: None,
            idle: Mutex::default(),
            writes: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            usage: Mutex::default(),
        };
        let create = format!(
            "create table if not exists {table} (key blob primary key, slot blob not null, ends integer not null);
             create index if not exists {table}_ends on {table} (ends);"
        );
        driver.with(|connection| connection.execute_batch(&create))?;
        driver.count()?;
        Ok(driver)
    }

    /// How long a write waits for another process's, at most (5 s, if nobody says otherwise).
    #[must_use]
    pub fn busy(mut self, limit: Duration) -> Self {
        self.busy = limit;
        // They were opened with another limit.
        lock(&self.idle).clear();
        self
    }

    /// How many entries there may be, at least 16. When there would be more, those go whose end is nearest: of entries with an idle
    /// time, those that nobody used for longest. Without a bound, nothing that lives goes.
    ///
    /// The database counts for itself (triggers on the table), so the bound holds whichever process writes; it is that of the process that
    /// writes. Of more than 1024 that are too many, each write removes so many.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let driver = skep_cache::Sqlite::open(folder.path().join("sessions.db"))?.most(1_000_000)?;
    /// # let _ = driver;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the number is smaller, or the database may not be written.
    pub fn most(mut self, entries: u64) -> Result<Self> {
        if entries < LEAST {
            let error = Error::misused("a table that is bounded holds at least 16 entries");
            return Err(error.because(format!("got {entries}")));
        }
        let table = &self.table;
        let count = format!(
            "create table if not exists {table}_count (entries integer not null);
             insert into {table}_count select (select count(*) from {table}) where not exists (select 1 from {table}_count);
             create trigger if not exists {table}_born after insert on {table}
             begin update {table}_count set entries = entries + 1; end;
             create trigger if not exists {table}_gone after delete on {table}
             begin update {table}_count set entries = entries - 1; end;"
        );
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute_batch(&count)?;
            transaction.commit()
        })?;
        self.most = Some(entries);
        Ok(self)
    }

    /// Gives the caller a connection of its own for the length of the call.
    fn with<T>(&self, call: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        let kept = lock(&self.idle).pop();
        let mut connection = match kept {
            Some(connection) => connection,
            None => self.connect().map_err(|error| self.failed("opening", error))?,
        };
        let result = call(&mut connection).map_err(|error| self.failed("using", error))?;
        let mut idle = lock(&self.idle);
        if idle.len() < IDLE {
            idle.push(connection);
        }
        Ok(result)
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.path)?;
        connection.busy_timeout(self.busy)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        // A cache may lose its last writes when the power fails; with the log it is never damaged by that.
        connection.pragma_update(None, "synchronous", "normal")?;
        connection.set_prepared_statement_cache_capacity(16);
        Ok(connection)
    }

    fn failed(&self, what: &'static str, error: rusqlite::Error) -> Error {
        let what = if what == "opening" { "opening the SQLite database" } else { "using the SQLite database" };
        Error::unreachable(what).because(format!("{}: {error}", self.path.display()))
    }

    /// Reads, decides and writes in one transaction.
    fn act(&self, key: &[u8], act: &Act, now: Time) -> Result<Outcome> {
        let mut decided = Ok(Outcome::Done(false));
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let bytes = self.read(&transaction, key)?.unwrap_or_default();
            match act.apply(&bytes, now) {
                Ok((change, outcome)) => {
                    self.write(&transaction, key, change)?;
                    decided = Ok(outcome);
                }
                Err(error) => decided = Err(error),
            }
            self.sweep(&transaction, now)?;
            transaction.commit()
        })?;
        decided
    }

    fn read(&self, connection: &Connection, key: &[u8]) -> rusqlite::Result<Option<Vec<u8>>> {
        connection.prepare_cached(&self.statements.read)?.query_row([key], |row| row.get(0)).optional()
    }

    fn write(&self, connection: &Connection, key: &[u8], change: Change) -> rusqlite::Result<()> {
        match change {
            Change::Keep => Ok(()),
            Change::Drop => connection.prepare_cached(&self.statements.delete)?.execute([key]).map(drop),
            Change::Put(stored) => {
                let row = (key, stored.to_vec(), column(stored.ends));
                connection.prepare_cached(&self.statements.put)?.execute(row)?;
                self.evict(connection, key)
            }
        }
    }

    /// Makes room if there are too many; what was just written stays.
    fn evict(&self, connection: &Connection, key: &[u8]) -> rusqlite::Result<()> {
        let Some(most) = self.most else { return Ok(()) };
        let entries =
            connection.prepare_cached(&self.statements.how_many)?.query_row([], |row| row.get::<_, i64>(0))?;
        let over = u64::try_from(entries).unwrap_or(0).saturating_sub(most).min(u64::from(SWEEP_ROWS));
        if over == 0 {
            return Ok(());
        }
        let gone = connection.prepare_cached(&self.statements.evict)?.execute((key, over.cast_signed()))?;
        self.evicted.fetch_add(gone as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Now and then removes what is dead.
    fn sweep(&self, connection: &Connection, now: Time) -> rusqlite::Result<()> {
        if !self.writes.fetch_add(1, Ordering::Relaxed).is_multiple_of(SWEEP_EVERY) {
            return Ok(());
        }
        connection.prepare_cached(&self.statements.sweep)?.execute([column(now)]).map(drop)
    }

    /// Removes all dead entries now, and counts the others; drivers that write do the first by themselves, in pieces.
    ///
    /// # Errors
    ///
    /// If the database does not answer.
    ///
    /// See [`Sqlite`] for an example.
    pub fn tidy(&self, now: Time) -> Result<()> {
        let sweep = format!("delete from {} where ends <= ?", self.table);
        self.with(|connection| connection.execute(&sweep, [column(now)]))?;
        self.count()
    }

    fn count(&self) -> Result<()> {
        let count = format!("select count(*), coalesce(sum(length(key) + length(slot)), 0) from {}", self.table);
        let (entries, bytes) = self.with(|connection| {
            connection.query_row(&count, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
        })?;
        *lock(&self.usage) =
            Usage { entries: u64::try_from(entries).ok(), bytes: u64::try_from(bytes).ok(), evicted: Some(0) };
        Ok(())
    }

    fn each_key(&self, prefix: &[u8], now: Time, mut each: impl FnMut(&[u8])) -> Result<()> {
        let select = format!("select key, slot from {} where key >= ? and ends > ? order by key", self.table);
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&select)?;
            let mut rows = statement.query((prefix, column(now)))?;
            while let Some(row) = rows.next()? {
                let key = row.get_ref(0)?.as_blob()?;
                if !key.starts_with(prefix) {
                    break;
                }
                let slot = row.get_ref(1)?.as_blob()?;
                let entry = Entry::parse(&slot[slot::entry_at(slot)..]);
                if entry.is_ok_and(|entry| entry.is_live(now)) {
                    each(key);
                }
            }
            Ok(())
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// SQLite's integers end where "never" is far enough.
fn column(time: Time) -> i64 {
    i64::try_from(time.millis()).unwrap_or(i64::MAX)
}

impl Driver for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        let Some(bytes) = self.with(|connection| self.read(connection, key))? else { return Ok(None) };
        let shown = slot::show(&Bytes::from(bytes), now, read);
        if shown.is_err() {
            self.act(key, &Act::Remove(Removal { version: crate::Version::ZERO, until: now }), now)?;
        }
        shown
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        Ok(self.act(key, &Act::Set(record.clone(), when), now)?.done())
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        Ok(self.act(key, &Act::Remove(removal), now)?.done())
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        Ok(self.act(key, &Act::Lease(claim), now)?.lease())
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.act(key, &Act::Release(token), now).map(drop)
    }

    async fn increment(&self, key: &[u8], by: i64, fresh: &Record, now: Time) -> Result<i64> {
        Ok(self.act(key, &Act::Increment(by, fresh.clone()), now)?.sum())
    }

    async fn touch(&self, key: &[u8], fresh_until: Time, dead_at: Time, now: Time) -> Result<bool> {
        Ok(self.act(key, &Act::Touch { fresh_until, dead_at }, now)?.done())
    }

    /// All in one transaction.
    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (key, record) in entries {
                self.write(&transaction, key, Change::Put(Stored::plain(record)))?;
            }
            self.sweep(&transaction, now)?;
            transaction.commit()
        })
    }

    async fn keys<F>(&self, prefix: &[u8], now: Time, each: F) -> Result<()>
    where
        F: FnMut(&[u8]) + Send,
    {
        self.each_key(prefix, now, each)
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        let mut keys = Vec::new();
        self.each_key(prefix, now, |key| keys.push(key.to_vec()))?;
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for key in &keys {
                self.write(&transaction, key, Change::Drop)?;
            }
            transaction.commit()
        })?;
        // What is dead has gone unseen, and takes room too.
        self.tidy(now)
    }

    /// As of the start or the last [`Sqlite::tidy`]; what this process has [evicted](Sqlite::most) is counted at once.
    fn usage(&self) -> Usage {
        Usage { evicted: Some(self.evicted.load(Ordering::Relaxed)), ..*lock(&self.usage) }
    }
}

impl Ready for Sqlite {}

#[cfg(test)]
mod tests;
