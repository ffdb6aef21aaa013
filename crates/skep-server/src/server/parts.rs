//! From settings to the parts of a server.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use skep::cache::Tiers;
use skep::{Body, Request, Setup, Site};
use tokio::sync::{mpsc, watch};

use super::{Ended, StartError};
use crate::config::{Config, Model};
use crate::connection::{self, Share};
use crate::listener::Listener;
use crate::log::Logs;
use crate::offload::Pool;
use crate::seat::{Place, Seat};
use crate::supervisor::Executable;
use crate::worker::{Life, Room, Worker};

/// File descriptors that are not connections: listeners, files, databases.
const SPARE_FILES: u64 = 64;

/// Where processes that are forked from one keep what nobody says otherwise of: in memory of their own, which has no name that would have to
/// be removed, and which the system takes back when the last of them is gone. Like what one process keeps by default, it begins empty with
/// each start and each swap; a new build would not read the old one's pages in any case.
const FORKED: &str = "shared:16MiB path=none";

/// What the application needs to know of where it runs: in a worker, if there is a seat.
pub(crate) fn setup(config: &Config, seat: Option<&Seat>) -> Setup {
    let mut setup = Setup::default();
    setup.data.clone_from(&config.data);
    setup.base_url.clone_from(&config.base_url);
    setup.development = config.development;
    setup.caches.clone_from(&config.caches.tiers);
    let is_forked = config.mpm == Model::Prefork;
    if is_forked {
        // What one process keeps is of use to the others.
        setup.caches.entry("default".into()).or_insert_with(|| Tiers::parse([FORKED]).expect("it is a list of tiers"));
    }
    if is_forked || config.caches.leave_the_process {
        // The supervisor has read the file already; to read it once more would keep a successor waiting.
        setup.build = seat.map_or_else(build, |seat| seat.plan.build);
    }
    setup.careful = seat.is_some_and(|seat| seat.plan.careful);
    setup.limits.body = config.limits.body;
    setup.limits.form_fields = config.limits.form_fields;
    setup.limits.once = config.limits.once;
    setup.limits.page = config.limits.page;
    setup.limits.query_parameters = config.limits.query_parameters;
    setup.limits.session = config.limits.session;
    setup.limits.sessions = config.limits.sessions;
    setup.limits.upload_file = config.limits.upload_file;
    setup.limits.upload_quota = config.limits.upload_quota;
    setup.limits.upload_total = config.limits.upload_total;
    setup.limits.user_sessions = config.limits.user_sessions;
    setup.secret.clone_from(&config.secret);
    setup.session.idle = config.session.idle;
    setup.session.life = config.session.life;
    setup.offload = Arc::new(Pool::new(config.limits.blocking_threads));
    setup
}

/// The number of this build, without a supervisor that knows it.
fn build() -> u32 {
    Executable::of_process().map_or(0, |executable| executable.build())
}

/// A worker that serves these sockets.
#[expect(clippy::too_many_arguments, reason = "it needs them all")]
pub(crate) fn worker(
    config: &Config,
    site: &Arc<Site>,
    listeners: Vec<Listener>,
    tls: Option<tokio_rustls::TlsAcceptor>,
    logs: &Logs,
    room: Room,
    life: watch::Receiver<Life>,
    place: Option<Place>,
) -> Worker {
    let limits = &config.limits;
    Worker {
        site: Arc::clone(site),
        listeners,
        tls,
        limits: connection::Limits {
            head: connection::Bounds { bytes: limits.header_bytes, fields: limits.header_fields, target: limits.url },
            header_time: limits.header_time,
            body_idle: limits.body_idle,
            keep_alive: limits.keep_alive,
            write_idle: limits.write_idle,
            requests: limits.requests_per_connection,
            http2_streams: limits.http2_streams,
            http2_resets: limits.http2_resets,
        },
        tls_handshake: limits.tls_handshake,
        grace: config.grace,
        access: logs.access(),
        room,
        life,
        place,
        share: Share::unlimited(),
    }
}

/// Runs a worker on a thread of its own, and tells when it ends, however it does.
pub(super) fn run_thread(worker: Worker, telling: mpsc::UnboundedSender<Ended>) -> io::Result<JoinHandle<()>> {
    struct Tell(mpsc::UnboundedSender<Ended>, bool);
    impl Drop for Tell {
        fn drop(&mut self) {
            let _ = self.0.send(Ended { as_told: self.1 });
        }
    }
    thread::Builder::new().name("worker".into()).spawn(move || {
        let mut tell = Tell(telling, false);
        let life = worker.life.clone();
        match worker.run() {
            Ok(()) => tell.1 = *life.borrow() != Life::Serve,
            Err(error) => tracing::error!(%error, "a worker thread could not go on"),
        }
    })
}

/// Has the application answer a request before anybody else asks it, if that is wanted.
pub(crate) fn probe(site: &Arc<Site>, config: &Config) -> Result<(), StartError> {
    let Some(path) = &config.probe else { return Ok(()) };
    let request = http::Request::get(path.as_str()).header(http::header::HOST, "localhost").body(());
    let request = request.map_err(|error| StartError(format!("probe = {path}: {error}")))?;
    let request = Request::new(request.into_parts().0, Body::empty());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build_local(tokio::runtime::LocalOptions::default())?;
    let answer =
        runtime.block_on(async { tokio::time::timeout(config.start_timeout, site.local().answer(request)).await });
    match answer {
        Ok(answer) if answer.status().as_u16() < 400 => Ok(()),
        Ok(answer) => Err(StartError(format!("the probe {path} was answered with {}", answer.status()))),
        Err(_) => Err(StartError(format!("the probe {path} was not answered within {:?}", config.start_timeout))),
    }
}

/// How many threads, or processes to begin with.
pub(crate) fn workers(config: &Config) -> usize {
    match config.workers {
        0 => thread::available_parallelism().map_or(1, Into::into),
        workers => workers,
    }
}

/// As many connections as were asked for, or as many as this process may have files open.
pub(crate) fn connections(config: &Config) -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // Not being allowed to is no reason not to serve.
        let _ = setrlimit(Resource::Nofile, limit);
        limit = getrlimit(Resource::Nofile);
    }
    let files = limit.current.unwrap_or(u64::MAX).saturating_sub(SPARE_FILES).max(1);
    let wanted = config.limits.connections;
    let possible = usize::try_from(files).unwrap_or(usize::MAX);
    if possible < wanted {
        tracing::debug!(wanted, possible, "fewer connections: this process may not open more files (ulimit -n)");
    }
    wanted.min(possible)
}

/// The folder for data is there and can be written.
pub(crate) fn make_folder(config: &Config) -> Result<(), StartError> {
    let folder = &config.data;
    let wrong = |what: &str, error: &dyn fmt::Display| {
        StartError(format!("the data folder {} {what}: {error}; name another with --data", folder.display()))
    };
    if folder.exists() && !folder.is_dir() {
        return Err(StartError(format!("{} is no folder; name another for data with --data", folder.display())));
    }
    std::fs::create_dir_all(folder).map_err(|error| wrong("cannot be made", &error))?;
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(|error| wrong("cannot be written", &error))
}
