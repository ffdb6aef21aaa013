//! SQLite: its connections, where a statement runs best, and the files.

pub(crate) mod additions;
pub mod backup;
pub(crate) mod connection;
mod engine;
mod failure;
pub(crate) mod functions;
pub(crate) mod history;
pub(crate) mod migrate;
pub(crate) mod open;
mod own_task;
mod packed;
mod pool;
pub(crate) mod shared;
mod stream;
pub(crate) mod thread;
mod transaction;
pub(crate) mod verb;

pub(crate) use self::engine::{File, FileHandle, FileWriter};
pub(crate) use self::stream::Table;
pub(crate) use self::transaction::FileTransaction;
