//! SQLite: its connections, where a statement runs best, and the files.

pub(crate) mod additions;
pub mod backup;
pub(crate) mod connection;
pub(crate) mod functions;
pub(crate) mod history;
pub(crate) mod migrate;
pub(crate) mod open;
pub(crate) mod pool;
pub(crate) mod shared;
mod stream;
pub(crate) mod thread;
mod transaction;

pub(crate) use self::stream::Table;
pub(crate) use self::transaction::Transaction;
