//! Keeps workers alive.
//!
//! A supervisor binds the sockets, starts workers, and replaces those that exit. It accepts no connection of a client
//! and runs no application code, so no request can crash it. It has one thread and one poll loop, which never waits for
//! a worker or for a control client.
//!
//! | module | what it does |
//! |---|---|
//! | `worker_handle` | a worker, as its supervisor sees it |
//! | `lifecycle` | starts, exits, hangs, quotas, shutdown |
//! | `swap` | replaces the running version |
//! | `control`, `status` | commands on a unix socket; the reply to `status` |
//! | `drain` | replaces one worker, or one of its processes, on request |
//! | `upgrade` | replaces the supervisor's own program |
//! | `status_process` | the process that serves the status page |
//! | `systemd`, `privileges` | `sd_notify`; giving up root |
//!
//! Start reading at [`Supervisor::run`]. How a worker works is decided by [`worker`](crate::worker) and
//! [`prefork`](crate::prefork).

mod control;
mod drain;
mod lifecycle;
mod privileges;
mod status;
mod status_process;
mod swap;
mod systemd;
mod upgrade;
mod worker_handle;

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use skep_observe::log::{LevelChange, Logs, Raise, StreamFiles};
use skep_observe::metrics::Metrics;

pub(crate) use control::send_command;
use control::{Clients, Control, ControlCommand};
use privileges::Identity;
pub(crate) use privileges::only_root_changes;
use status_process::StatusProcess;
use swap::Swap;
use systemd::Systemd;
use worker_handle::WorkerHandle;

use crate::backoff::Backoff;
use crate::config::{Config, Model};
use crate::error::StartError;
use crate::executable::Executable;
use crate::listener::{Address, Listeners, SocketFile};
use crate::resources::{announce, check_limits, create_data_dir, worker_count};
use crate::sys;

/// A supervisor that has bound its sockets.
pub(crate) struct Supervisor {
    name: String,
    config: Config,
    logs: Logs,
    urls: Vec<String>,
    /// For each thread of a worker its listening sockets; empty during shutdown.
    sockets: Vec<Vec<OwnedFd>>,
    files: Vec<SocketFile>,
    _pid_file: Option<PidFile>,
    log_files: StreamFiles,
    /// Levels that were changed at run time: workers that start later have them, too.
    level_changes: Vec<LevelChange>,
    raises: Vec<Raise>,
    executable: Rc<Executable>,
    signals: OwnedFd,
    control: Option<Control>,
    clients: Clients,
    status_queries: Vec<status::Query>,
    /// The id of the last status query.
    last_query: u64,
    systemd: Systemd,
    /// What workers count in, and the process that shows or exports it, if there is `status.listen` or `otlp.endpoint`.
    metrics: Option<Arc<Metrics>>,
    status_process: Option<StatusProcess>,
    started: Instant,
    /// The number of the last worker.
    last_number: u32,
    /// The worker that accepts connections.
    serving: Option<WorkerHandle>,
    /// The worker that will replace it.
    starting: Option<StartingWorker>,
    /// Workers that finish their requests and exit.
    retiring: Vec<WorkerHandle>,
    backoff: Backoff,
    /// When to start the successor of a worker that crashed.
    start_at: Option<Instant>,
    /// The number of requests after which the serving worker is replaced.
    request_quota: u64,
    /// A worker has been ready since the supervisor started.
    was_ready: bool,
    crashes: u64,
    /// Swaps that succeeded, and workers that were replaced by others of the same version.
    swaps: u64,
    replaced: u64,
    /// The version that served before the last swap.
    previous: Option<String>,
    last_swap: Option<(Instant, Result<String, String>)>,
    watched: swap::Watch,
    last_check: Instant,
    shutdown: Option<Shutdown>,
}

struct StartingWorker {
    worker: WorkerHandle,
    /// Set if it runs a new version.
    swap: Option<Swap>,
}

#[derive(Clone, Copy, Debug)]
struct Shutdown {
    code: u8,
    /// Workers that still run then are killed.
    deadline: Instant,
}

/// Written at start, removed at exit.
struct PidFile(PathBuf);

/// How often workers are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// How long a worker may take to exit after its grace period, or after it was killed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

const SIGNALS: [i32; 7] =
    [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2, libc::SIGCHLD];

