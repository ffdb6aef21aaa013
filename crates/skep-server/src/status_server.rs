//! The server of the status page: `/-/metrics`, `/-/status`, 24 hours of history.
//!
//! Under a supervisor it is a process of its own, since neither the supervisor nor a busy worker may serve it; without
//! one, a thread. It knows the application only from what its workers report, and it listens on an address that others
//! do not reach. [`source`] says what the page is made of.

mod source;

use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(feature = "otlp")]
use skep::link::BaseUrl;
use skep::{Setup, Site};
use skep_observe::log::Logs;
use skep_observe::metrics::Metrics;
#[cfg(feature = "otlp")]
use skep_observe::otlp::{self, Exporter};
use skep_observe::status::{self, Observer, OverviewSource};
use tokio::sync::{mpsc, watch};

use crate::assembly;
use crate::authority::Hosts;
use crate::config::Config;
use crate::connection::{Limits, RequestBudget, Rules};
use crate::error::StartError;
use crate::handoff::{STOP_EXPORTER, StatusHandoff};
use crate::jobs::Jobs;
use crate::listener::{Listener, Listeners, SocketFile, take};
use crate::resources::{create_data_dir, worker_count};
use crate::sys;
use crate::sys::scoreboard::Scoreboard;
use crate::worker::{ConnectionLimit, Worker};
use crate::worker_state::WorkerState;
use source::{Control, Process};

/// Connections to the status page at a time.
const MAX_CONNECTIONS: usize = 64;

/// The thread that serves, and the one that writes the history.
#[derive(Debug)]
pub(crate) struct StatusServer {
    state: watch::Sender<WorkerState>,
    /// None if it only exports.
    worker: Option<JoinHandle<()>>,
    jobs: Jobs,
    #[cfg(feature = "otlp")]
    exporter: Option<Arc<Exporter>>,
    _files: Vec<SocketFile>,
}

impl StatusServer {
    fn start(
        config: &Config,
        source: Box<dyn OverviewSource>,
        metrics: Arc<Metrics>,
        listener: Option<Listener>,
        files: Vec<SocketFile>,
    ) -> Result<Self, StartError> {
        #[cfg(feature = "otlp")]
        let exporter = {
            let base_url = config.app.base_url.as_ref().map(BaseUrl::as_str);
            Exporter::new(&config.otlp, base_url, &metrics).map(Arc::new)
        };
        let observer = Arc::new(Observer::new(source, metrics, &config.app.data)?);
        let mut setup = Setup::default();
        setup.data.clone_from(&config.app.data);
        let app = status::app(&observer);
        #[cfg(feature = "otlp")]
        let app = exporter.iter().fold(app, |app, exporter| otlp::add_jobs(app, exporter, &observer));
        let site = Arc::new(app.open(setup)?);
        let (state, receiver) = watch::channel(WorkerState::Serving);
        let (exits, _) = mpsc::unbounded_channel();
        let worker = listener.map(|listener| worker(config, &site, listener, receiver));
        Ok(Self {
            state,
            worker: worker.map(|worker| assembly::spawn(worker, exits)).transpose()?,
            jobs: Jobs::start(&site, None, std::time::Duration::ZERO)?,
            #[cfg(feature = "otlp")]
            exporter,
            _files: files,
        })
    }

    /// False if the thread that serves has crashed.
    fn is_well(&self) -> bool {
        self.worker.as_ref().is_none_or(|worker| !worker.is_finished())
    }

    /// Stops, after the last spans are sent.
    pub(crate) fn stop(self) {
        self.state.send_replace(WorkerState::Draining);
        self.jobs.finish(std::time::Duration::ZERO);
        #[cfg(feature = "otlp")]
        if let Some(exporter) = &self.exporter {
            exporter.finish();
        }
        let _ = self.worker.map(JoinHandle::join);
    }
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

/// Runs the process of the status page until it is asked to end. What it writes is whole at every moment, so it may be
/// killed, too.
pub(crate) fn run(handoff: StatusHandoff, config: &Config) -> Result<ExitCode, StartError> {
    let logs = Logs::direct(&config.log, None);
    sys::limit_malloc_arenas();
    // Those of a terminal are the supervisor's.
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
        sys::signals::ignore(signal)?;
    }
    let stop = if config.otlp.is_on() {
        sys::signals::ignore(libc::SIGTERM)?;
        sys::signals::catch(&[STOP_EXPORTER.as_raw()])?
    } else {
        sys::signals::catch(&[libc::SIGTERM])?
    };
    let metrics = Metrics::open(sys::take_inherited(handoff.metrics)?)?;
    if metrics.is_none() {
        tracing::warn!(
            "requests are not counted: the supervisor's version counts in another way; replace it with `--control upgrade`"
        );
    }
    let metrics = Arc::new(metrics.map_or_else(|| Metrics::new(&config.queues()), Ok)?);
    metrics.take_log_records();
    let listener = handoff.listener.map(take).transpose()?.map(|(listener, _)| listener);
    create_data_dir(config)?;
    let server = StatusServer::start(config, Box::new(Control(config.clone())), metrics, listener, Vec::new())?;
    sys::process::set_title("skep: status");
    let is_well = wait_for_signal(&stop, || server.is_well());
    if is_well {
        server.stop();
    }
    logs.finish();
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Waits for a signal. False if something was wrong before.
fn wait_for_signal(signals: &OwnedFd, is_well: impl Fn() -> bool) -> bool {
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    while is_well() {
        // EINTR: a signal has arrived, and shows in its pipe.
        let _ = poll(&mut [PollFd::new(signals, PollFlags::IN)], Some(&second));
        if !sys::signals::received(signals).is_empty() {
            return true;
        }
    }
    false
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
        if !config.is_observed() {
            return Ok(None);
        }
        let bind = |address| Listeners::bind(std::slice::from_ref(address), false, 1, config.backlog);
        let Listeners { mut workers, reached, files } =
            config.status.listen.0.as_ref().map(bind).transpose()?.unwrap_or_default();
        let listener = workers.pop().and_then(|mut sockets| sockets.pop());
        let metrics = Arc::new(Metrics::new(&config.queues())?);
        metrics.take_log_records();
        let scoreboard = Arc::new(Scoreboard::new(worker_count(config))?);
        let process = Process {
            name: name.to_owned(),
            urls: urls.to_vec(),
            status_url: reached.first().map(|at| at.url(false)),
            started: Instant::now(),
            site: Arc::downgrade(site),
            scoreboard: Arc::clone(&scoreboard),
        };
        let server = StatusServer::start(config, Box::new(process), Arc::clone(&metrics), listener, files)?;
        Ok(Some(Self { server, metrics, scoreboard }))
    }
}
