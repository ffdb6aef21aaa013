//! How a database is opened.

#![cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "what is PostgreSQL's is read with that feature"))]

use std::time::Duration;

use crate::sqlite::functions::Registered;

/// How a database is opened. Every setting has a default that suits a site on one machine. Most are SQLite's; those of
/// PostgreSQL say so.
///
/// ```
/// use std::time::Duration;
/// use skep_sql::Options;
///
/// let options = Options::new().inline_budget(Duration::from_millis(1)).readers(2);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) inline_budget: Duration,
    pub(super) busy_timeout: Duration,
    pub(super) readers: usize,
    pub(super) waiting: usize,
    pub(super) cache_kib: u32,
    pub(super) statements: usize,
    pub(super) read_only: bool,
    pub(super) max_bytes: Option<u64>,
    pub(super) streams: usize,
    pub(super) stream_bytes: u64,
    pub(super) durable: bool,
    pub(super) connections: usize,
    pub(super) transactions: usize,
    pub(super) statement_timeout: Duration,
    pub(super) notifications: usize,
    pub(super) replica: Option<Address>,
    pub(super) replica_lag: Duration,
    /// Statements come from somebody who is not trusted: `guests.rs`.
    pub(super) guests: bool,
    /// Those of the application that statements call:
    /// [`Migrations::with_functions`](super::Migrations::with_functions).
    pub(super) functions: Vec<Registered>,
}

/// An address with a password in it.
#[derive(Clone)]
pub(super) struct Address(pub(super) String);

skep_units::opaque_debug!(Address);

impl Options {
    /// The default of [`connections`](Self::connections).
    pub const CONNECTIONS: usize = 4;
    /// The default of [`transactions`](Self::transactions).
    pub const TRANSACTIONS: usize = 4;
    /// The default of [`statement_timeout`](Self::statement_timeout).
    pub const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);
    /// The default of [`notifications`](Self::notifications).
    pub const NOTIFICATIONS: usize = 64;
    /// The default of [`replica_lag`](Self::replica_lag).
    pub const REPLICA_LAG: Duration = Duration::from_secs(10);

    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            inline_budget: Duration::from_millis(2),
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            waiting: 1024,
            cache_kib: 1024,
            statements: 128,
            read_only: false,
            max_bytes: None,
            streams: 8,
            stream_bytes: 1 << 30,
            durable: true,
            connections: Self::CONNECTIONS,
            transactions: Self::TRANSACTIONS,
            statement_timeout: Self::STATEMENT_TIMEOUT,
            notifications: Self::NOTIFICATIONS,
            replica: None,
            replica_lag: Self::REPLICA_LAG,
            guests: false,
            functions: Vec::new(),
        }
    }

    /// How long a query may run on its handler's own thread before it is stopped and run on the pool instead (2 ms).
    /// Other requests of that thread wait this long at most. With zero, every query runs on the pool.
    #[must_use]
    pub fn inline_budget(mut self, budget: Duration) -> Self {
        self.inline_budget = budget;
        self
    }

    /// How long a write waits for another process's, or for a transaction of its own task (5 s; at most 24 days). Other
    /// handlers of this process queue instead.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout.min(Duration::from_hours(24 * 24));
        self
    }

    /// How many slow queries run at once on the pool (4, at least 1), each on a connection of its own.
    #[must_use]
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers.max(1);
        self
    }

    /// How many handlers may wait for a reader, and how many for the writer (1024). One more is answered 503.
    /// PostgreSQL: how many of a thread may wait for a connection to write on, and how many for a transaction.
    #[must_use]
    pub fn waiting(mut self, waiting: usize) -> Self {
        self.waiting = waiting;
        self
    }

    /// How many KiB of pages each connection may keep in memory (1024). There are one connection for each thread, one
    /// writer, and up to [`readers`](Self::readers) more; memory is taken as pages are read, not before.
    #[must_use]
    pub fn cache_kib(mut self, kib: u32) -> Self {
        self.cache_kib = kib;
        self
    }

    /// How many prepared statements each connection keeps (128); the one unused for longest goes first. A statement
    /// takes some 5 to 20 KB.
    #[must_use]
    pub fn statements(mut self, statements: usize) -> Self {
        self.statements = statements.max(1);
        self
    }

    /// Opens the file for reading only (no). Nothing can be migrated or written then, and a write is answered 503.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// The most bytes that the file may have (no limit): beyond it a write is answered 503, and nothing is lost. One
    /// that is larger already grows no more. The log of writes beside it may have as many again for a while.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// How many results may be streamed at once ([`Local::stream`](super::Local::stream), 8); one more is answered 503.
    /// Each has a connection of its own until its client has all of it.
    #[must_use]
    pub fn streams(mut self, streams: usize) -> Self {
        self.streams = streams;
        self
    }

    /// The most bytes of the temporary file of one streamed result (1 GiB); a larger one is answered 503.
    #[must_use]
    pub fn stream_bytes(mut self, bytes: u64) -> Self {
        self.stream_bytes = bytes;
        self
    }

    /// PostgreSQL: how many connections each thread has for single statements (4, at least 2). They are opened as they
    /// are needed. The reads of all its requests share half of them, rounded up. What may wait for locks, such as a
    /// write, has one of the others for itself.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(2);
        self
    }

    /// PostgreSQL: how many transactions each thread may have open at once (4, at least 1), each on a connection of its
    /// own. More of them wait, for as long as a statement may take.
    #[must_use]
    pub fn transactions(mut self, transactions: usize) -> Self {
        self.transactions = transactions.max(1);
        self
    }

    /// PostgreSQL: how long a statement of a handler may take (30 s). Then PostgreSQL ends it, and the request is a
    /// 503. If PostgreSQL hangs, it is half a second more, and of a write it is not known whether it was done. Zero is
    /// no limit.
    #[must_use]
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout.min(Duration::from_hours(24 * 24));
        self
    }

    /// As long as a statement may take.
    pub(super) fn statement_limit(&self) -> Duration {
        if self.statement_timeout.is_zero() { Duration::MAX } else { self.statement_timeout }
    }

    /// PostgreSQL: how many notifications wait for who listens (64, at least 1; each has 8,000 bytes at most). One
    /// more, and all of them are dropped, and the next one is `Missed`.
    #[must_use]
    pub fn notifications(mut self, notifications: usize) -> Self {
        self.notifications = notifications.max(1);
        self
    }

    /// PostgreSQL: the address of a replica (a hot standby) of the database, for reads by `Cx::replica` of skep (none).
    #[must_use]
    pub fn replica(mut self, address: Option<String>) -> Self {
        self.replica = address.map(Address);
        self
    }

    /// PostgreSQL: how far behind the replica may be (10 s). One that is further behind is not asked.
    #[must_use]
    pub fn replica_lag(mut self, lag: Duration) -> Self {
        self.replica_lag = lag;
        self
    }

    /// How long a browser keeps in a cookie that its user has written: longer than a replica may be behind.
    #[doc(hidden)]
    pub fn written_cookie_age(&self) -> Duration {
        self.replica_lag + Duration::from_mins(1)
    }

    /// Statements come from a component, which its host does not trust.
    #[doc(hidden)]
    #[must_use]
    pub fn for_guests(mut self) -> Self {
        self.guests = true;
        self.replica = None;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
