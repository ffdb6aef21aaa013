//! From an application to a server that runs, and to its end.
//!
//! Start reading at [`Server::run`].

mod parts;
mod recipe;
mod report;
mod running;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use skep::App;
use tokio::sync::{mpsc, watch};

use crate::background::Background;
use crate::config::{self, Command, Config, Fixed, Flags, Model, Sources};
use crate::jobs::Jobs;
use crate::listener::{Listener, Listeners, SocketFile};
use crate::log::Logs;
use crate::prefork;
use crate::seat::{Place, Seat};
use crate::signals::Signals;
use crate::supervisor::{self, Supervisor};
use crate::tls;
use crate::worker::{Life, Room};

pub(crate) use parts::{connections, make_folder, probe, setup, worker, workers};
use recipe::Name;
pub use recipe::Recipe;
pub(crate) use report::{of_process as report_of_process, of_processes as report_of_processes, quoted};
pub use running::Running;

/// A server that has not started.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     skep_server::Server::new(skep::App::new).fix("log.access", "false").run()
/// }
/// ```
#[derive(Debug)]
pub struct Server {
    app: Recipe,
    fixed: Vec<Fixed>,
    arguments: Vec<OsString>,
    /// Tables of `skep.toml` that the program reads itself.
    left: Vec<&'static str>,
    /// The executable has other applications, too.
    among_others: bool,
}

/// A worker thread that ended, and whether it should have.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) as_told: bool,
}

/// Where a server's sockets come from.
#[derive(Clone, Copy)]
enum Sockets<'s> {
    /// It opens them itself. `defaulted`: nobody said which.
    Bind { defaulted: bool },
    /// A supervisor has them.
    Given(&'s Seat),
}

/// Sockets, for each thread its own.
struct Taken<'s> {
    threads: Vec<Vec<Listener>>,
    reached: Vec<crate::listener::Reached>,
    files: Vec<SocketFile>,
    seat: Option<&'s Seat>,
}

impl<'s> Sockets<'s> {
    fn take(self, config: &Config) -> Result<Taken<'s>, StartError> {
        match self {
            Self::Given(seat) => {
                let threads = seat.listeners()?;
                Ok(Taken { threads, reached: Vec::new(), files: Vec::new(), seat: Some(seat) })
            }
            Self::Bind { defaulted } => {
                let listeners = Listeners::bind(&config.listen, defaulted, workers(config), config.backlog)?;
                let reached = listeners.reached().to_vec();
                let (threads, files) = listeners.split();
                Ok(Taken { threads, reached, files, seat: None })
            }
        }
    }
}

/// Why a server did not start. The text, of one line or several, is for whoever starts it.
#[derive(Debug)]
pub struct StartError(pub(crate) String);