impl Supervisor {
    /// Binds the addresses and starts nothing, so that a wrong address fails here. Calls `check` first, which looks for
    /// unmounted services in a child process; the child calls the closure that `check` gets, so that it has no more
    /// privileges than a worker.
    pub(crate) fn start(
        name: String,
        config: Config,
        defaulted: bool,
        check: impl FnOnce(&dyn Fn() -> Result<(), String>) -> Result<(), StartError>,
    ) -> Result<Self, StartError> {
        let logs = Logs::direct(&config.log, None);
        if let Some(state) = upgrade::UpgradeState::of_process()? {
            return Self::resume(config, logs, state);
        }
        check_limits(&config).map_err(StartError::new)?;
        let identity = Identity::of(&config).map_err(StartError::new)?;
        check(&|| {
            if config.no_new_privileges {
                rustix::thread::set_no_new_privs(true).map_err(|error| error.to_string())?;
            }
            identity.as_ref().map_or(Ok(()), Identity::assume)
        })?;
        let threads = if config.mpm == Model::Prefork { 1 } else { worker_count(&config) };
        if identity.is_some() {
            check_socket_folders(&config)?;
        }
        let listeners = Listeners::bind(&config.listen, defaulted, threads, config.backlog)?;
        let (status_process, status_files) = StatusProcess::bind(&config)?;
        let tls = config.tls.self_signed || config.tls.certificate.is_some();
        let urls = listeners.reached.iter().map(|address| address.url(tls)).collect();
        let (sockets, mut files) = (listeners.workers, listeners.files);
        files.extend(status_files);
        let sockets =
            sockets.into_iter().map(|thread| thread.into_iter().map(|listener| listener.socket).collect()).collect();
        let mut own = OwnFiles::default();
        if let Some(identity) = identity {
            own.prepare(&config, &identity)?;
            identity.assume().map_err(StartError::new)?;
        }
        create_data_dir(&config)?;
        own.create(&config, |_| true)?;
        if config.no_new_privileges {
            rustix::thread::set_no_new_privs(true).map_err(io::Error::from)?;
        }
        let queues = config.queues();
        let mut supervisor = Self::new(name, (config, logs), urls, sockets, (files, own))?;
        supervisor.metrics = status_process.is_some().then(|| Metrics::new(&queues)).transpose()?.map(Arc::new);
        supervisor.metrics.iter().for_each(Metrics::take_log_records);
        supervisor.status_process = status_process;
        Ok(supervisor)
    }

    fn new(
        name: String,
        (config, logs): (Config, Logs),
        urls: Vec<String>,
        sockets: Vec<Vec<OwnedFd>>,
        (files, own): (Vec<SocketFile>, OwnFiles),
    ) -> Result<Self, StartError> {
        let executable = Rc::new(Executable::of_process()?);
        let watched = swap::Watch::new(executable.stamp);
        let now = Instant::now();
        sys::process::set_title("skep: supervisor");
        Ok(Self {
            name,
            config,
            logs,
            urls,
            sockets,
            files,
            _pid_file: own.pid_file,
            log_files: StreamFiles::of_process(),
            level_changes: Vec::new(),
            raises: Vec::new(),
            executable,
            signals: sys::signals::catch(&SIGNALS)?,
            control: own.control,
            clients: Clients::default(),
            status_queries: Vec::new(),
            last_query: 0,
            systemd: Systemd::of_process(),
            metrics: None,
            status_process: None,
            started: now,
            last_number: 0,
            serving: None,
            starting: None,
            retiring: Vec::new(),
            backoff: Backoff::default(),
            start_at: Some(now),
            request_quota: u64::MAX,
            was_ready: false,
            crashes: 0,
            swaps: 0,
            replaced: 0,
            previous: None,
            last_swap: None,
            watched,
            last_check: now,
            shutdown: None,
        })
    }

    /// Supervises until shutdown is complete.
    pub(crate) fn run(mut self) -> ExitCode {
        // Reading the settings has left free memory behind.
        sys::trim_heap();
        loop {
            self.start_if_due();
            self.start_status_if_due();
            if let Some(code) = self.exit_code() {
                return ExitCode::from(code);
            }
            self.wait();
            for signal in sys::signals::received(&self.signals) {
                self.on_signal(signal);
            }
            self.serve_clients();
            self.read_messages();
            self.reap();
            self.finish_status_queries();
            self.check_workers();
        }
    }

