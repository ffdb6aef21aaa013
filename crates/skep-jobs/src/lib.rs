//! Jobs: work that is done later, and done even if the process dies meanwhile.
//!
//! A job is a struct, and its value is the job. It is a row of the application's own database, written in the
//! transaction of the request: it exists if and only if the request has succeeded.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use skep::prelude::*;
//! use skep::sql::{Migrations, query};
//! use skep_jobs::prelude::*;
//!
//! /// Greets a new member.
//! #[derive(Serialize, Deserialize)]
//! struct Welcome { user: i64 }
//!
//! impl Job for Welcome {
//!     const KIND: &'static str = "welcome";
//!
//!     async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
//!         let db = cx.transaction().await?; // commits with the job: exactly once
//!         db.execute(query("insert into greeting (user) values (?)", self.user)).await?;
//!         Ok(Outcome::Done)
//!     }
//! }
//!
//! #[derive(Service)]
//! #[service(POST "/members/{user}")]
//! struct Join { user: i64 }
//!
//! impl Handle for Join {
//!     async fn handle(self, cx: &mut Cx<'_>) -> Result {
//!         cx.later(Welcome { user: self.user }).await?;
//!         Ok(Response::text("welcome"))
//!     }
//! }
//!
//! # use skep::sql::Migration;
//! # const MIGRATIONS: Migrations = Migrations::new(&[Migration::new(1, "0001.sql", "create table greeting (user integer)")]);
//! let app = App::new().database(MIGRATIONS).serve(services![Join]).jobs(jobs![Welcome]);
//!
//! let client = skep::test::Client::new(app);
//! client.post("/members/7", &[]);
//! let ran = skep_jobs::test::run_due(&client);
//! assert_eq!(ran.len(), 1);
//! assert!(ran[0].is_done());
//! ```
//!
//! | to | see |
//! |---|---|
//! | write a job | [`Job`], [`JobCx`], [`Outcome`] |
//! | enqueue, cancel | [`Later`], [`Order`] |
//! | have a job run when others have ended | [`Batch`] |
//! | mount jobs, set how many run at once, run them by a clock | [`jobs!`], [`Jobs`], [`JobsApp`] |
//! | send mail that is retried | [`Later::deliver_later`] |
//! | look, retry, cancel, pause | [`JobsApp::jobs_page`], and the task `jobs`: `shop --run jobs` |
//! | run jobs in tests | `test`, with the feature of that name |
//!
//! Start reading at `runner.rs`, which claims jobs and runs them; `store.rs` has all statements.

#![cfg_attr(target_family = "wasm", allow(dead_code, reason = "a component has no runner"))]
#![allow(clippy::missing_panics_doc, reason = "what is missing is a fault in the application, as `Cx::state` says")]

mod act;
mod app;
mod attempt;
mod batch;
mod counts;
#[cfg(feature = "cron")]
mod cron;
mod cx;
#[cfg(not(target_family = "wasm"))]
mod figures;
mod job;
mod jobs;
mod later;
#[cfg(not(target_family = "wasm"))]
mod leases;
mod mail;
mod page;
#[cfg(not(target_family = "wasm"))]
mod runner;
mod schema;
mod step;
mod store;
#[cfg(not(target_family = "wasm"))]
mod task;
#[cfg(all(feature = "test", not(target_family = "wasm")))]
pub mod test;
mod wake;

pub use app::JobsApp;
pub use batch::Batch;
#[cfg(feature = "cron")]
pub use cron::Missed;
pub use cx::JobCx;
pub use job::{Job, Order, Outcome, Priority};
pub use jobs::Jobs;
pub use later::Later;

/// What an application's source usually needs.
pub mod prelude {
    pub use crate::{Job, JobCx, JobsApp, Later, Outcome, jobs};
}

/// The examples of the guide are compiled and run as documentation tests.
#[cfg(all(doctest, feature = "cron", feature = "test"))]
#[doc = include_str!("../../../docs/guides/background/background-work.md")]
struct Pages;
