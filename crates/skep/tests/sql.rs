//! `skep::sql` on real files, with real threads and real processes. The rule that decides where a statement runs has
//! its own tests beside it.
#![cfg(not(target_family = "wasm"))]

#[path = "sql/checked.rs"]
mod checked;
#[path = "sql/columns.rs"]
mod columns;
#[path = "sql/functions.rs"]
mod functions;
#[path = "sql/hosted.rs"]
mod hosted;
#[path = "sql/litestream.rs"]
mod litestream;
#[path = "sql/load.rs"]
mod load;
#[path = "sql/migrating.rs"]
mod migrating;
#[path = "sql/named.rs"]
mod named;
#[path = "sql/opening.rs"]
mod opening;
#[path = "sql/pages.rs"]
mod pages;
#[path = "sql/rows.rs"]
mod rows;
#[path = "sql/support.rs"]
mod support;
#[path = "sql/transactions.rs"]
mod transactions;
#[path = "sql/trouble.rs"]
mod trouble;
#[path = "sql/wire.rs"]
mod wire;
