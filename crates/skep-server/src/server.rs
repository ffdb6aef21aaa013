//! From an application to a server that runs, and to its end.
//!
//! Start reading at [`Server::run`].

use std::ffi::OsString;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use skep::{App, Setup, Site};
use tokio::sync::{mpsc, watch};

use crate::background::Background;
use crate::config::{self, Command, Config, Fixed, Flags, Place, Sources};
use crate::connection;
use crate::jobs::Jobs;
use crate::listener::{Listener, Listeners, SocketFile};
use crate::log::Logs;
use crate::offload::Pool;
use crate::signals::{Outcome, Signals};
use crate::tls;
use crate::worker::{Life, Room, Worker};

/// Something in a worker thread went wrong that is our fault (`EX_SOFTWARE`).
const BROKEN: u8 = 70;

/// File descriptors that are not connections: listeners, files, databases.
const SPARE_FILES: u64 = 64;

/// A server that has not started.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     skep_server::Server::new(skep::App::new()).fix("log.access", "false").run()
/// }
/// ```
#[derive(Debug)]
pub struct Server {
    app: App,
    fixed: Vec<Fixed>,
    arguments: Vec<OsString>,
}

/// A server that runs in this process. [`stop`](Running::stop) ends it and waits for that; dropping it does not wait.
#[derive(Debug)]
pub struct Running {
    name: String,
    urls: Vec<String>,
    life: watch::Sender<Life>,
    workers: Vec<JoinHandle<()>>,
    ended: mpsc::UnboundedReceiver<Ended>,
    jobs: Option<Jobs>,
    grace: Duration,
    /// Removed from disk with this.
    _files: Vec<SocketFile>,
    logs: Option<Logs>,
}

/// A worker thread that ended, and whether it should have.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) as_told: bool,
}

/// Why a server did not start. The text, of one line or several, is for whoever starts it.
#[derive(Debug)]
pub struct StartError(String);

impl Server {
    /// A server for this application.
    #[must_use]
    pub fn new(app: App) -> Self {
        Self { app, fixed: Vec::new(), arguments: Vec::new() }
    }

    /// Fixes a setting: neither file nor environment nor flags can change it. Names and values are those of
    /// `docs/configuration.md`; what is wrong with them is said at start.
    #[must_use]
    pub fn fix(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.fixed.push(Fixed { name: name.into(), value: value.into() });
        self
    }

    /// Reads these flags. [`run`](Self::run) adds those that the program was started with.
    #[must_use]
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Does what the command line says: usually, serves until a signal ends it. For `main`.
    #[must_use]
    pub fn run(self) -> ExitCode {
        self.run_with(std::env::args_os().skip(1))
    }

    /// As [`run`](Self::run), with this command line instead of the program's own.
    #[must_use]
    pub fn run_with(self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
        match self.arguments(arguments).obey() {
            Ok(code) => code,
            Err(error) => {
                let _ = writeln!(io::stderr(), "{error}");
                ExitCode::FAILURE
            }
        }
    }

    fn obey(self) -> Result<ExitCode, StartError> {
        let flags = Flags::parse(self.arguments.iter().cloned())?;
        let (name, version) = self.name();
        match flags.command {
            None => {
                let forgotten = self.app.never_mounted();
                if !forgotten.is_empty() {
                    return Err(StartError(forgotten.join("\n")));
                }
                let (running, signals) = self.start_with(&flags, &Sources::of_process(), Signals::listen)?;
                Ok(running.until_signal(signals))
            }
            Some(Command::Help) => say(&config::help(&name)),
            Some(Command::Version) => say(&format!("{name} {version}\n")),
            Some(Command::Routes) => say(&self.routes()),
            Some(Command::PrintConfig) => {
                let (_, values) = Config::read(&flags, &self.fixed, &Sources::of_process())?;
                say(&config::print(&values))
            }
            Some(Command::Check) => self.check(&flags),
        }
    }

    /// Starts, and returns once connections are accepted. Neither the command line nor the environment nor a file is
    /// read: settings are those of [`fix`](Self::fix) and [`arguments`](Self::arguments). For tests, and for programs
    /// that serve besides doing something else.
    pub fn start(self) -> Result<Running, StartError> {
        let flags = Flags::parse(self.arguments.iter().cloned())?;
        self.start_with(&flags, &Sources::default(), || Ok(())).map(|(running, ())| running)
    }

