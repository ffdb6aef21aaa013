//! The task `jobs`: what the [page](crate::JobsApp::jobs_page) shows and does, from a shell.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use skep::sql::{self, query};
use skep::{Error, Result, Site};
use skep_units::escape_unprintable;
use tokio::runtime::{Builder, LocalOptions};

use crate::act::Act;
use crate::counts::{Queue, batches, count, queues};
use crate::jobs::Jobs;
use crate::schema::DEAD;

/// What it is called, and what stands in the list of tasks.
pub(crate) const NAME: &str = "jobs";
pub(crate) const ABOUT: &str =
    "list queues, batches and dead letters; or retry ID|dead, cancel ID, pause QUEUE, resume QUEUE";

/// Dead letters that are listed, the newest, and batches, the oldest.
const MOST: i64 = 50;

type Dead = (i64, String, String, i64, Option<String>);

pub(crate) fn run(site: &Site, words: &[String]) -> Result<()> {
    let text = match words {
        [] => list(site)?,
        [act, of] => change(site, act, of)?,
        _ => return Err(Error::internal(format!("jobs: {ABOUT}"))),
    };
    match io::stdout().write_all(text.as_bytes()) {
        // Who reads has seen enough: `| head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

fn change(site: &Site, act: &str, of: &str) -> Result<String> {
    let jobs = site.state::<Jobs>();
    let act = Act::parse(act, of, jobs).map_err(Error::internal)?;
    let is_of_jobs = matches!(act, Act::Retry(_) | Act::RetryDead | Act::Cancel(_));
    let changed = site.db().write(|db| {
        let changed = db.execute(act.clone().statement(jobs.now()))?.rows;
        if let Some(notify) = jobs.store().notify() {
            db.one(notify)?;
        }
        Ok(changed)
    })?;
    jobs.wake.wake();
    match act {
        Act::Retry(id) if changed == 0 => Err(Error::internal(format!("no job {id} waits or is a dead letter"))),
        Act::Cancel(id) if changed == 0 => Err(Error::internal(format!("there is no job {id}"))),
        _ if is_of_jobs => Ok(format!("{changed} {}\n", if changed == 1 { "job" } else { "jobs" })),
        _ => list(site),
    }
}

/// Read as handlers read: who lists jobs does not wait for who writes.
fn list(site: &Site) -> Result<String> {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    runtime.block_on(listed(&site.db().local(), site.state::<Jobs>()))
}

async fn listed(db: &sql::Local, jobs: &Jobs) -> Result<String> {
    let counts = queues(db.all(count()).await?, jobs.now());
    let paused: Vec<String> = db.all("select queue from skep_job_pause").await?;
    let dead = "select id, kind, queue, attempt, error from skep_job where state = ? order by at desc, id desc limit ?";
    let dead: Vec<Dead> = db.all(query(dead, (DEAD, MOST))).await?;
    let batches = db.all(batches(MOST)).await?;
    let mut text = String::from("queue                slots  waiting  running     dead    late\n");
    for (name, slots) in jobs.queues() {
        let Queue { waiting, running, dead, late } = counts.get(name).cloned().unwrap_or_default();
        let is_paused = if paused.iter().any(|one| one == name) { "  paused" } else { "" };
        // Writing into memory does not fail.
        _ = writeln!(text, "{name:20} {slots:5} {waiting:8} {running:8} {dead:8} {late:5} s{is_paused}");
    }
    for (id, kind, left, dead) in batches {
        _ = write!(text, "\nbatch {id}: {kind} waits for {left} jobs; dead letters: {dead}\n");
    }
    for (id, kind, queue, attempts, error) in dead {
        let error = error.unwrap_or_default();
        // It may quote what a stranger has sent.
        let first = escape_unprintable(error.lines().next().unwrap_or_default());
        _ = write!(text, "\ndead letter {id}: {kind}, of {queue}, after {attempts} attempts\n  {first}\n");
    }
    Ok(text)
}
