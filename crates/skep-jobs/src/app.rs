//! Jobs of an application, mounted in one line.

use std::sync::Arc;

use skep::guard::Guard;
use skep::sql::{self, Blocking, Dialect, query};
use skep::{App, Error, Result, Site};

use crate::jobs::Jobs;
use crate::page::Page;
use crate::schema::{self, VERSION};
#[cfg(not(target_family = "wasm"))]
use crate::task;

/// Gives an application jobs.
pub trait JobsApp {
    /// Mounts jobs: their tables, and what runs them, in the one process of the machine that also runs [`App::every`].
    /// The application needs a database ([`App::database`]). An example is at the [crate](crate).
    ///
    /// It also adds a [task](App::task), `jobs`, which lists queues and dead letters and does what the
    /// [page](Self::jobs_page) does; and to the status and the metrics of the server, for each queue, how many jobs
    /// wait, run and are dead letters, for how many seconds one is late, and how many attempts were done and have
    /// failed since the process began. The first four are of the whole database: of several machines, each reports the
    /// same, so their numbers are not to be added. The application has no other task named `jobs`.
    #[must_use]
    fn jobs(self, jobs: Jobs) -> Self;

    /// Mounts a page of all jobs, on which they can be retried and cancelled and queues be paused, behind a guard:
    ///
    /// ```
    /// # use skep::guard::Guard;
    /// # use skep::prelude::*;
    /// # use skep::sql::Migrations;
    /// use skep_jobs::prelude::*;
    ///
    /// # struct Admin;
    /// # impl Guard for Admin { async fn check(_cx: &mut Cx<'_>) -> Result<Self> { Err(Error::forbidden("admins only")) } }
    /// let app = App::new().database(Migrations::NONE).jobs(jobs![]).jobs_page::<Admin>("/-/jobs");
    /// assert_eq!(skep::test::Client::new(app).get("/-/jobs").status(), 403);
    /// ```
    #[must_use]
    fn jobs_page<G: Guard>(self, prefix: &str) -> Self;
}

impl JobsApp for App {
    fn jobs(self, jobs: Jobs) -> Self {
        let app = self.tables(schema::SQLITE, schema::POSTGRES).state(jobs).on_start(start);
        // The host of a component has neither.
        #[cfg(not(target_family = "wasm"))]
        let app = app.task(task::NAME, task::ABOUT, task::run).on_status(|site| {
            let jobs = site.state::<Jobs>();
            jobs.figures.status(&jobs.queues())
        });
        app.background("jobs", |background| run(background.site, background.grace))
    }

    fn jobs_page<G: Guard>(self, prefix: &str) -> Self {
        self.mount(prefix, Page::new(prefix)).guard::<G>(prefix)
    }
}

fn start(site: &Site) -> Result<()> {
    let jobs = site.state::<Jobs>();
    let problems = jobs.problems();
    if !problems.is_empty() {
        return Err(Error::internal(problems.join("\n")));
    }
    let (found, oldest) = site.db().write(|db| db.transaction(|db| bring_up_to_date(db, site.db().dialect())))?;
    if oldest > VERSION {
        return Err(Error::internal(format!(
            "the tables of jobs have version {found}, and this program knows {VERSION}: start one that knows {oldest}"
        )));
    }
    jobs.open(site);
    Ok(())
}

/// Gives the version of the tables, and the oldest one whose programs can use them: a start that fails later, and a
/// machine that has the program before, leave jobs running. Of several processes that start, one changes them.
fn bring_up_to_date(db: &mut Blocking<'_>, dialect: Dialect) -> sql::Result<(i64, i64)> {
    if db.execute(query("update skep_job_schema set version = 2 where version = 1", ()).own())?.rows > 0 {
        let statements = match dialect {
            Dialect::Sqlite => schema::SECOND_SQLITE,
            Dialect::Postgres => schema::SECOND_POSTGRES,
        };
        for statement in statements {
            db.execute(query(statement, ()).own())?;
        }
    }
    Ok(db.one::<(i64, i64)>("select version, oldest from skep_job_schema")?.unwrap_or_default())
}

#[cfg(not(target_family = "wasm"))]
fn run(site: &Arc<Site>, grace: std::time::Duration) -> Result<()> {
    crate::runner::run(site, grace)
}

/// A component has no thread of its own for jobs: each second, those that are due are run, one after the other.
#[cfg(target_family = "wasm")]
fn run(site: &Arc<Site>, _grace: std::time::Duration) -> Result<()> {
    crate::step::run_due(site)
}