    /// `before` is called when all is ready and nothing is accepted yet: whoever sees an answer may send a signal, and
    /// whoever waits for a start that hangs may, too, but wants to end it.
    fn start_with<T>(
        self,
        flags: &Flags,
        sources: &Sources,
        before: impl FnOnce() -> io::Result<T>,
    ) -> Result<(Running, T), StartError> {
        let (config, values) = Config::read(flags, &self.fixed, sources)?;
        let (name, version) = self.name();
        let logs = Logs::start(config.log.access, config.log.buffer)?;
        if let Ok(level) = config.log.level.parse() {
            logs.install(level);
        }
        // The addresses first: a second copy must not touch the first one's data.
        let workers = workers(&config);
        let defaulted = values.iter().any(|known| known.is("listen") && known.from == Place::Default);
        let listeners = Listeners::bind(&config.listen, defaulted, workers, config.backlog)?;
        let tls = tls::acceptor(&config.tls).map_err(StartError)?;
        make_folder(&config)?;
        let background = config.caches.need_a_runtime.then(Background::start).transpose()?;
        let site = {
            let _entered = background.as_ref().map(|background| background.handle().enter());
            Arc::new(self.app.open(setup(&config))?)
        };
        let urls = listeners.reached().iter().map(|reached| reached.url(tls.is_some())).collect();
        let (sockets, files) = listeners.split();
        let (life, watching) = watch::channel(Life::Serve);
        let (telling, ended) = mpsc::unbounded_channel();
        let mut running = Running {
            name: format!("{name} {version}"),
            urls,
            life,
            workers: Vec::new(),
            ended,
            jobs: Some(Jobs::start(&site, background)?),
            grace: config.grace,
            _files: files,
            logs: None,
        };
        let before = before()?;
        let room = Room::new(connections(&config));
        for listeners in sockets {
            let worker = worker(&config, &site, listeners, tls.clone(), &logs, room.clone(), watching.clone());
            running.workers.push(run_thread(worker, telling.clone())?);
        }
        running.logs = Some(logs);
        Ok((running, before))
    }

    /// `--check`: all that can be wrong, without serving.
    fn check(self, flags: &Flags) -> Result<ExitCode, StartError> {
        let (config, _) = Config::read(flags, &self.fixed, &Sources::of_process())?;
        let mut problems = self.app.never_mounted();
        let services = services(&self.app);
        problems.extend(tls::acceptor(&config.tls).err());
        problems.extend(make_folder(&config).err().map(|error| error.0));
        problems.extend(self.app.check(&setup(&config)).err().map(|error| error.to_string()));
        if problems.is_empty() { say(&services) } else { Err(StartError(problems.join("\n"))) }
    }

    /// The application's name, or else the executable's.
    fn name(&self) -> (String, String) {
        if let Some((name, version)) = self.app.name() {
            return (name.to_owned(), version.to_owned());
        }
        let executable = std::env::args_os().next().map(std::path::PathBuf::from);
        let name =
            executable.as_deref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
        (name.unwrap_or_else(|| "skep".to_owned()), env!("CARGO_PKG_VERSION").to_owned())
    }

    fn routes(&self) -> String {
        let routes = self.app.routes();
        let width = |of: fn(&skep::app::RouteLine) -> usize| routes.iter().map(of).max().unwrap_or(0);
        let (methods, paths) = (width(|line| line.method.len()), width(|line| line.path.len()));
        routes.iter().fold(String::new(), |table, line| {
            table + &format!("{:methods$}  {:paths$}  {}\n", line.method, line.path, line.target)
        })
    }
}

impl Running {
    /// Where the server can be reached, such as `http://127.0.0.1:8800`, in the order of the setting `listen`.
    #[must_use]
    pub fn urls(&self) -> &[String] {
        &self.urls
    }

    /// Accepts nothing more, lets requests finish for as long as `grace` says, and returns when all is done.
    pub fn stop(mut self) {
        self.drain();
        self.join();
    }

    fn drain(&self) {
        self.life.send_replace(Life::Drain);
    }

    fn join(&mut self) {
        for worker in self.workers.drain(..) {
            // How it ended has been told.
            let _ = worker.join();
        }
        if let Some(jobs) = self.jobs.take() {
            jobs.finish(self.grace);
        }
        if let Some(logs) = self.logs.take() {
            logs.finish();
        }
    }

