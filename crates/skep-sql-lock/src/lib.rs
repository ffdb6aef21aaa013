//! Statements for PostgreSQL: their texts, and the lock file in which `skep sql check` notes what PostgreSQL says of
//! them, for `sql!` to read while an application is compiled.
//!
//! Also what migrations for either database say in comments: of scopes, and of functions of the application.
//!
//! Nothing here talks to a database. Compiled into an application are [`text`], [`directive`], [`function`] and
//! [`checksum`].
//!
//! Start reading at [`Lock`].

mod column_type;
mod declared;
pub mod directive;
mod entry;
pub mod function;
mod hash;
mod lock;
mod manifest;
pub mod message;
mod migrations;
pub mod scope;
pub mod text;

pub use column_type::ColumnType;
pub use declared::{Declared, Functions};
pub use directive::{Directive, directives};
pub use entry::{Column, Entry, Kind, Parameter, Tables};
pub use hash::{checksum, hash};
pub use lock::{FILE, Lock, Unknown};
pub use manifest::{Dialect, dialect};
pub use migrations::{FOLDER, Migrations};
pub use scope::{Proof, Reach};
