//! Runs jobs in tests of an application: one after the other, on the test's own thread.
//!
//! ```
//! # use serde::{Deserialize, Serialize};
//! # use skep::prelude::*;
//! # use skep::sql::Migrations;
//! # use skep_jobs::prelude::*;
//! use std::time::Duration;
//! use skep::Setup;
//! use skep::cache::Clock;
//! use skep::test::Client;
//! # #[derive(Serialize, Deserialize)] struct Remind { booking: i64 }
//! # impl Job for Remind {
//! #     const KIND: &'static str = "remind";
//! #     async fn run(self, _cx: &mut JobCx<'_>) -> Result<Outcome> { Ok(Outcome::Done) }
//! # }
//! # #[derive(Service)] #[service(POST "/book")] struct Book;
//! # impl Handle for Book {
//! #     async fn handle(self, cx: &mut Cx<'_>) -> Result {
//! #         cx.later(Remind { booking: 7 }.after(Duration::from_hours(20))).await?;
//! #         Ok(Response::text("booked"))
//! #     }
//! # }
//! # fn app() -> App { App::new().database(Migrations::NONE).serve(services![Book]).jobs(jobs![Remind]) }
//!
//! let mut setup = Setup::default();
//! setup.temporary_database = true;
//! setup.clock = Clock::manual();
//! let clock = setup.clock.clone();
//! let client = Client::with_setup(app(), setup);
//!
//! client.post("/book", &[]);
//! assert!(skep_jobs::test::run_due(&client).is_empty());
//! clock.advance(Duration::from_hours(20));
//! assert_eq!(skep_jobs::test::run_due(&client)[0].kind, "remind");
//! ```

use std::sync::Arc;
use std::thread;

use skep::Site;
use skep::test::Client;
use tokio::runtime::{Builder, LocalOptions};

use crate::step;
use crate::store::{Ended, Fate};

/// An attempt at a job that a test has run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ran {
    /// The number of the job.
    pub id: i64,
    /// Its kind.
    pub kind: String,
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// Why it failed, if it did.
    pub error: Option<String>,
    is_done: bool,
    is_dead: bool,
}

impl Ran {
    /// True if the job is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// True if it is a dead letter.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.is_dead
    }
}

/// Runs the next job that is due by the application's clock. An example is at the [module](self).
///
/// # Panics
/// If the application has no jobs, or its database fails.
#[must_use]
pub fn run_one(client: &Client) -> Option<Ran> {
    let site = Arc::clone(client.site());
    // A test may be on a thread with a runtime.
    let ran = thread::spawn(move || run_next(&site)).join();
    ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs all jobs that are due by the application's clock, and those that they enqueue. An example is at the
/// [module](self).
///
/// # Panics
/// If the application has no jobs, its database fails, or they do not end.
pub fn run_due(client: &Client) -> Vec<Ran> {
    let ran: Vec<Ran> = std::iter::from_fn(|| run_one(client)).take(10_000).collect();
    assert!(ran.len() < 10_000, "10,000 jobs were run, and there are more: does each enqueue another one?");
    ran
}

fn run_next(site: &Arc<Site>) -> Option<Ran> {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let runtime = runtime.expect("a test may have a runtime");
    let ended = runtime.block_on(async { step::run_one(site, &site.local()).await });
    ended.unwrap_or_else(|error| panic!("jobs cannot be run: {error}")).map(Ran::of)
}

impl Ran {
    fn of(Ended { claimed, fate }: Ended) -> Self {
        let (is_done, is_dead) = (matches!(fate, Fate::Done | Fate::Noted), matches!(fate, Fate::Dead(_)));
        let error = match fate {
            Fate::Again { error, .. } => error,
            Fate::Dead(error) => Some(error),
            Fate::Done | Fate::Noted => None,
        };
        let attempt = u32::try_from(claimed.attempt).unwrap_or(u32::MAX);
        Self { id: claimed.id, kind: claimed.kind, attempt, error, is_done, is_dead }
    }
}
