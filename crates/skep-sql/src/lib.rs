//! SQLite, built in; and PostgreSQL, with the feature `postgres`.
//!
//! A [`Database`] is one for the process: opened when the application starts, which runs the embedded
//! [`Migrations`]. A [`Local`] is one for each thread: its verbs are what handlers call.
//!
//! | verb | gives |
//! |---|---|
//! | [`all`](Local::all) | every row |
//! | [`first`](Local::first) | the first row, if there is one |
//! | [`one`](Local::one) | the row, if there is one; two are an error |
//! | [`page`](Local::page) | one page of the rows, and links to others |
//! | [`execute`](Local::execute) | how many rows were changed |
//! | [`stream`](Local::stream) | every row, read as it is sent |
//! | [`transaction`](Local::transaction) | the same verbs, all or nothing |
//! | `listen` | what is said on a channel, of PostgreSQL only |
//!
//! ```
//! use std::sync::Arc;
//! use skep::offload::Inline;
//! use skep::sql::{Database, Local, Migration, Migrations, Row, query};
//! use skep::{Or404, Result};
//!
//! // An application writes `skep::sql::migrations!("migrations")` and puts the text into files.
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
//! async fn post(db: &Local, slug: &str) -> Result<Post> {
//!     db.one(query("select title, body from post where slug = ?", slug)).await?.or_404()
//! }
//!
//! async fn publish(db: &Local, slug: &str, title: &str, body: &str) -> Result<()> {
//!     db.execute(query("insert into post (slug, title, body) values (?, ?, ?)", (slug, title, body))).await?;
//!     Ok(())
//! }
//!
//! let database = Database::temporary(&MIGRATIONS, Arc::new(Inline))?;
//! let db = database.local();
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! publish(&db, "hello", "Hello", "...").await.unwrap();
//! assert_eq!(post(&db, "hello").await.unwrap().title, "Hello");
//! assert_eq!(post(&db, "other").await.err().unwrap().status(), 404);
//! # });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing of the SQLite library beneath is part of this interface. A component gets its database from its host, through the same
//! interface but for the opening.
//!
//! [`sql!`], [`derive(Row)`](skep_macros::Row) and [`migrations!`] write paths of `skep`, which re-exports this crate as `skep::sql`: an
//! application that uses them depends on `skep`.
//!
//! Start reading at [`Local`]: where a statement runs is decided there, by the rules in `sqlite/history.rs`.

mod after_commit;
#[cfg(not(target_family = "wasm"))]
mod blocking;
mod changes;
mod checked;
#[cfg(not(target_family = "wasm"))]
mod database;
mod dependencies;
mod error;
mod function;
#[cfg(not(target_family = "wasm"))]
mod guests;
#[cfg(not(target_family = "wasm"))]
mod hosted;
#[cfg(not(target_family = "wasm"))]
mod local;
mod migrations;
mod named;
mod noted;
pub mod offload;
#[cfg(not(target_family = "wasm"))]
mod open_error;
#[cfg(not(target_family = "wasm"))]
mod options;
mod page;
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
mod postgres;
#[doc(hidden)]
pub mod private;
mod query;
#[cfg(target_family = "wasm")]
mod remote;
#[cfg(not(target_family = "wasm"))]
mod reused;
mod row;
mod savepoint;
mod serializable;
#[cfg(not(target_family = "wasm"))]
mod sqlite;
pub mod status;
mod stream;
mod timing;
#[cfg(not(target_family = "wasm"))]
mod transaction;
mod value;
#[cfg(not(target_family = "wasm"))]
mod verb;
mod verbs;
#[doc(hidden)]
pub mod wire;

#[doc(hidden)]
pub use dependencies::{ANY_TABLE, OnCommit, ReadTables};
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
#[doc(hidden)]
pub use noted::refuse_others;

#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use self::hosted::{Elsewhere, Packed};
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use self::sqlite::backup;
#[cfg(not(target_family = "wasm"))]
pub use self::{
    blocking::Blocking, database::Database, local::Local, open_error::OpenError, options::Options,
    transaction::Transaction,
};
pub use changes::Changes;
pub use checked::{
    Any, Array, BindTo, Blob, ByName, Checked, Decimal, Dialect, Holds, Integer, NotNull, Nullable, ReadFrom, Real,
    Text,
};
#[doc(hidden)]
pub use checked::{array, column, list, not_checked_yet, parameter, rows_by_name, rows_of_one};
pub use error::{Error, Result};
#[doc(hidden)]
pub use error::{NO_ROOM, READ_ONLY};
#[doc(hidden)]
pub use function::argument;
pub use function::{Function, FunctionArgument, FunctionResult};
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use inventory as __inventory;
pub use migrations::{Migration, Migrations};
pub use named::NamedDatabase;
pub use noted::Statement;
#[cfg(not(target_family = "wasm"))]
pub use noted::statements;

#[doc(hidden)]
pub use page::page_size;
pub use page::{Cursor, CursorKey, Page, PageNumber, PageQuery};
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
pub use postgres::{Notification, Notifications};
pub use query::{Parameter, Parameters, Query, Values, query, values};
#[cfg(target_family = "wasm")]
pub use remote::{Blocking, Database, Local, Transaction};
pub use row::{Cells, Columns, Row};
pub use skep_macros::{Row, migrations};
#[doc = include_str!("checked.md")]
pub use skep_sql_macros::sql;
pub use stream::RowStream;
pub use timing::{StatementObserver, observe_statements};
pub use value::{Element, FromValue, ToValue, Unfit, Value};
