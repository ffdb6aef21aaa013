//! `skep::sql` on real files, with real threads and real processes. The rule that decides where a statement runs has
//! its own tests beside it.
#![cfg(not(target_family = "wasm"))]

mod checked;
mod columns;
mod functions;
mod hosted;
mod litestream;
mod load;
mod migrating;
mod named;
mod opening;
mod pages;
mod request;
mod rows;
mod support;
mod transactions;
mod trouble;
mod wire;
