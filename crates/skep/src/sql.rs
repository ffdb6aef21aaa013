//! SQLite, built in.
//!
//! A [`Database`] is one for the process: opened when the application starts, which runs the embedded
//! [`Migrations`]. A [`Local`] is one for each thread: its verbs are what handlers call.
//!
//! | verb | gives |
//! |---|---|
//! | [`all`](Local::all) | every row |
//! | [`first`](Local::first) | the first row, if there is one |
//! | [`one`](Local::one) | the row, if there is one; two are an error |
//! | [`execute`](Local::execute) | how many rows were changed |
//! | [`transaction`](Local::transaction) | the same verbs, all or nothing |
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
//! # futures_of_doc::run(async {
//! publish(&db, "hello", "Hello", "...").await.unwrap();
//! assert_eq!(post(&db, "hello").await.unwrap().title, "Hello");
//! assert_eq!(post(&db, "other").await.err().unwrap().status(), 404);
//! # });
//! # mod futures_of_doc {
//! #     pub fn run(future: impl Future<Output = ()>) {
//! #         let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
//! #         assert!(std::pin::pin!(future).poll(&mut cx).is_ready());
//! #     }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing of the SQLite library beneath is part of this interface. The module is not there in a WebAssembly build: a
//! component gets its database from its host.
//!
//! Start reading at [`Local`]: where a statement runs is decided there, by the rules in `sql/history.rs`.

mod additions;
mod blocking;
mod connection;
mod database;
mod error;
mod forms;
mod history;
mod local;
mod migrations;
mod open;
mod options;
mod pool;
mod query;
mod row;
mod transaction;
mod value;

pub use blocking::Blocking;
pub use connection::Changes;
pub use database::Database;
pub use error::{Error, Result};
pub use local::Local;
pub use migrations::{Migration, Migrations};
pub use open::OpenError;
pub use options::Options;
pub use query::{Parameter, Parameters, Query, Values, query, values};
pub use row::{Cells, Columns, Row};
pub use skep_macros::{Row, migrations};
pub use transaction::Transaction;
pub use value::{FromValue, ToValue, Unfit, Value};
