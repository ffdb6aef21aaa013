//! The numbers and words by which SQLite and PostgreSQL say what went wrong.

#![cfg_attr(
    any(target_family = "wasm", not(feature = "postgres")),
    allow(dead_code, reason = "each engine has its own")
)]

/// SQLite's result codes, as its documentation numbers them (<https://sqlite.org/rescode.html>): a component has no
/// SQLite to ask.
pub(crate) mod codes {
    pub(crate) const ERROR: i32 = 1;
    pub(crate) const BUSY: i32 = 5;
    pub(crate) const LOCKED: i32 = 6;
    pub(crate) const READONLY: i32 = 8;
    pub(crate) const INTERRUPT: i32 = 9;
    pub(crate) const CORRUPT: i32 = 11;
    pub(crate) const FULL: i32 = 13;
    pub(crate) const TOOBIG: i32 = 18;
    /// A text for a column of numbers.
    pub(crate) const MISMATCH: i32 = 20;
    pub(crate) const CONSTRAINT_DATATYPE: i32 = 3091;
    pub(crate) const NOTADB: i32 = 26;
    pub(crate) const CONSTRAINT_CHECK: i32 = 275;
    pub(crate) const CONSTRAINT_FOREIGNKEY: i32 = 787;
    pub(crate) const CONSTRAINT_NOTNULL: i32 = 1299;
    pub(crate) const CONSTRAINT_PRIMARYKEY: i32 = 1555;
    pub(crate) const CONSTRAINT_UNIQUE: i32 = 2067;
    pub(crate) const CONSTRAINT_ROWID: i32 = 2579;
    pub(crate) const IOERR_SHMSIZE: i32 = 4874;
}

/// How SQLite's messages begin where a value is at fault, and the code says nothing.
pub(super) const OF_VALUE: [&str; 6] = [
    "integer overflow",
    "malformed JSON",
    "bad JSON path",
    "LIKE or GLOB pattern too complex",
    "fts5: ",
    "unterminated string",
];

/// PostgreSQL's codes (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
pub(crate) mod states {
    /// The class "data exception".
    pub(crate) const DATA: &str = "22";
    /// "division by zero" and "sequence generator limit exceeded": of this class, and seldom a fault of a value.
    pub(crate) const OF_STATEMENT: [&str; 2] = ["22012", "2200H"];
    /// A limit of PostgreSQL is exceeded, such as that of an entry of an index; or that of how deep a value is nested.
    pub(crate) const LIMITS: [&str; 2] = ["54000", "54001"];
    /// "invalid parameter value"
    pub(crate) const PARAMETER: &str = "22023";
    /// "datatype mismatch"
    pub(crate) const TYPE: &str = "42804";
    /// The class "connection exception".
    pub(crate) const CONNECTION: &str = "08";
    /// There is no connection, or none any more.
    pub(crate) const LOST: &str = "08000";
    /// "transaction resolution unknown"
    pub(crate) const IN_DOUBT: &str = "08007";
    pub(crate) const UNIQUE: &str = "23505";
    pub(crate) const FOREIGN_KEY: &str = "23503";
    pub(crate) const RESTRICT: &str = "23001";
    pub(crate) const NOT_NULL: &str = "23502";
    pub(crate) const CHECK: &str = "23514";
    pub(crate) const READ_ONLY: &str = "25006";
    pub(crate) const DISK_FULL: &str = "53100";
    pub(crate) const CANCELLED: &str = "57014";
    /// Serialization failure, deadlock, too many connections, lock not available; and what was prepared for a table
    /// that was altered since.
    pub(crate) const BUSY: [&str; 5] = ["40001", "40P01", "53300", "55P03", "26000"];
    /// Serialization failure, deadlock, and what was prepared for a table that was altered since.
    pub(crate) const CONFLICT: [&str; 3] = ["40001", "40P01", "26000"];
    /// The server or the backend is ended, or is starting.
    pub(crate) const SHUTDOWN: [&str; 3] = ["57P01", "57P02", "57P03"];
    /// A statement that is not prepared, or for a table that was altered since.
    pub(crate) const STALE: &str = "26000";
}
