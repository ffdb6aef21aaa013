//! What an application does again and again beside its requests: `App::every`.
//!
//! One thread for each version runs its jobs, one at a time, in an instance that lives on: what a job keeps in statics is there at its next run. A job
//! that traps, or takes longer than a request may, goes to the log, and the next one has a new instance. The thread ends when another version takes its place,
//! whose jobs begin after that.

use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wasmtime::Result;
use wasmtime::component::{Component, ComponentExportIndex};

use super::version;
use crate::instance::Instance;
use crate::ready::Ready;

/// The functions of the interface `jobs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jobs {
    names: ComponentExportIndex,
    run: ComponentExportIndex,
}

/// The least time from the end of a job to its next run.
const LEAST: Duration = Duration::from_secs(1);

impl Jobs {
    /// Of a component that was made by `skep::component!`.
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let (_, jobs) = component.get_export(None, version("jobs").as_str())?;
        let (_, names) = component.get_export(Some(&jobs), "names")?;
        let (_, run) = component.get_export(Some(&jobs), "run")?;
        Some(Self { names, run })
    }
}

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

/// Asks a version for its jobs. None has fewer than a second between two runs.
pub(crate) async fn list(ready: &Ready) -> Result<List> {
    let Some(jobs) = ready.jobs.filter(|_| !ready.grants.only_looks) else { return Ok(List::new()) };
    let _work = ready.grants.clock.work();
    let mut instance = Instance::new(ready, None);
    instance.begin(ready)?;
    let asked = instance.call::<(), (Vec<(String, u64)>,)>(ready, &jobs.names, ());
    let (names,) = in_time(ready, asked).await?;
    Ok(names.into_iter().map(|(name, period)| (name, Duration::from_millis(period).max(LEAST))).collect())
}

/// Runs jobs from now on, when those of the version before have ended.
pub(crate) fn start(ready: &Arc<Ready>, list: List, before: Option<Thread>) -> Option<Thread> {
    let before = before.map(|before| before.thread);
    let jobs = ready.jobs.filter(|_| !list.is_empty() && !ready.grants.only_looks)?;
    let (ready, (stop, stopped)) = (Arc::clone(ready), mpsc::channel());
    let name = ready.grants.name.clone();
    let run = move || {
        if let Some(before) = before {
            let _ = before.join();
        }
        run(&ready, jobs, list, &stopped);
    };
    match thread::Builder::new().name("skep jobs".into()).spawn(run) {
        Ok(thread) => Some(Thread { _stop: stop, thread }),
        Err(error) => {
            tracing::error!(target: "skep::job", app = name, "no thread for jobs: {error}");
            None
        }
    }
}

fn run(ready: &Ready, jobs: Jobs, list: List, stopped: &Receiver<()>) {
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
        let number = u32::try_from(number).expect("nobody has so many jobs");
        if let Err(error) = runtime.block_on(once(ready, jobs, number, &mut instance)) {
            tracing::error!(target: "skep::job", app = ready.grants.name, job = job.name, "{error:?}");
        }
        job.due = Instant::now() + job.period;
    }
}

/// What the guest waits counts, too.
async fn in_time<T>(ready: &Ready, run: impl Future<Output = Result<T>>) -> Result<T> {
    let limit = ready.limits.time;
    let ended = tokio::time::timeout(limit, run).await;
    ended.unwrap_or_else(|_| Err(wasmtime::Error::msg(format!("took longer than {limit:?} (--time)"))))
}

async fn once(ready: &Ready, jobs: Jobs, number: u32, kept: &mut Option<Instance>) -> Result<()> {
    // One that does not come back is not kept.
    let mut instance = kept.take().unwrap_or_else(|| Instance::new(ready, None));
    let _work = ready.grants.clock.work();
    instance.begin(ready)?;
    let run = instance.call::<(u32,), ()>(ready, &jobs.run, (number,));
    in_time(ready, run).await?;
    instance.store.data_mut().services.end();
    *kept = Some(instance);
    Ok(())
}
