//! Entries in a table of an SQLite database: the application's, or one of its own.
//!
//! Survives restarts and `kill -9`, and is shared by the processes of one machine. Each operation is a transaction;
//! reads do not block (write-ahead log). For sessions, and other data that must not be evicted.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior};
use skep_units::lock;

use crate::clock::Time;
use crate::driver::{Driver, Entry, EpochWrites, Ready, Record, Removal, Stamp, Usage, When};
use crate::error::{Error, Result};
use crate::file_id::FileId;
use crate::slot::{self, Change, Operation, Outcome, Stored, operations};

const SWEEP_EVERY: u64 = 256;

/// Dead entries that one sweep removes at most, so that no write takes long. More than arrive between two.
const SWEEP_ROWS: u32 = 1024;
/// Entries evicted at a time until the bytes are within their limit.
const EVICT_ROWS: u32 = 16;

/// The minimum limit of entries: some are tombstones and epochs.
const LEAST: u64 = 16;

/// Idle connections to keep open.
const IDLE: usize = 8;

/// Entries in a table of an SQLite database.
///
/// Needs no runtime: each call blocks, for some microseconds to read, and to write as long as the disk takes, or while
/// another process writes. If that must not delay other tasks, wrap it in a `BlockingPool`.
///
/// ```
/// use skep_cache::Sqlite;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sessions.db");
/// let driver = Sqlite::open(path)?.max_entries(1_000_000)?;
/// # let _ = driver;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    /// Known once it is open.
    file: Option<FileId>,
    table: String,
    statements: Statements,
    busy: Duration,
    limits: Limits,
    idle: Mutex<Vec<Connection>>,
    writes: AtomicU64,
    evicted: AtomicU64,
    usage: Mutex<Usage>,
    epochs: EpochWrites,
}

/// How much the table may hold.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    entries: Option<u64>,
    /// Of keys and values.
    bytes: Option<u64>,
}

/// SQL with the name of the table.
#[derive(Debug)]
struct Statements {
    read: String,
    put: String,
    delete: String,
    sweep: String,
    size: String,
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
            size: format!("select entries, bytes from {table}_size"),
            evict: format!(
                "delete from {table} where rowid in
                 (select rowid from {table} where key <> ?1 order by ends limit ?2)"
            ),
        }
    }
}