    /// Waits for an event or a deadline. Everything that is waited for is non-blocking, so each step of the loop may
    /// simply try.
    fn wait(&self) {
        let timeout = self.next_deadline().saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(timeout).ok();
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
        if let Some(control) = self.control.as_ref().filter(|_| self.accepts_clients()) {
            fds.push(PollFd::from_borrowed_fd(control.as_fd(), PollFlags::IN));
        }
        self.clients.add_to(&mut fds);
        let workers = self.starting.iter().map(|starting| &starting.worker).chain(&self.serving);
        fds.extend(
            workers.filter(|worker| !worker.messages.closed).map(|worker| PollFd::new(&worker.channel, PollFlags::IN)),
        );
        // EINTR: a signal has arrived, and shows in its pipe.
        let _ = poll(&mut fds, timeout.as_ref());
    }

    fn next_deadline(&self) -> Instant {
        let workers = self.workers().filter_map(|worker| worker.deadline);
        let queries = self.status_queries.iter().map(|query| query.deadline);
        let status = self.status_process.as_ref().and_then(StatusProcess::start_at);
        let due = [self.start_at, status, self.systemd.next(), self.shutdown.map(|shutdown| shutdown.deadline)];
        let due = due.into_iter().flatten().chain(self.clients.deadlines()).chain(workers).chain(queries);
        due.fold(self.last_check + CHECK_INTERVAL, Instant::min)
    }

    fn workers(&self) -> impl Iterator<Item = &WorkerHandle> {
        self.starting.iter().map(|starting| &starting.worker).chain(&self.serving).chain(&self.retiring)
    }

    fn on_signal(&mut self, signal: i32) {
        match signal {
            libc::SIGQUIT => self.quit(131),
            libc::SIGTERM | libc::SIGINT if self.shutdown.is_some() => {
                self.quit(128 + u8::try_from(signal).unwrap_or_default());
            }
            libc::SIGTERM | libc::SIGINT => self.shut_down(0),
            libc::SIGHUP => self.swap(Swap::default()),
            libc::SIGUSR1 => self.reopen_logs(),
            libc::SIGUSR2 => match self.add_worker() {
                Ok(text) => tracing::info!("{text}"),
                Err(problem) => tracing::warn!("{problem}"),
            },
            // SIGCHLD: see `reap`.
            _ => {}
        }
    }

    /// Set when shutdown is complete.
    fn exit_code(&mut self) -> Option<u8> {
        let shutdown = self.shutdown?;
        (self.workers().next().is_none() && !self.waits_for_exporter()).then_some(shutdown.code)
    }

    /// Prints the addresses once the first worker is ready.
    fn announce(&self) {
        let nouns = if self.config.mpm == Model::Prefork { ["process", "processes"] } else { ["thread", "threads"] };
        announce(&self.name, &self.urls, worker_count(&self.config), nouns);
        self.systemd.ready(&format!("listens on {}", self.urls.join(" and ")));
    }

    /// True while there is room for one more client on the control socket.
    fn accepts_clients(&self) -> bool {
        self.clients.len() + self.status_queries.len() < control::MAX_CLIENTS
    }

    fn serve_clients(&mut self) {
        while self.accepts_clients()
            && let Some(client) = self.control.as_ref().and_then(Control::accept)
        {
            self.clients.add(client);
        }
        for (client, line) in self.clients.read_lines() {
            self.on_command(client, &line);
        }
        self.clients.flush();
    }

    fn on_command(&mut self, client: UnixStream, line: &str) {
        let reply = match ControlCommand::parse(line) {
            Err(problem) => format!("{problem}\n"),
            Ok(ControlCommand::Status { json }) => return self.query_status(client, json),
            Ok(ControlCommand::Metrics) => self.metrics_json(),
            Ok(ControlCommand::Swap { allow_breaking_migration }) => {
                return self.swap(Swap { client: Some(client), allow_breaking_migration, ..Swap::default() });
            }
            Ok(ControlCommand::Upgrade) => {
                return self.swap(Swap { client: Some(client), upgrade_supervisor: true, ..Swap::default() });
            }
            Ok(ControlCommand::Stop) => {
                self.shut_down(0);
                "shutting down\n".into()
            }
            Ok(ControlCommand::Add) => {
                format!("{}\n", self.add_worker().map_or_else(|problem| problem, Into::into))
            }
            Ok(ControlCommand::Drain(name)) => match self.drain(name) {
                Ok(text) => format!("{text}\n"),
                Err(problem) => format!("not drained: {problem}\n"),
            },
            Ok(ControlCommand::Reopen) => {
                self.reopen_logs();
                "log files reopened\n".into()
            }
            Ok(ControlCommand::Level(change)) => self.change_level(change),
            Ok(ControlCommand::Raise(raise)) => self.raise_level(raise),
        };
        self.clients.reply(client, &reply);
    }
}

