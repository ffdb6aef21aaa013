//! Load, comparison and records: what every choice costs, side by side.
//!
//! The command is `skep bench`; `docs/guides/run/benchmark.md` says how to measure with it. As a library:
//!
//! | to | see |
//! |---|---|
//! | load a server | [`load::run`], [`load::Plan`] |
//! | start one, and see what it takes | [`server::Started`], [`server::Watched`] |
//! | compare the figures of rounds | [`compare::Rounds`], [`compare::Matrix`], [`compare::Interval`] |
//! | keep them | [`record::Record`], [`record::Environment`] |
//! | run the command | [`run`] |
//! | shuffle | [`random::shuffled`] |
//! | show figures | [`table::Table`] |

mod cli;
mod clock;
pub mod compare;
mod core;
mod interrupt;
pub mod load;
mod number;
pub mod random;
pub mod record;
mod report;
pub mod server;
pub mod table;

pub use cli::run;
