//! The server under measurement: started and ended, or only watched; what it takes of the machine.
//!
//! Start reading at [`Started::spawn`] and [`Watched::usage`].

mod control;
mod launch;
mod meter;
mod proc;
mod started;

pub use control::{ask, supervisor};
pub use launch::Launch;
pub use meter::Meter;
pub use proc::{Spent, Usage, Watched, busy, lives};
pub use started::{Started, free_port};