    fn until_signal(mut self, signals: Signals) -> ExitCode {
        let threads = match self.workers.len() {
            1 => "1 thread".to_owned(),
            count => format!("{count} threads"),
        };
        let line = format!("{} listens on {} ({threads})\n", self.name, self.urls.join(" and "));
        let _ = say(&line);
        let (switch, workers) = (self.life.clone(), self.workers.len());
        let drain = || {
            switch.send_replace(Life::Drain);
        };
        match signals.wait(&mut self.ended, workers, drain) {
            Outcome::Done => {
                self.join();
                ExitCode::SUCCESS
            }
            Outcome::Broken => {
                tracing::error!("a worker thread ended by a fault of the server; giving up");
                self.at_once(BROKEN)
            }
            Outcome::AtOnce(signal) => self.at_once(128 + signal),
        }
    }

    /// Ends the process without waiting for requests, but not without what the log has.
    fn at_once(&mut self, code: u8) -> ExitCode {
        if let Some(logs) = self.logs.take() {
            logs.finish();
        }
        ExitCode::from(code)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.drain();
    }
}

/// What `--check` says of an application with nothing wrong.
fn services(app: &App) -> String {
    let services = match app.mounted() {
        1 => "1 service is mounted".to_owned(),
        count => format!("{count} services are mounted"),
    };
    let left_out = app.left_out().into_iter().map(|line| format!("left out on purpose: {line}\n"));
    format!("all is well: {services}\n{}", left_out.collect::<String>())
}

fn say(text: &str) -> Result<ExitCode, StartError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    Ok(ExitCode::SUCCESS)
}

fn setup(config: &Config) -> Setup {
    let mut setup = Setup::default();
    setup.data.clone_from(&config.data);
    setup.base_url.clone_from(&config.base_url);
    setup.development = config.development;
    setup.caches.clone_from(&config.caches.tiers);
    if config.caches.leave_the_process {
        setup.build = build();
    }
    setup.limits.body = config.limits.body;
    setup.limits.form_fields = config.limits.form_fields;
    setup.limits.once = config.limits.once;
    setup.limits.query_parameters = config.limits.query_parameters;
    setup.limits.session = config.limits.session;
    setup.limits.upload_file = config.limits.upload_file;
    setup.limits.upload_quota = config.limits.upload_quota;
    setup.limits.upload_total = config.limits.upload_total;
    setup.secret.clone_from(&config.secret);
    setup.session.idle = config.session.idle;
    setup.session.life = config.session.life;
    setup.offload = Arc::new(Pool::new(config.limits.blocking_threads));
    setup
}

/// A number for this build of the application: what another build keeps in a cache is not taken for what this one keeps.
fn build() -> u32 {
    let program = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
    // Without keys of chance, so that all processes of one build have the same number.
    let mut hash = DefaultHasher::new();
    hash.write(&program);
    u32::try_from(hash.finish() >> 32).unwrap_or_default()
}

fn worker(
    config: &Config,
    site: &Arc<Site>,
    listeners: Vec<Listener>,
    tls: Option<tokio_rustls::TlsAcceptor>,
    logs: &Logs,
    room: Room,
    life: watch::Receiver<Life>,
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
    }
}

/// Runs a worker on a thread of its own, and tells when it ends, however it does.
fn run_thread(worker: Worker, telling: mpsc::UnboundedSender<Ended>) -> io::Result<JoinHandle<()>> {
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
            Ok(()) => tell.1 = *life.borrow() == Life::Drain,
            Err(error) => tracing::error!(%error, "a worker thread could not go on"),
        }
    })
}

fn workers(config: &Config) -> usize {
    match config.workers {
        0 => thread::available_parallelism().map_or(1, Into::into),
        workers => workers,
    }
}

/// As many connections as were asked for, or as many as this process may have files open.
fn connections(config: &Config) -> usize {
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

fn make_folder(config: &Config) -> Result<(), StartError> {
    let folder = &config.data;
    let wrong = |what: &str, error: &dyn fmt::Display| {
        StartError(format!("the data folder {} {what}: {error}; name another with --data", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(|error| wrong("cannot be made", &error))?;
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(|error| wrong("cannot be written", &error))
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

/// All that keeps a server from starting explains itself.
macro_rules! explained_by {
    ($($error:ty),+) => {
        $(impl From<$error> for StartError {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        })+
    };
}

explained_by!(config::ConfigError, crate::listener::ListenError, skep::StartError, io::Error);
