//! The engine that is built in: [`engine`](crate::engine) has the traits of these types.
//!
//! With the feature `postgres` they are enums of SQLite and PostgreSQL, since a program decides which one it is when it
//! opens its database.

#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
pub(crate) use super::either::{Backend, Batches, Handle, OpenTransaction, Writer, verb};
#[cfg(target_family = "wasm")]
pub(crate) use super::remote::{
    Host as Backend, HostHandle as Handle, HostTransaction as OpenTransaction, HostWriter as Writer,
    Received as Batches, verb,
};
#[cfg(not(any(feature = "postgres", target_family = "wasm")))]
pub(crate) use super::sqlite::{
    File as Backend, FileHandle as Handle, FileTransaction as OpenTransaction, FileWriter as Writer, Table as Batches,
    verb,
};
