//! Statements for PostgreSQL: their texts, and the lock file in which `skep sql check` notes what PostgreSQL says of them, for `sql!` to read
//! while an application is compiled.
//!
//! Nothing here talks to a database, and nothing is compiled into an application but [`text`].
//!
//! Start reading at [`Lock`].

mod entry;
mod hash;
mod lock;
mod manifest;
pub mod message;
mod migrations;
pub mod scope;
pub mod text;

pub use entry::{Column, Entry, Kind, Parameter, Tables};
pub use hash::hash;
pub use lock::{FILE, Lock, Unknown};
pub use manifest::{Dialect, dialect};
pub use migrations::{FOLDER, Migrations, directives};
pub use scope::{Proof, Reach};
