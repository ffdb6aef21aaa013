//! SQLite, built in; and PostgreSQL, with the feature `postgres`.
//!
//! A [`Database`] is one for the process: opened when the application starts, which runs the embedded [`Migrations`].
//! Its verbs are what handlers call. Their futures are `Send`: any thread may poll them, as on tokio's usual runtime,
//! under axum for example. A [`Local`] is one for each thread and has the same verbs, for a server whose requests stay
//! on their thread, such as skep's: it looks for nothing in variables of the thread, and on PostgreSQL each thread has
//! connections of its own.
//!
//! | verb | gives |
//! |---|---|
//! | [`all`](Database::all) | every row |
//! | [`first`](Database::first) | the first row, if there is one |
//! | [`one`](Database::one) | the row, if there is one; two are an error |
//! | [`page`](Database::page) | one page of the rows, and links to others |
//! | [`execute`](Database::execute) | how many rows were changed |
//! | [`stream`](Database::stream) | every row, read as it is sent |
//! | [`transaction`](Database::transaction) | the same verbs, all or nothing |
//! | `listen` | what is said on a channel, of PostgreSQL only |
//!
//! ```
//! use std::sync::Arc;
//! use skep_sql::offload::Inline;
//! use skep_sql::{Database, Migration, Migrations, Result, Row, query};
//!
//! // An application writes `migrations!("migrations")` and puts the text into files, against which `sql!` checks statements.
//! const MIGRATIONS: Migrations = Migrations::new(&[Migration::new(
//!     1,
//!     "0001_posts.sql",
//!     "create table post (slug text primary key, title text not null, body text not null)",
//! )]);
//!
//! #[derive(Row)]
//! struct Post {
//!     title: String,
//!     body: String,
//! }
//!
//! async fn post(db: &Database, slug: &str) -> Result<Option<Post>> {
//!     db.one(query("select title, body from post where slug = ?", slug)).await
//! }
//!
//! async fn publish(db: &Database, slug: &str, title: &str, body: &str) -> Result<()> {
//!     db.execute(query("insert into post (slug, title, body) values (?, ?, ?)", (slug, title, body))).await?;
//!     Ok(())
//! }
//!
//! let db = Database::temporary(&MIGRATIONS, Arc::new(Inline))?;
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! publish(&db, "hello", "Hello", "...").await.unwrap();
//! assert_eq!(post(&db, "hello").await.unwrap().unwrap().title, "Hello");
//! assert!(post(&db, "other").await.unwrap().is_none());
//! # });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing of the SQLite library beneath is part of this interface. A component gets its database from its host,
//! through the same interface but for the opening.
//!
//! [`sql!`], [`derive(Row)`](macro@Row) and [`migrations!`] write paths of this crate. An application of skep has it as
//! `skep::sql`, with macros of the same names that write paths of `skep`: it need not depend on this one.
//!
//! What a commit makes invalid, an [`OnCommit`] hears. `examples/axum-sql` is an application of axum on this crate.
//!
//! Start reading at [`Local`], and at `engine.rs` for what SQLite and PostgreSQL do for it; where a statement of SQLite
//! runs is decided in `sqlite/thread.rs`, by the rules in `sqlite/history.rs`.

mod after_commit;
mod blocking;
mod built_in;
mod changes;
mod checked;
mod database;
#[cfg(feature = "decimal")]
mod decimal;
mod dependencies;
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
mod each;
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
mod either;
mod engine;
mod error;
mod fixed;
mod function;
#[cfg(not(target_family = "wasm"))]
mod guests;
#[cfg(not(target_family = "wasm"))]
mod hosted;
#[cfg(feature = "jiff")]
mod jiff;
pub mod kind;
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
mod listen;
mod local;
mod migrations;
mod moment;
mod noted;
pub mod offload;
#[cfg(not(target_family = "wasm"))]
mod open_error;
#[cfg(not(target_family = "wasm"))]
mod options;
#[cfg(not(target_family = "wasm"))]
mod packed;
mod page;
#[cfg(not(target_family = "wasm"))]
mod pool;
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
mod postgres;
#[doc(hidden)]
pub mod private;
mod query;
#[cfg(target_family = "wasm")]
mod remote;
mod reused;
mod row;
mod savepoint;
mod serializable;
#[cfg(not(target_family = "wasm"))]
mod sqlite;
pub mod status;
mod stream;
mod timing;
mod transaction;
mod value;
mod verbs;
#[doc(hidden)]
pub mod wire;

pub use database::Database;
pub use dependencies::OnCommit;
#[doc(hidden)]
pub use dependencies::{ANY_TABLE, ReadTables};
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
#[doc(hidden)]
pub use noted::refuse_others;

#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use self::sqlite::backup;
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use self::{hosted::Elsewhere, packed::Packed};
#[cfg(not(target_family = "wasm"))]
pub use self::{open_error::OpenError, options::Options};
pub use blocking::Blocking;
pub use changes::Changes;
pub use checked::{BindTo, ByName, Checked, Dialect, Holds, ReadFrom};
#[doc(hidden)]
pub use checked::{array, column, fields_of, list, not_checked_yet, parameter, rows_by_name, rows_of_one, sent};
pub use error::{Error, Result};
#[doc(hidden)]
pub use error::{NO_ROOM, READ_ONLY};
#[doc(hidden)]
pub use function::argument;
pub use function::{Function, FunctionArgument, FunctionResult};
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use inventory as __inventory;
pub use local::Local;
pub use migrations::{Migration, Migrations};
pub use noted::Statement;
#[cfg(not(target_family = "wasm"))]
pub use noted::statements;

#[doc(hidden)]
pub use page::page_size;
pub use page::{Cursor, CursorKey, Page, PageNumber, PageQuery};
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
pub use postgres::{Notification, Notifications};
pub use query::{Parameter, Parameters, Query, Values, query, values};
pub use row::{Cells, Columns, Row};
#[doc = include_str!("checked.md")]
pub use skep_sql_macros::sql;
pub use skep_sql_macros::{Row, migrations};
pub use stream::RowStream;
pub use timing::{StatementObserver, observe_statements};
pub use transaction::Transaction;
pub use value::{Element, FromValue, ToValue, Unfit, Value};
