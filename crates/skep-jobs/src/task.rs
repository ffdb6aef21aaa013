//! The task `jobs`: what the [page](crate::JobsApp::jobs_page) shows and does, from a shell.

use std::fmt::Write as _;

use skep::sql::query;
use skep::{Error, Result, Site};

use crate::act::Act;
use crate::counts::{Queue, count, queues};
use crate::jobs::Jobs;
use crate::schema::DEAD;

/// What it is called, and what stands in the list of tasks.
pub(crate) const NAME: &str = "jobs";
pub(crate) const ABOUT: &str = "list queues and dead letters; or retry ID|dead, cancel ID, pause QUEUE, resume QUEUE";

/// Dead letters that are listed, the newest.
const MOST: i64 = 50;

type Dead = (i64, String, String, i64, Option<String>);

pub(crate) fn run(site: &Site, words: &[String]) -> Result<()> {
    let text = match words {
        [] => list(site)?,
        [act, of] => change(site, act, of)?,
        _ => return Err(Error::internal(format!("jobs: {ABOUT}"))),
    };
    print!("{text}");
    Ok(())
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
        Act::Retry(id) | Act::Cancel(id) if changed == 0 => {
            Err(Error::internal(format!("no job {id} waits or is a dead letter")))
        }
        _ if is_of_jobs => Ok(format!("{changed} {}\n", if changed == 1 { "job" } else { "jobs" })),
        _ => list(site),
    }
}

fn list(site: &Site) -> Result<String> {
    let jobs = site.state::<Jobs>();
    let (counts, paused, dead) = site.db().write(|db| {
        let dead =
            "select id, kind, queue, attempt, error from skep_job where state = ? order by at desc, id desc limit ?";
        let dead: Vec<Dead> = db.all(query(dead, (DEAD, MOST)))?;
        Ok((queues(db.all(count())?), db.all::<String>("select queue from skep_job_pause")?, dead))
    })?;
    let mut text = String::from("queue                slots  waiting  running     dead    late\n");
    for (name, slots) in jobs.queues() {
        let queue = counts.get(name).cloned().unwrap_or_default();
        let (late, Queue { waiting, running, dead, .. }) = (queue.late(jobs.now()), queue);
        let is_paused = if paused.iter().any(|one| one == name) { "  paused" } else { "" };
        // Writing into memory does not fail.
        _ = writeln!(text, "{name:20} {slots:5} {waiting:8} {running:8} {dead:8} {late:5} s{is_paused}");
    }
    for (id, kind, queue, attempts, error) in dead {
        let error = error.unwrap_or_default();
        let first = error.lines().next().unwrap_or_default();
        _ = write!(text, "\ndead letter {id}: {kind}, of {queue}, after {attempts} attempts\n  {first}\n");
    }
    Ok(text)
}