impl Sqlite {
    /// Opens the table `skep_cache` of this database. Creates both if they do not exist.
    ///
    /// # Errors
    ///
    /// If the file is not a database or cannot be written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_table(path, "skep_cache")
    }

    /// Opens a table of another name: letters, digits and `_`.
    ///
    /// # Errors
    ///
    /// As [`Sqlite::open`], or if the name is invalid.
    ///
    /// See [`Sqlite`] for an example.
    pub fn open_table(path: impl AsRef<Path>, table: &str) -> Result<Self> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if table.is_empty() || !table.bytes().all(is_name) || table.as_bytes()[0].is_ascii_digit() {
            let error =
                Error::misused("invalid table name: expected letters, digits and `_`, not starting with a digit");
            return Err(error.because(format!("got \"{table}\"")));
        }
        let mut driver = Self {
            path: path.as_ref().to_owned(),
            file: None,
            table: table.to_owned(),
            statements: Statements::new(table),
            busy: Duration::from_secs(5),
            limits: Limits::default(),
            idle: Mutex::default(),
            writes: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            usage: Mutex::default(),
            epochs: EpochWrites::default(),
        };
        let create = format!(
            "create table if not exists {table} (key blob primary key, slot blob not null, ends integer not null);
             create index if not exists {table}_ends on {table} (ends);"
        );
        driver.with(|connection| connection.execute_batch(&create))?;
        driver.count()?;
        driver.file = FileId::of(&driver.path).ok();
        Ok(driver)
    }

    /// How long a write waits for a write of another process. Default: 5 s.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy = timeout;
        // Idle connections have the previous timeout.
        lock(&self.idle).clear();
        self
    }

    /// Limits the number of entries, at least 16. Beyond the limit, entries that expire first are evicted: with an idle
    /// time, the least recently used. Default: no limit, and no live entry is evicted.
    ///
    /// Triggers on the table count, so the limit of the writing process holds for the entries of all. Each write evicts
    /// at most 1024 entries.
    ///
    /// See [`Sqlite`] for an example.
    ///
    /// # Errors
    ///
    /// If the number is smaller, or the database cannot be written.
    pub fn max_entries(mut self, entries: u64) -> Result<Self> {
        if entries < LEAST {
            let error = Error::misused("max_entries must be at least 16");
            return Err(error.because(format!("got {entries}")));
        }
        self.limits.entries = Some(entries);
        self.measure()
    }

    /// Limits the bytes of keys and values, as [`max_entries`](Self::max_entries) does the entries. The file is larger,
    /// by a third or so. Default: no limit.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("sessions.db");
    /// let driver = skep_cache::Sqlite::open(path)?.max_bytes(1 << 30)?;
    /// # let _ = driver;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the database cannot be written.
    pub fn max_bytes(mut self, bytes: u64) -> Result<Self> {
        self.limits.bytes = Some(bytes);
        self.measure()
    }

    /// Lets the database keep account of what the table holds.
    fn measure(self) -> Result<Self> {
        let table = &self.table;
        let size = format!(
            "create table if not exists {table}_size (entries integer not null, bytes integer not null);
             insert into {table}_size select count(*), coalesce(sum(length(key) + length(slot)), 0) from {table}
             where not exists (select 1 from {table}_size);
             create trigger if not exists {table}_added after insert on {table} begin
             update {table}_size set entries = entries + 1, bytes = bytes + length(new.key) + length(new.slot); end;
             create trigger if not exists {table}_changed after update of slot on {table} begin
             update {table}_size set bytes = bytes + length(new.slot) - length(old.slot); end;
             create trigger if not exists {table}_removed after delete on {table} begin
             update {table}_size set entries = entries - 1, bytes = bytes - length(old.key) - length(old.slot); end;"
        );
        self.transact(|transaction| transaction.execute_batch(&size))?;
        Ok(self)
    }

    fn with<T>(&self, call: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        let idle = lock(&self.idle).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.connect().map_err(|error| self.failed("opening the SQLite database", error))?,
        };
        let result = call(&mut connection).map_err(|error| self.failed("using the SQLite database", error))?;
        let mut idle = lock(&self.idle);
        if idle.len() < IDLE {
            idle.push(connection);
        }
        Ok(result)
    }

    /// Runs a call in a transaction that may write.
    fn transact<T>(&self, call: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        if self.file.is_some_and(|file| !file.is_still(&self.path)) {
            let why = format!("{} was removed or replaced while it was open", self.path.display());
            return Err(Error::unreachable("writing to the SQLite database").because(why));
        }
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = call(&transaction)?;
            transaction.commit().map(|()| result)
        })
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.path)?;
        connection.busy_timeout(self.busy)?;
        self.write_ahead(&connection)?;
        // After a power failure the last writes may be lost; with the log, the database is never damaged.
        connection.pragma_update(None, "synchronous", "normal")?;
        connection.set_prepared_statement_cache_capacity(16);
        Ok(connection)
    }

    /// Where others open the file for the first time, too, SQLite says at once that it is busy, whatever the timeout.
    fn write_ahead(&self, connection: &Connection) -> rusqlite::Result<()> {
        let begun = Instant::now();
        loop {
            match connection.pragma_update(None, "journal_mode", "wal") {
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && begun.elapsed() < self.busy =>
                {
                    std::thread::sleep(Duration::from_millis(2));
                }
                result => return result,
            }
        }
    }

    fn failed(&self, what: &'static str, error: rusqlite::Error) -> Error {
        Error::unreachable(what).because(format!("{}: {error}", self.path.display()))
    }

    fn apply(&self, key: &[u8], operation: Operation, now: Time) -> Result<Outcome> {
        self.transact(|transaction| {
            let bytes = self.read(transaction, key)?.unwrap_or_default();
            let outcome = match operation.apply(&bytes, now) {
                Ok((change, outcome)) => self.write(transaction, key, change).map(|()| Ok(outcome))?,
                Err(error) => Err(error),
            };
            self.sweep(transaction, now).map(|()| outcome)
        })?
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

    /// Evicts entries beyond the limits, except the one just written.
    fn evict(&self, connection: &Connection, key: &[u8]) -> rusqlite::Result<()> {
        let Limits { entries, bytes } = self.limits;
        if entries.is_none() && bytes.is_none() {
            return Ok(());
        }
        let mut left = SWEEP_ROWS;
        while left > 0 {
            let mut size = connection.prepare_cached(&self.statements.size)?;
            let (has_entries, has_bytes): (i64, i64) = size.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let over = |has: i64, most: Option<u64>| most.map_or(0, |most| has.cast_unsigned().saturating_sub(most));
            let rows = match (over(has_entries, entries), over(has_bytes, bytes)) {
                (0, 0) => break,
                (0, _) => EVICT_ROWS,
                (over, _) => u32::try_from(over).unwrap_or(SWEEP_ROWS),
            };
            let gone = connection.prepare_cached(&self.statements.evict)?.execute((key, rows.min(left)))?;
            self.evicted.fetch_add(gone as u64, Ordering::Relaxed);
            if gone == 0 {
                break;
            }
            left = left.saturating_sub(rows);
        }
        Ok(())
    }

    fn sweep(&self, connection: &Connection, now: Time) -> rusqlite::Result<()> {
        if !self.writes.fetch_add(1, Ordering::Relaxed).is_multiple_of(SWEEP_EVERY) {
            return Ok(());
        }
        connection.prepare_cached(&self.statements.sweep)?.execute([column(now)]).map(drop)
    }

    /// Removes all dead entries and counts the others. Writes also remove dead entries, in pieces.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
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

/// SQLite's integers are signed.
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
            self.apply(key, Operation::Remove(Removal { version: crate::Version::ZERO, until: now }), now)?;
        }
        shown
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let _write = self.epochs.during(record, when);
        Ok(self.apply(key, Operation::Set(record.clone(), when), now)?.done())
    }

    operations!(apply);

    /// All in one transaction.
    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        self.transact(|transaction| {
            for (key, record) in entries {
                self.write(transaction, key, Change::Put(Stored::plain(record)))?;
            }
            self.sweep(transaction, now)
        })
    }

    async fn keys<F: FnMut(&[u8]) + Send>(&self, prefix: &[u8], now: Time, each: F) -> Result<()> {
        self.each_key(prefix, now, each)
    }

    async fn clear(&self, prefix: &[u8], now: Time) -> Result<()> {
        let mut keys = Vec::new();
        self.each_key(prefix, now, |key| keys.push(key.to_vec()))?;
        self.transact(|transaction| keys.iter().try_for_each(|key| self.write(transaction, key, Change::Drop)))?;
        // Dead entries were not listed.
        self.tidy(now)
    }

    fn generation(&self) -> Stamp {
        self.epochs.stamp()
    }

    /// As of the start or the last [`Sqlite::tidy`]; evictions by this process are counted at once.
    fn usage(&self) -> Usage {
        Usage { evicted: Some(self.evicted.load(Ordering::Relaxed)), ..*lock(&self.usage) }
    }
}

impl Ready for Sqlite {}
