//! The server of the status page: `/-/metrics`, `/-/status`, 24 hours of history.
//!
//! Under a supervisor it is a process of its own, since neither the supervisor nor a busy worker may serve it; without one, a thread. It knows
//! the application only from what its workers report, and it listens on an address that others do not reach.
//!
//! | module | what it does |
//! |---|---|
//! | [`source`] | asks the supervisor for its overview |
//! | [`observer`] | puts overview and metrics together, and remembers |
//! | [`totals`] | counters of processes that come and go, as counters that only grow |
//! | [`exposition`] | the text that Prometheus reads |
//! | [`history`] | the file of 24 hours |
//! | [`pages`], [`page`], [`plot`] | what answers requests; HTML; SVG |

mod exposition;
mod history;
mod observer;
mod page;
mod pages;
mod plot;
mod source;
mod totals;

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use skep::{App, Setup, Site};
use tokio::sync::{mpsc, watch};

use crate::assembly;
use crate::authority::Hosts;
use crate::config::{Config, Limits};
use crate::connection::{RequestBudget, Rules};
use crate::error::StartError;
use crate::handoff::StatusHandoff;
use crate::jobs::Jobs;
use crate::listener::{Listener, Listeners, SocketFile, take};
use crate::log::Logs;
use crate::metrics::Metrics;
use crate::resources::{create_data_dir, worker_count};
use crate::sys;
use crate::sys::scoreboard::Scoreboard;
use crate::worker::{ConnectionLimit, Worker};
use crate::worker_state::WorkerState;
use observer::Observer;
use pages::Pages;
use source::{Process, Source};

/// Connections to the status page at a time.
const MAX_CONNECTIONS: usize = 64;

/// The thread that serves, and the one that writes the history.
#[derive(Debug)]
pub(crate) struct StatusServer {
    state: watch::Sender<WorkerState>,
    worker: JoinHandle<()>,
    jobs: Jobs,
    _files: Vec<SocketFile>,
}

impl StatusServer {
    fn start(
        config: &Config,
        source: Source,
        metrics: Arc<Metrics>,
        listener: Listener,
        files: Vec<SocketFile>,
    ) -> Result<Self, StartError> {
        let observer = Arc::new(Observer::new(source, metrics, &config.data)?);
        let mut setup = Setup::default();
        setup.data.clone_from(&config.data);
        let site = Arc::new(app(&observer).open(setup)?);
        let (state, receiver) = watch::channel(WorkerState::Serving);
        let worker = worker(config, &site, listener, receiver);
        let (exits, _) = mpsc::unbounded_channel();
        Ok(Self { state, worker: assembly::spawn(worker, exits)?, jobs: Jobs::start(&site, None)?, _files: files })
    }

    pub(crate) fn stop(self) {
        self.state.send_replace(WorkerState::Draining);
        let _ = self.worker.join();
        self.jobs.finish(std::time::Duration::ZERO);
    }
}

fn app(observer: &Arc<Observer>) -> App {
    let sampler = Arc::clone(observer);
    let sample = move |_: &Site| {
        sampler.sample();
        Ok(())
    };
    App::new().name("skep-status", env!("CARGO_PKG_VERSION")).mount("/", Pages::new(observer)).every(
        "history",
        history::INTERVAL,
        sample,
    )
}

fn worker(config: &Config, site: &Arc<Site>, listener: Listener, state: watch::Receiver<WorkerState>) -> Worker {
    // No page elsewhere may read this one by a name that leads here (DNS rebinding). No browser reaches a unix socket.
    let hosts = if listener.is_tcp { Hosts::Development } else { Hosts::Any };
    let rules = Rules { hosts, ..Rules::default() };
    let limits = Limits { connections_per_address: 0, ..config.limits };
    Worker {
        site: Arc::clone(site),
        listeners: vec![listener],
        tls: None,
        limits,
        rules: Arc::new(rules),
        grace: std::time::Duration::ZERO,
        access: None,
        metrics: None,
        connections: ConnectionLimit::new(MAX_CONNECTIONS, &limits),
        state,
        slot_ref: None,
        budget: RequestBudget::unlimited(),
    }
}

/// Runs the process of the status page until it is killed. What it writes is whole at every moment.
pub(crate) fn run(handoff: StatusHandoff, config: &Config) -> Result<ExitCode, StartError> {
    let logs = Logs::direct(&config.log);
    sys::limit_malloc_arenas();
    // Those of a terminal are the supervisor's.
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
        sys::signals::ignore(signal)?;
    }
    let metrics = Arc::new(Metrics::open(sys::take_inherited(handoff.metrics)?)?);
    let (listener, _) = take(handoff.listener)?;
    create_data_dir(config)?;
    let server = StatusServer::start(config, Source::Control(Box::new(config.clone())), metrics, listener, Vec::new())?;
    sys::process::set_title("skep: status");
    let _ = server.worker.join();
    logs.finish();
    Ok(ExitCode::FAILURE)
}

/// The status page of a server without a supervisor, and what its threads count in.
pub(crate) struct Alone {
    pub(crate) server: StatusServer,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) scoreboard: Arc<Scoreboard>,
}

impl Alone {
    /// Starts the status page in this process, if there is an address for it.
    pub(crate) fn start(
        config: &Config,
        name: &str,
        urls: &[String],
        site: &Arc<Site>,
    ) -> Result<Option<Self>, StartError> {
        let Some(address) = &config.status.listen.0 else { return Ok(None) };
        let listeners = Listeners::bind(std::slice::from_ref(address), false, 1, config.backlog)?;
        let Listeners { mut workers, reached, files } = listeners;
        let Some(listener) = workers.pop().and_then(|mut sockets| sockets.pop()) else { return Ok(None) };
        let metrics = Arc::new(Metrics::new()?);
        let scoreboard = Arc::new(Scoreboard::new(worker_count(config))?);
        let process = Process {
            name: name.to_owned(),
            urls: urls.to_vec(),
            status_url: reached.first().map(|at| at.url(false)),
            started: Instant::now(),
            site: Arc::downgrade(site),
            scoreboard: Arc::clone(&scoreboard),
        };
        let source = Source::Process(Box::new(process));
        let server = StatusServer::start(config, source, Arc::clone(&metrics), listener, files)?;
        Ok(Some(Self { server, metrics, scoreboard }))
    }
}