/// The files that the supervisor makes for itself.
#[derive(Default)]
struct OwnFiles {
    control: Option<Control>,
    pid_file: Option<PidFile>,
}

impl OwnFiles {
    /// As root: makes those, and the data directory, that belong into folders of root, and gives them to the user.
    fn prepare(&mut self, config: &Config, identity: &Identity) -> Result<(), StartError> {
        prepare_data_dir(config, identity)?;
        let is_roots = |path: &Path| only_root_changes(path.parent().unwrap_or(path));
        self.create(config, is_roots)?;
        let control = self.control.as_ref().map(|_| (control::path(config), false));
        let sockets = addresses(config).filter_map(Address::unix);
        let sockets = sockets.map(|address| (address.path.clone(), address.group.is_some()));
        // Root stays the owner of the pid file: who can write to it chooses the process that a script of root ends.
        for (path, has_group) in control.into_iter().chain(sockets) {
            identity.own(&path, !has_group).map_err(|error| not_given(&path, identity, &error))?;
        }
        Ok(())
    }

    /// Makes those whose paths are chosen, and that are not made yet.
    fn create(&mut self, config: &Config, is_chosen: impl Fn(&Path) -> bool) -> Result<(), StartError> {
        if self.control.is_none() && is_chosen(&control::path(config)) {
            self.control = Control::listen(config)?;
        }
        if let Some(path) = config.pid_file.as_ref().filter(|path| self.pid_file.is_none() && is_chosen(path)) {
            self.pid_file = Some(PidFile::write(path.clone())?);
        }
        Ok(())
    }
}

fn prepare_data_dir(config: &Config, identity: &Identity) -> Result<(), StartError> {
    identity.prepare_data_dir(&config.app.data).map_err(|error| not_given(&config.app.data, identity, &error))
}

fn not_given(path: &Path, identity: &Identity, error: &io::Error) -> StartError {
    StartError::new(format!("{} cannot be given to user {}: {error}", path.display(), identity.user))
}

/// All that the server listens on.
fn addresses(config: &Config) -> impl Iterator<Item = &Address> {
    config.listen.iter().chain(&config.status.listen.0)
}

/// For a task: what root starts runs as the user that serves, if the settings name one.
pub(crate) fn become_user(config: &Config) -> Result<(), StartError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let Some(identity) = Identity::of(config).map_err(StartError::new)? else { return Ok(()) };
    prepare_data_dir(config, &identity)?;
    identity.assume().map_err(StartError::new)
}

/// For `--check`: what keeps the server from listening, which includes what only root would refuse. Then this process
/// becomes the user that would serve, for what is checked next.
pub(crate) fn check_as_user(config: &Config) -> Result<(), Vec<String>> {
    let identity = Identity::of(config).map_err(|problem| vec![problem])?;
    let is_own = || send_command(config, "status").is_ok();
    let addresses: Vec<Address> = addresses(config).cloned().collect();
    let mut problems = Listeners::check(&addresses, is_own);
    if let Some(identity) = identity {
        problems.extend(check_socket_folders(config).err().map(|error| error.to_string()));
        let prepared = if config.app.data.exists() { identity.prepare_data_dir(&config.app.data) } else { Ok(()) };
        problems.extend(prepared.map_err(|error| error.to_string()).and_then(|()| identity.assume()).err());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Root makes sockets only where nobody else can move or replace them.
fn check_socket_folders(config: &Config) -> Result<(), StartError> {
    let folders = addresses(config).filter_map(Address::unix_path).filter_map(Path::parent);
    let unsafe_folder = folders.into_iter().find(|folder| !only_root_changes(folder));
    unsafe_folder.filter(|_| rustix::process::geteuid().is_root()).map_or(Ok(()), |folder| {
        Err(StartError::new(format!(
            "listen: other users can change {}, so root makes no socket there for `user`: choose a folder of root such as /run, or start the server as that user",
            folder.display()
        )))
    })
}

impl PidFile {
    /// Replaces the file. A link is not followed.
    fn write(path: PathBuf) -> Result<Self, StartError> {
        let write = || {
            match fs::symlink_metadata(&path) {
                Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a regular file")),
                Ok(_) => fs::remove_file(&path)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            let mut file = fs::File::create_new(&path)?;
            file.write_all(format!("{}\n", std::process::id()).as_bytes())
        };
        write().map_err(|error| StartError::new(format!("pid_file = {}: {error}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
