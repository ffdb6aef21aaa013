//! The model `prefork`: processes with one thread each, forked from a parent that has initialised the application.
//!
//! Children share the initialised memory copy-on-write. What they must not share does not exist when the parent forks:
//! the application is initialised on a thread that has exited by then, so nothing of it depends on a thread (random
//! state, for instance); database connections are closed; and a parent with more than one thread refuses to fork.
//! Runtime, client sockets, timers, connections and threads are created after the fork, in [`child`].
//!
//! After initialisation the parent runs nothing of the application, and it accepts no connection.
//!
//! Start reading at [`run`], then [`Parent::run`].

mod child;
mod parent;
mod status_query;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use skep::settings::RawSetting;
use skep::{App, Site};
use skep_observe::log::{LastLines, Logs, OwnSubscriber};

use crate::assembly::{Counting, app_setup, probe};
use crate::background::Background;
use crate::config::Config;
use crate::error::StartError;
use crate::handoff::WorkerHandoff;
use crate::listener::Listener;
use crate::offload::Pool;
use crate::resources::create_data_dir;
use crate::{procfs, sys, tls};

use parent::Parent;
use status_query::StatusQuery;

/// What children share with their parent.
struct Common<'h> {
    config: &'h Config,
    handoff: &'h WorkerHandoff,
    site: Arc<Site>,
    tls: Option<tls::Acceptor>,
    listeners: Vec<Listener>,
    status_query: StatusQuery,
    counting: Option<Counting>,
    last_lines: Arc<LastLines>,
}

/// The stack size of the thread that initialises: that of a main thread.
const STACK_SIZE: usize = 8 << 20;

/// Runs a parent until it exits. `own`: the subscriber of each of its processes, besides the log.
pub(crate) fn run(
    app: impl FnOnce() -> Result<(App, Vec<RawSetting>), StartError> + Send,
    config: &Config,
    handoff: &WorkerHandoff,
    own: Option<OwnSubscriber>,
) -> Result<ExitCode, StartError> {
    let logs = Logs::direct(&config.log, own);
    sys::limit_malloc_arenas();
    sys::signals::print_backtrace_on(procfs::backtrace_signal())?;
    let listeners: Vec<_> = handoff.listeners()?.into_iter().flatten().collect();
    defer_accept(&listeners, config.limits.header_time);
    // An HTTP/2 connection would bring several requests to one process.
    let tls = tls::acceptor(&config.tls, config.requests_per_worker != 1).map_err(StartError::new)?;
    create_data_dir(config)?;
    let pool = Pool::new(config.blocking.threads, config.blocking.queue);
    pool.set_inline(true);
    let site = initialise(app, config, handoff, &pool)?;
    pool.set_inline(false);
    // Free memory would be copied by each fork.
    sys::trim_heap();
    let counting = handoff.metrics.as_ref().map(|metrics| Counting::new(metrics, &site, config));
    // One more, for the process that runs jobs.
    let last_lines = handoff.last_lines(&config.log, handoff.spec.slots + 1, 1)?;
    let common =
        Common { config, handoff, site, tls, listeners, status_query: StatusQuery::new()?, counting, last_lines };
    Ok(Parent::new(common, logs)?.run())
}

/// A connection that sends nothing shall not occupy a process.
fn defer_accept(listeners: &[Listener], time: Duration) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    for listener in listeners.iter().filter(|listener| listener.is_tcp) {
        let seconds = time.as_secs().try_into().unwrap_or(i32::MAX).max(1);
        if let Err(error) = sys::defer_accept(&listener.socket, seconds) {
            tracing::debug!(%error, "silent connections occupy processes");
        }
    }
}

/// Creates and initialises the application on a thread that has exited when this returns.
fn initialise(
    app: impl FnOnce() -> Result<(App, Vec<RawSetting>), StartError> + Send,
    config: &Config,
    handoff: &WorkerHandoff,
    pool: &Pool,
) -> Result<Arc<Site>, StartError> {
    let initialise = || -> Result<Arc<Site>, StartError> {
        let (app, settings) = app()?;
        let mut setup = app_setup(config, settings, Some(handoff))?;
        setup.offload = Arc::new(pool.clone());
        let background = config.caches_need_a_runtime().then(Background::start).transpose()?;
        let _entered = background.as_ref().map(|background| background.handle().enter());
        let site = Arc::new(app.open(setup)?);
        probe(&site, config)?;
        warm_up(&site);
        site.close_for_fork();
        Ok(site)
    };
    let site = thread::scope(|scope| -> Result<_, StartError> {
        let thread =
            thread::Builder::new().name("initialise".into()).stack_size(STACK_SIZE).spawn_scoped(scope, initialise)?;
        thread.join().map_err(|_| StartError::new("the application panicked during initialisation".into()))?
    })?;
    wait_for_single_thread().map_err(|error| StartError::new(error.to_string()))?;
    Ok(site)
}

/// Computes once what each child would otherwise compute again: processor features (in a virtual machine each `cpuid`
/// instruction is expensive) and the keys of cookies and tokens.
fn warm_up(site: &Arc<Site>) {
    #[cfg(target_arch = "x86_64")]
    let _ = std::arch::is_x86_feature_detected!("avx2");
    site.warm_up();
}

/// A thread that was joined may exist for a moment longer.
fn wait_for_single_thread() -> io::Result<()> {
    let mut threads = sys::process::threads()?;
    for _ in 0..200 {
        if threads == 1 {
            return Ok(());
        }
        thread::sleep(std::time::Duration::from_millis(1));
        threads = sys::process::threads()?;
    }
    Err(io::Error::other(format!(
        "with mpm = prefork, initialisation must leave no thread behind, since threads do not exist in forked processes; it left {}: \
         start them in `App::every`, or use mpm = thread",
        threads - 1
    )))
}
