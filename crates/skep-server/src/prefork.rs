//! The model `prefork`: processes of one thread, forked from a parent that has initialised the application.
//!
//! What the parent has made is shared copy-on-write. What must not be shared does not exist when it forks: the application is
//! initialised on a thread that has ended by then, so that nothing of it is tied to a thread (random state, say); the
//! database's connections are closed; and a parent that has more threads than one does not fork. Runtime, sockets of clients,
//! timers, connections and threads are made in each process after the fork, by [`kid`].
//!
//! The parent runs nothing of the application after that, and accepts no connection.
//!
//! Start reading at [`run`], then [`Parent::run`].

mod kid;
mod parent;
mod questions;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use skep::{App, Site};
use tokio_rustls::TlsAcceptor;

use crate::background::Background;
use crate::config::Config;
use crate::listener::Listener;
use crate::log::Logs;
use crate::offload::Pool;
use crate::seat::Seat;
use crate::server::{StartError, make_folder, probe, setup};
use crate::sys::pinned::Lessons;
use crate::{supervisor, sys, tls};

use parent::Parent;
use questions::Questions;

/// What all processes of this model begin with.
struct Common<'s> {
    config: &'s Config,
    seat: &'s Seat,
    site: Arc<Site>,
    tls: Option<TlsAcceptor>,
    listeners: Vec<Listener>,
    questions: Questions,
    /// The first processes tell what they have written, if they are forked often.
    lessons: Option<Lessons>,
}

impl Common<'_> {
    /// Each request has a process of its own.
    fn is_single(&self) -> bool {
        self.config.requests_per_worker == 1
    }
}

/// Processes of so many requests, or fewer, are forked often.
const OFTEN: u64 = 1000;

fn forks_often(config: &Config) -> bool {
    (1..=OFTEN).contains(&config.requests_per_worker)
}

/// The stack of the thread that initialises: as large as a main thread's.
const STACK: usize = 8 << 20;

/// The life of a parent, from its start to its end.
pub(crate) fn run(
    app: impl FnOnce() -> Result<App, StartError> + Send,
    config: &Config,
    seat: &Seat,
) -> Result<ExitCode, StartError> {
    let logs = Logs::direct(config.log.access, config.log.buffer);
    if let Ok(level) = config.log.level.parse() {
        logs.install(level);
    }
    sys::one_heap();
    sys::signals::tell_place_on(supervisor::stack_signal())?;
    let listeners = seat.listeners()?.into_iter().flatten().collect();
    // Whoever asks for each request's own process gets it: HTTP/2 would bring several to one.
    let tls =
        if config.requests_per_worker == 1 { tls::acceptor_of_http1(&config.tls) } else { tls::acceptor(&config.tls) };
    let tls = tls.map_err(StartError)?;
    make_folder(config)?;
    let pool = Pool::new(config.limits.blocking_threads);
    pool.work_inline(true);
    let site = initialise(app, config, seat, &pool)?;
    pool.work_inline(false);
    ready_to_be_copied();
    let often = forks_often(config);
    let lessons = if often { Lessons::new().ok() } else { None };
    let common = Common { config, seat, site, tls, listeners, questions: Questions::new()?, lessons };
    let mut parent = Parent::new(common, logs)?;
    if often {
        parent.have_code_in_large_pages();
    }
    Ok(parent.run())
}

/// Makes and initialises the application on a thread that is gone when this returns.
fn initialise(
    app: impl FnOnce() -> Result<App, StartError> + Send,
    config: &Config,
    seat: &Seat,
    pool: &Pool,
) -> Result<Arc<Site>, StartError> {
    let initialise = || -> Result<Arc<Site>, StartError> {
        let mut setup = setup(config, Some(seat));
        setup.offload = Arc::new(pool.clone());
        let background = config.caches.need_a_runtime.then(Background::start).transpose()?;
        let _entered = background.as_ref().map(|background| background.handle().enter());
        let site = Arc::new(app()?.open(setup)?);
        probe(&site, config)?;
        warm_up(&site);
        site.close_for_fork();
        Ok(site)
    };
    let site = thread::scope(|scope| -> Result<_, StartError> {
        let thread =
            thread::Builder::new().name("initialise".into()).stack_size(STACK).spawn_scoped(scope, initialise)?;
        thread.join().map_err(|_| StartError("the application panicked while it was initialised".into()))?
    })?;
    wait_for_end_of_threads().map_err(|error| StartError(error.to_string()))?;
    Ok(site)
}

/// Lays memory so that a fork has little to copy. Where the system does not allow it, all stays as it is, and costs more.
fn ready_to_be_copied() {
    sys::order_free_memory();
    match sys::shelf::put_away() {
        Ok(bytes) => tracing::debug!("{} MiB that initialisation left need not be copied", bytes >> 20),
        Err(error) => tracing::debug!(%error, "what initialisation left is copied at each fork"),
    }
}

/// Looks up once what each process would otherwise look up for itself. What the processor can do is the dearest of it: in a
/// virtual machine each question (`cpuid`) is a way out of it and back, and there are twenty of them.
fn warm_up(site: &Arc<Site>) {
    #[cfg(target_arch = "x86_64")]
    let _ = std::arch::is_x86_feature_detected!("avx2");
    // The cipher of cookies and tokens asks by itself.
    site.warm_up();
}

/// A thread that was joined may take a moment to be gone.
fn wait_for_end_of_threads() -> io::Result<()> {
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
