//! What an application does again and again beside its requests: `App::every`.
//!
//! One thread for each version runs its jobs, one at a time, in an instance that lives on: what a job keeps in statics is there at its next run. A job
//! that traps, or takes longer than a request may, goes to the log, and the next one has a new instance. The thread ends with its version.

use std::sync::{Arc, Weak};
use std::thread;
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

/// How soon a thread sees that its version is gone.
const LOOK: Duration = Duration::from_millis(500);

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

/// Runs the jobs of a version for as long as somebody has it.
pub(crate) fn start(ready: &Arc<Ready>) {
    let Some(jobs) = ready.jobs.filter(|_| !ready.grants.only_looks) else { return };
    let version = Arc::downgrade(ready);
    let begun = thread::Builder::new().name("skep jobs".into()).spawn(move || run(&version, jobs));
    if let Err(error) = begun {
        tracing::error!(target: "skep::job", app = ready.grants.name, "no thread for jobs: {error}");
    }
}

fn run(version: &Weak<Ready>, jobs: Jobs) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(target: "skep::job", "no runtime for jobs: {error}"),
    };
    let mut instance = None;
    let listed = version.upgrade().map(|ready| runtime.block_on(list(&ready, jobs, &mut instance)));
    let mut list = match listed {
        Some(Ok(list)) => list,
        Some(Err(error)) => {
            return tracing::error!(target: "skep::job", "the jobs of an application are not known: {error:?}");
        }
        None => return,
    };
    while let Some((number, job)) = list.iter_mut().enumerate().min_by_key(|(_, job)| job.due) {
        if !wait(version, job.due) {
            return;
        }
        let Some(ready) = version.upgrade() else { return };
        let number = u32::try_from(number).expect("nobody has so many jobs");
        if let Err(error) = runtime.block_on(once(&ready, jobs, number, &mut instance)) {
            tracing::error!(target: "skep::job", app = ready.grants.name, job = job.name, "{error:?}");
        }
        job.due = Instant::now() + job.period;
    }
}

/// Waits for a moment. False if the version is gone before.
fn wait(version: &Weak<Ready>, until: Instant) -> bool {
    loop {
        if version.strong_count() == 0 {
            return false;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        thread::sleep(left.min(LOOK));
    }
}

async fn list(ready: &Ready, jobs: Jobs, kept: &mut Option<Instance>) -> Result<Vec<Job>> {
    let mut instance = Instance::new(ready, None);
    let (names,) = instance.call::<(), (Vec<(String, u64)>,)>(ready, &jobs.names, ()).await?;
    *kept = Some(instance);
    let job = |(name, period): (String, u64)| {
        let period = Duration::from_millis(period);
        Job { name, period, due: Instant::now() + period }
    };
    Ok(names.into_iter().map(job).collect())
}

async fn once(ready: &Ready, jobs: Jobs, number: u32, kept: &mut Option<Instance>) -> Result<()> {
    // One that does not come back is not kept.
    let mut instance = kept.take().unwrap_or_else(|| Instance::new(ready, None));
    let limit = ready.limits.time;
    let run = instance.call::<(u32,), ()>(ready, &jobs.run, (number,));
    let ended = tokio::time::timeout(limit, run).await;
    ended.map_err(|_| wasmtime::Error::msg(format!("took longer than {limit:?} (--time)")))??;
    instance.store.data_mut().services.end();
    *kept = Some(instance);
    Ok(())
}
