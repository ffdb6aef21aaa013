//! Periodic jobs of an application: `App::every`.
//!
//! One thread for each version runs its jobs, one at a time, in an instance that lives on: statics keep their values
//! between runs. A job that traps or takes longer than a request may is logged, and the next one gets a new instance.
//! The thread ends when another version takes over, whose jobs begin after that.

use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wasmtime::Result;

use crate::exports::Jobs;
use crate::instance::Instance;
use crate::version::Version;

/// The least time from the end of a job to its next run.
const LEAST: Duration = Duration::from_secs(1);

/// A job, and when it runs next.
struct Job {
    name: String,
    period: Duration,
    due: Instant,
}

/// The jobs of a version, by number.
pub(crate) type List = Vec<(String, Duration)>;

/// The thread that runs the jobs of a version. It ends when this is dropped, after the job that it is at.
#[derive(Debug)]
pub(crate) struct Thread {
    _stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// The jobs of a version. Between two runs of one there is at least a second.
pub(crate) async fn list(version: &Version) -> Result<List> {
    let Some(jobs) = version.exports.jobs.filter(|_| !version.program.grants.is_check) else { return Ok(List::new()) };
    let _work = version.program.grants.clock.work();
    let mut instance = version.fresh();
    instance.begin(&version.program)?;
    let asked = instance.call::<(), (Vec<(String, u64)>,)>(&version.program, &jobs.names, ());
    let (names,) = in_time(version, asked).await?;
    Ok(names.into_iter().map(|(name, period)| (name, Duration::from_millis(period).max(LEAST))).collect())
}

/// Runs jobs once those of the version before have ended.
pub(crate) fn start(version: &Arc<Version>, list: List, before: Option<Thread>) -> Option<Thread> {
    let before = before.map(|before| before.thread);
    let jobs = version.exports.jobs.filter(|_| !list.is_empty() && !version.program.grants.is_check)?;
    let (version, (stop, stopped)) = (Arc::clone(version), mpsc::channel());
    let name = version.program.grants.name.clone();
    let run = move || {
        if let Some(before) = before {
            let _ = before.join();
        }
        run(&version, jobs, list, &stopped);
    };
    match thread::Builder::new().name("skep jobs".into()).spawn(run) {
        Ok(thread) => Some(Thread { _stop: stop, thread }),
        Err(error) => {
            tracing::error!(target: "skep::job", app = name, "no thread for jobs: {error}");
            None
        }
    }
}

fn run(version: &Version, jobs: Jobs, list: List, stopped: &Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(target: "skep::job", "no runtime for jobs: {error}"),
    };
    let mut instance = None;
    let job = |(name, period)| Job { name, period, due: Instant::now() + period };
    let mut list: Vec<Job> = list.into_iter().map(job).collect();
    while let Some((number, job)) = list.iter_mut().enumerate().min_by_key(|(_, job)| job.due) {
        let left = job.due.saturating_duration_since(Instant::now());
        if stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let number = u32::try_from(number).expect("fewer jobs than that");
        if let Err(error) = runtime.block_on(once(version, jobs, number, &mut instance)) {
            tracing::error!(target: "skep::job", app = version.program.grants.name, job = job.name, "{error:?}");
        }
        job.due = Instant::now() + job.period;
    }
}

/// Bounds the time of a job, with what it waits.
async fn in_time<T>(version: &Version, run: impl Future<Output = Result<T>>) -> Result<T> {
    let limit = version.program.limits.time;
    let ended = tokio::time::timeout(limit, run).await;
    ended.unwrap_or_else(|_| Err(wasmtime::Error::msg(format!("took longer than {limit:?} (--time)"))))
}

async fn once(version: &Version, jobs: Jobs, number: u32, idle: &mut Option<Instance>) -> Result<()> {
    // An instance whose guest does not return is dropped.
    let mut instance = idle.take().unwrap_or_else(|| version.fresh());
    let _work = version.program.grants.clock.work();
    instance.begin(&version.program)?;
    let run = instance.call::<(u32,), ()>(&version.program, &jobs.run, (number,));
    in_time(version, run).await?;
    instance.store.data_mut().services.end();
    *idle = Some(instance);
    Ok(())
}
