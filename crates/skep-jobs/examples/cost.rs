//! What jobs cost on SQLite, on a server in this process: to enqueue one in a transaction compared with the transaction
//! alone, jobs that do nothing in a second, and the time from a commit to the start of its job.
//!
//! Not measured: several processes, PostgreSQL, a disk that is slow to write. Run:
//! `cargo run --release -p skep-jobs --example cost`.

#![allow(clippy::cast_precision_loss, reason = "figures for people")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use skep::prelude::*;
use skep::sql::{Migration, Migrations, query};
use skep_jobs::prelude::*;

/// Transactions of each kind, and commits whose job is waited for.
const COUNT: u32 = 20_000;
const STARTS: u32 = 2_000;

/// Jobs that do nothing, and those that are enqueued in one transaction.
const JOBS: usize = 200_000;
const BATCH: usize = 1_000;

static DONE: AtomicUsize = AtomicUsize::new(0);
static STARTED: Mutex<Option<Instant>> = Mutex::new(None);

const MIGRATIONS: Migrations = Migrations::new(&[Migration::new(
    1,
    "0001_rows.sql",
    "create table row (id integer primary key, text text not null) strict",
)]);

#[derive(Serialize, Deserialize)]
struct Nothing {
    user: i64,
}

impl Job for Nothing {
    const KIND: &'static str = "nothing";

    async fn run(self, _cx: &mut JobCx<'_>) -> Result<Outcome> {
        DONE.fetch_add(1, Ordering::Relaxed);
        *STARTED.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(Instant::now());
        Ok(Outcome::Done)
    }
}

/// Rows in transactions of their own, half of them with a job: the two kinds take turns.
#[derive(Service)]
#[service(POST "/enqueue")]
struct Enqueue;

impl Handle for Enqueue {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().execute("insert into skep_job_pause values ('default')").await?;
        let mut times = [histogram(), histogram()];
        for round in 0..COUNT {
            for (with_job, times) in [false, true].into_iter().zip(&mut times) {
                let start = Instant::now();
                let work = cx.db().transaction().await?;
                work.execute(query("insert into row (text) values (?)", "a row")).await?;
                if with_job {
                    cx.later_in(&work, Nothing { user: i64::from(round) }).await?;
                }
                work.commit().await?;
                record(times, start.elapsed());
            }
        }
        let [alone, with_job] = times;
        let middle = |times: &Histogram<u64>| times.value_at_quantile(0.5) as f64 / 1000.0;
        let (alone, with_job) = (middle(&alone), middle(&with_job));
        Ok(Response::text(format!(
            "transaction: {alone:.1} us; with a job: {with_job:.1} us; {:.1} us more (medians of {COUNT})",
            with_job - alone
        )))
    }
}

/// Many jobs, which a paused queue keeps until all are there.
#[derive(Service)]
#[service(POST "/many")]
struct Many;

impl Handle for Many {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().execute("delete from skep_job").await?;
        for batch in 0..JOBS / BATCH {
            let db = cx.db().transaction().await?;
            for _ in 0..BATCH {
                cx.later_in(&db, Nothing { user: i64::try_from(batch)? }).await?;
            }
            db.commit().await?;
        }
        DONE.store(0, Ordering::Relaxed);
        cx.db().execute("delete from skep_job_pause").await?;
        let start = Instant::now();
        cx.later(Nothing { user: 0 }).await?;
        while cx.db().one::<i64>("select count(*) from (select 1 from skep_job limit 1)").await? != Some(0) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let (time, done) = (start.elapsed().as_secs_f64(), DONE.load(Ordering::Relaxed));
        Ok(Response::text(format!("{done} jobs in {time:.2} s: {:.0} a second", done as f64 / time)))
    }
}

/// From the end of a commit to the start of the job in it.
#[derive(Service)]
#[service(POST "/starts")]
struct Starts;

impl Handle for Starts {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mut times = histogram();
        for user in 0..STARTS {
            let take = || STARTED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            take();
            let db = cx.db().transaction().await?;
            cx.later_in(&db, Nothing { user: user.into() }).await?;
            let start = Instant::now();
            db.commit().await?;
            let started = loop {
                match take() {
                    Some(started) => break started,
                    None => tokio::time::sleep(Duration::from_millis(1)).await,
                }
            };
            record(&mut times, started.saturating_duration_since(start));
        }
        let at = |quantile| times.value_at_quantile(quantile) as f64 / 1e6;
        Ok(Response::text(format!("commit to start: p50 {:.2} ms, p99 {:.2} ms, of {STARTS}", at(0.5), at(0.99))))
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("a minute, with three digits")
}

fn record(times: &mut Histogram<u64>, time: Duration) {
    times.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

fn post(address: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.rsplit("\r\n\r\n").next().unwrap_or_default().to_owned())
}

fn app() -> App {
    let jobs = jobs![Nothing].queue("default", 200);
    App::new().database(MIGRATIONS).serve(services![Enqueue, Many, Starts]).jobs(jobs)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = tempfile::tempdir()?;
    let arguments = ["--listen", "127.0.0.1:0", "--set", "log.access=false", "--set", "supervise=false", "--data"];
    let arguments = arguments.into_iter().map(Into::into).chain([data.path().as_os_str().to_owned()]);
    let server = skep_server::Server::new(app).arguments(arguments).allow_unmounted_services().start()?;
    let address = server.urls()[0].trim_start_matches("http://").to_owned();
    for path in ["/enqueue", "/many", "/starts"] {
        println!("{}", post(&address, path)?);
    }
    server.stop();
    Ok(())
}