impl Server {
    /// A server for the application that `app` makes.
    ///
    /// A function is called where it serves, by each worker for itself, and never by the supervisor: that has the [`Recipe`] only. With `prefork`
    /// it is called on a thread that has ended before processes are forked, so the application keeps nothing that belongs to a thread. At the start
    /// it is called once more: before an address is taken, a copy of the supervisor looks whether all services are mounted, and ends with that. What
    /// that is not to do twice belongs into [`App::on_start`].
    #[must_use]
    pub fn new(app: impl Into<Recipe>) -> Self {
        Self { app: app.into(), fixed: Vec::new(), arguments: Vec::new(), left: Vec::new(), among_others: false }
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

    /// Leaves a table of `skep.toml`, `[table]` and all tables in it, to the program: what it holds is no setting of the server.
    ///
    /// ```no_run
    /// // [shop] is the program's own; [log] is still the server's, and [lgo] still an error.
    /// let code = skep_server::Server::new(skep::App::new).leave("shop").run();
    /// ```
    #[must_use]
    pub fn leave(mut self, table: &'static str) -> Self {
        self.left.push(table);
        self
    }

    /// Says that the executable holds other applications, too: a service that this one does not mount is one of theirs, and not forgotten.
    ///
    /// ```no_run
    /// // Which one it is, the first word of the command line says.
    /// let code = skep_server::Server::new(skep::App::new).among_others().run_with(std::env::args_os().skip(2));
    /// ```
    #[must_use]
    pub fn among_others(mut self) -> Self {
        self.among_others = true;
        self
    }

    fn sources(&self) -> Sources {
        Sources { left: self.left.clone(), ..Sources::of_process() }
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
        match flags.command {
            None => self.serve(&flags),
            Some(Command::Control) => {
                let (config, _) = Config::read(&flags, &self.fixed, &self.sources())?;
                say(&supervisor::ask(&config, &flags.word).map_err(StartError)?)
            }
            Some(Command::Help) => say(&config::help(&Name::of(&self.app.make()).name)),
            Some(Command::Version) => say(&format!("{}\n", Name::of(&self.app.make()))),
            Some(Command::Routes) => say(&routes(&self.app.make())),
            Some(Command::PrintConfig) => {
                let (_, values) = Config::read(&flags, &self.fixed, &self.sources())?;
                say(&config::print(&values))
            }
            Some(Command::Check) => self.check(&flags),
        }
    }

    /// Serves: as a worker if a supervisor has started this process, and otherwise as a supervisor or by itself.
    fn serve(self, flags: &Flags) -> Result<ExitCode, StartError> {
        if let Some(seat) = Seat::of_process()? {
            // The supervisor says why, where it knows what that means.
            return Ok(self.work(&seat, flags).unwrap_or_else(|error| {
                seat.say(&format!("failed {}", error.0));
                ExitCode::FAILURE
            }));
        }
        let (config, values) = Config::read(flags, &self.fixed, &self.sources())?;
        let defaulted = config::is_default(&values, "listen");
        if config.supervise {
            // How the application is made is for other processes than this one.
            let (app, among_others) = (self.app, self.among_others);
            let look = |first: &dyn Fn() -> Result<(), String>| {
                if among_others { Ok(()) } else { app.look_apart(first) }
            };
            return Ok(Supervisor::start(Name::of_executable().to_string(), config, defaulted, look)?.run());
        }
        let app = self.app.make_whole(self.among_others)?;
        let sockets = Sockets::Bind { defaulted };
        let (running, signals) = start_with(app, &config, sockets, || Signals::listen(None))?;
        running.announce();
        Ok(running.until_told(signals))
    }

    /// The life of a worker under a supervisor.
    fn work(self, seat: &Seat, flags: &Flags) -> Result<ExitCode, StartError> {
        seat.title("starting");
        let (config, _) = Config::read(flags, &self.fixed, &self.sources())?;
        let app = || -> Result<App, StartError> {
            let app = self.app.make_whole(self.among_others)?;
            if app.name().is_some() {
                seat.say(&format!("name {}", Name::of(&app)));
            }
            Ok(app)
        };
        if config.mpm == Model::Prefork {
            return prefork::run(app, &config, seat);
        }
        let app = app()?;
        let channel = seat.channel.try_clone()?;
        let (running, signals) = start_with(app, &config, Sockets::Given(seat), || Signals::listen(Some(channel)))?;
        seat.title("ready");
        seat.say("ready");
        Ok(running.until_told(signals))
    }

    /// Starts, and returns once connections are accepted. Neither the command line nor the environment nor a file is
    /// read: settings are those of [`fix`](Self::fix) and [`arguments`](Self::arguments). For tests, and for programs
    /// that serve besides doing something else: there is no supervisor, and no other model than `thread`.
    pub fn start(self) -> Result<Running, StartError> {
        let flags = Flags::parse(self.arguments.iter().cloned())?;
        let (config, values) = Config::read(&flags, &self.fixed, &Sources::default())?;
        let sockets = Sockets::Bind { defaulted: config::is_default(&values, "listen") };
        start_with(self.app.make(), &config, sockets, || Ok(())).map(|(running, ())| running)
    }

    /// `--check`: all that can be wrong, without serving.
    fn check(self, flags: &Flags) -> Result<ExitCode, StartError> {
        let (config, _) = Config::read(flags, &self.fixed, &self.sources())?;
        let app = self.app.make();
        let mut problems = if self.among_others { Vec::new() } else { app.never_mounted() };
        let services = services(&app);
        problems.extend(tls::acceptor(&config.tls).err());
        problems.extend(make_folder(&config).err().map(|error| error.0));
        problems.extend(app.check(&setup(&config, None)).err().map(|error| error.to_string()));
        if problems.is_empty() { say(&services) } else { Err(StartError(problems.join("\n"))) }
    }
}

/// `before` is called when all is ready and nothing is accepted yet: whoever sees an answer may send a signal, and
/// whoever waits for a start that hangs may, too, but wants to end it.
fn start_with<T>(
    app: App,
    config: &Config,
    sockets: Sockets<'_>,
    before: impl FnOnce() -> io::Result<T>,
) -> Result<(Running, T), StartError> {
    if config.mpm == Model::Prefork {
        return Err(StartError("mpm = prefork needs a supervisor: leave supervise = true".into()));
    }
    let name = Name::of(&app);
    let logs = Logs::start(config.log.access, config.log.buffer)?;
    if let Ok(level) = config.log.level.parse() {
        logs.install(level);
    }
    // The addresses first: a second copy must not touch the first one's data.
    let taken = sockets.take(config)?;
    let tls = tls::acceptor(&config.tls).map_err(StartError)?;
    make_folder(config)?;
    let background = config.caches.need_a_runtime.then(Background::start).transpose()?;
    let setup = setup(config, taken.seat);
    let site = {
        let _entered = background.as_ref().map(|background| background.handle().enter());
        Arc::new(app.open(setup)?)
    };
    probe(&site, config)?;
    let urls = taken.reached.iter().map(|reached| reached.url(tls.is_some())).collect();
    let (life, watching) = watch::channel(if taken.seat.is_some() { Life::Wait } else { Life::Serve });
    let (telling, ended) = mpsc::unbounded_channel();
    let mut running = Running {
        name: name.to_string(),
        urls,
        life,
        workers: Vec::new(),
        ended,
        site: Some(Arc::clone(&site)),
        jobs: Some(Jobs::start(&site, background)?),
        grace: config.grace,
        _files: taken.files,
        logs: None,
    };
    let before = before()?;
    let room = Room::new(connections(config));
    for (number, listeners) in taken.threads.into_iter().enumerate() {
        let place = taken.seat.map(|seat| Place::new(&seat.board, number));
        let worker = worker(config, &site, listeners, tls.clone(), &logs, room.clone(), watching.clone(), place);
        running.workers.push(parts::run_thread(worker, telling.clone())?);
    }
    running.logs = Some(logs);
    Ok((running, before))
}

fn routes(app: &App) -> String {
    let routes = app.routes();
    let width = |of: fn(&skep::app::RouteLine) -> usize| routes.iter().map(of).max().unwrap_or(0);
    let (methods, paths) = (width(|line| line.method.len()), width(|line| line.path.len()));
    routes.iter().fold(String::new(), |table, line| {
        table + &format!("{:methods$}  {:paths$}  {}\n", line.method, line.path, line.target)
    })
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

pub(crate) fn say(text: &str) -> Result<ExitCode, StartError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    Ok(ExitCode::SUCCESS)
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
