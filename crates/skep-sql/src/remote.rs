//! The database of a component, which its host has opened: `wit/skep.wit`, interface `sql`.
//!
//! A call of the host runs one statement and brings all of its rows. To the component it is an ordinary call; the host
//! meanwhile answers other requests. An instance has one transaction at a time, and the host refuses what would wait
//! for it. Start reading at [`Link::run`](link::Link::run).

mod bindings;
mod engine;
mod link;
mod transaction;
pub(crate) mod verb;
mod writer;

pub(crate) use self::engine::{Host, HostHandle, Received};
pub(crate) use self::transaction::HostTransaction;
pub(crate) use self::writer::HostWriter;
