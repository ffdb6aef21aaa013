//! From an application to a running server, and its shutdown.
//!
//! Start reading at [`Server::run`].

mod check;
mod factory;
mod running;
mod start;
mod task;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use skep::settings::{RawSetting, RawValue, Row, Source, Values};
use skep::{App, Secret, Setup};
use skep_observe::log::OwnSubscriber;
use skep_observe::numbers;

use crate::assembly::app_setup;
use crate::config::{self, Command, Config, Flags, Model, Reading, Sources};
use crate::deployment;
use crate::error::StartError;
use crate::handoff::{StatusHandoff, WorkerHandoff};
use crate::prefork;
use crate::resources::{check_limits, create_data_dir, print};
use crate::routes;
use crate::signals::Signals;
use crate::status_server;
use crate::supervisor::{self, Supervisor};
use crate::tls;

pub use factory::AppFactory;
use factory::Name;
pub use running::Running;
use start::{Host, start_with};

/// The exit code for a command line that is wrong.
const BAD_USAGE: u8 = 2;

/// A server that has not started.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     let server = skep_server::Server::new(skep::App::new).usage("Usage: shop [FLAGS]").fix("log.access", "false");
///     server.arguments(["--listen", ":8080"]).ignore_table("deploy").settings([]).run()
/// }
/// ```
#[derive(Debug)]
pub struct Server {
    app: AppFactory,
    fixed: Vec<RawSetting>,
    arguments: Vec<OsString>,
    /// Tables of `skep.toml` that something else reads.
    ignored_tables: Vec<&'static str>,
    /// Settings of the program around the application.
    rows: Vec<Row>,
    usage: Option<String>,
    allow_unmounted_services: bool,
    subscriber: Option<OwnSubscriber>,
    keeps_nothing: bool,
}

impl Server {
    /// A server for the application that `app` creates.
    ///
    /// Each worker calls the function; the supervisor never does. With `prefork` it is called on a thread that exits
    /// before processes are forked, so the application must not keep anything that belongs to a thread. It is called
    /// once more at start: before an address is bound, a child process checks that all services are mounted, and exits.
    /// Put side effects that must happen once into [`App::on_start`].
    #[must_use]
    pub fn new(app: impl Into<AppFactory>) -> Self {
        Self {
            app: app.into(),
            fixed: Vec::new(),
            arguments: Vec::new(),
            ignored_tables: Vec::new(),
            rows: Vec::new(),
            usage: None,
            allow_unmounted_services: false,
            subscriber: None,
            keeps_nothing: false,
        }
    }

    /// A server for a test, to [`start`](Self::start): on a free port of this machine, with a temporary database,
    /// temporary keys and files, and mail that is collected ([`Running::site`]).
    ///
    /// ```
    /// let server = skep_server::Server::for_test(skep::App::new).start()?;
    /// assert!(server.url().starts_with("http://127.0.0.1:"));
    /// # server.stop();
    /// # Ok::<(), skep_server::StartError>(())
    /// ```
    #[must_use]
    pub fn for_test(app: impl Into<AppFactory>) -> Self {
        let server = Self { keeps_nothing: true, ..Self::new(app) };
        server.arguments(["--listen", "127.0.0.1:0"]).arguments(["--set", "log.access=false"])
    }

    /// Fixes a setting: neither the file nor the environment nor flags can change it. `docs/reference/configuration.md`
    /// lists names and values. An invalid one is reported at start. [`Server`] has an example.
    #[must_use]
    pub fn fix(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let value = RawValue::Text(value.into());
        self.fixed.push(RawSetting { name: name.into(), value, source: Source::Fixed });
        self
    }

    /// Adds flags, which are parsed like the command line. [`run`](Self::run) appends those of the program. [`Server`]
    /// has an example.
    #[must_use]
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Ignores `[table]` and its sub-tables in `skep.toml`: something else reads them. Settings of the application
    /// itself are declared with [`App::settings`]. [`Server`] has an example.
    #[must_use]
    pub fn ignore_table(mut self, table: &'static str) -> Self {
        self.ignored_tables.push(table);
        self
    }

    /// Adds settings to the server's table, for a program around the application such as `skep serve`. [`Server`] has
    /// an example.
    #[must_use]
    pub fn settings(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.rows.extend(rows);
        self
    }

    /// Replaces the first lines of `--help`. [`Server`] has an example.
    #[must_use]
    pub fn usage(mut self, usage: impl Into<String>) -> Self {
        self.usage = Some(usage.into());
        self
    }

    /// Resolves the settings that are known so far, without judging those of an application: for a program that reads
    /// its own settings before it knows its application. `None` if the command line asks for something that needs no
    /// settings, such as `--help`.
    ///
    /// ```
    /// let values = skep_server::Server::new(skep::App::new).arguments(["--listen", ":0"]).resolve()?;
    /// assert_eq!(values.unwrap().get("listen").unwrap().value.to_string(), ":0");
    /// # Ok::<(), skep_server::StartError>(())
    /// ```
    ///
    /// # Errors
    /// All that is wrong with them.
    pub fn resolve(&self) -> Result<Option<Values>, StartError> {
        let flags = self.flags()?;
        match flags.command {
            Some(Command::Help | Command::Version | Command::Control | Command::GenerateSecret) => Ok(None),
            _ => Ok(Some(self.reading(&flags).read(None)?.values)),
        }
    }

    /// Allows services that the application does not mount. For an executable with several applications.
    ///
    /// ```no_run
    /// // The first word of the command line selects the application.
    /// let server = skep_server::Server::new(skep::App::new).allow_unmounted_services();
    /// let code = server.run_with(std::env::args_os().skip(2));
    /// ```
    #[must_use]
    pub fn allow_unmounted_services(mut self) -> Self {
        self.allow_unmounted_services = true;
        self
    }

    /// Adds a subscriber of `tracing` beside the log: layers of `tracing-subscriber`, OpenTelemetry, Sentry. It gets
    /// all events, of the levels that it wants, and the span `request` of each request.
    ///
    /// `make` is called in each process that runs the application, at its start; with `mpm = prefork` after the fork,
    /// so that it may start threads. It returns the subscriber, and what is dropped at the end of the process, such as
    /// a guard that sends the rest; `()` for nothing. A subscriber that `main` installs for the whole process replaces
    /// the log instead, and then this one is not made.
    ///
    /// ```no_run
    /// use tracing_subscriber::prelude::*;
    ///
    /// let server = skep_server::Server::new(skep::App::new).subscriber(|| {
    ///     let layer = tracing_subscriber::filter::LevelFilter::WARN; // or of tracing-opentelemetry, of sentry-tracing
    ///     (tracing_subscriber::registry().with(layer), ())
    /// });
    /// ```
    #[must_use]
    pub fn subscriber<S, G>(mut self, make: impl FnOnce() -> (S, G) + Send + 'static) -> Self
    where
        S: tracing::Subscriber + Send + Sync,
        G: Send + 'static,
    {
        self.subscriber = Some(OwnSubscriber::new(make));
        self
    }

    fn flags(&self) -> Result<Flags, StartError> {
        Flags::parse(self.arguments.iter().cloned(), &config::table(&self.rows))
    }

    fn reading(&self, flags: &Flags) -> Reading {
        let sources = Sources { ignored_tables: self.ignored_tables.clone(), ..Sources::of_process() };
        Reading { flags: flags.clone(), fixed: self.fixed.clone(), sources, rows: self.rows.clone() }
    }

    /// Executes the command line: usually, serves until a signal stops the server. For `main`. [`Server`] has an
    /// example.
    #[must_use]
    pub fn run(self) -> ExitCode {
        self.run_with(std::env::args_os().skip(1))
    }

    /// Like [`run`](Self::run), with this command line instead of the program's.
    /// [`allow_unmounted_services`](Self::allow_unmounted_services) has an example.
    #[must_use]
    pub fn run_with(self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
        match self.arguments(arguments).execute() {
            Ok(code) => code,
            Err(error) => {
                let _ = writeln!(io::stderr(), "{error}");
                ExitCode::from(if error.is_usage() { BAD_USAGE } else { 1 })
            }
        }
    }

    fn execute(self) -> Result<ExitCode, StartError> {
        let flags = self.flags()?;
        match flags.command {
            None => self.serve(&flags),
            Some(Command::Control) => {
                let config = self.reading(&flags).read(None)?.config;
                print(&supervisor::send_command(&config, &flags.control_command).map_err(StartError::new)?)
            }
            Some(Command::Backup) => {
                let config = self.reading(&flags).read(None)?.config;
                print(&back_up(&self.app.create(), &config, &flags.backup)?)
            }
            Some(Command::Restore) => {
                let config = self.reading(&flags).read(None)?.config;
                print(&restore(&self.app.create(), &config, &flags.backup)?)
            }
            Some(Command::Migrations) => {
                let reading = self.reading(&flags);
                let app = self.app.create();
                let settings = reading.read(Some(&app.setting_rows()))?;
                let setup = app_setup(&settings.config, settings.application, None)?;
                let lines = app.migrations(&setup).map_err(|error| StartError::new(error.to_string()))?;
                let list = if lines.is_empty() { "no migrations".to_owned() } else { lines.join("\n") };
                print(&(list + "\n"))
            }
            Some(Command::Run) => {
                let reading = self.reading(&flags);
                let app = self.app.create();
                let settings = reading.read(Some(&app.setting_rows()))?;
                task::run(app, settings, self.subscriber, &flags.task)
            }
            Some(Command::LogToken) => {
                let settings = self.reading(&flags).read(None)?;
                print(&log_token(&app_setup(&settings.config, Vec::new(), None)?, &flags.log_token)?)
            }
            Some(Command::Help) => {
                let app = self.app.create();
                let name = Name::of(&app).name;
                let usage =
                    self.usage.unwrap_or_else(|| format!("Usage: {name} [FLAGS]\n\nServe until TERM or Ctrl-C."));
                let rows: Vec<Row> = self.rows.into_iter().chain(app.setting_rows()).collect();
                print(&config::help(&usage, &rows))
            }
            Some(Command::Version) => print(&format!("{}\n", Name::of(&self.app.create()))),
            Some(Command::GenerateSecret) => {
                let key = Secret::generate_key().map_err(|error| StartError::new(error.to_string()))?;
                print(key.reveal())
            }
            Some(Command::Routes) if flags.sql => {
                let routes = routes::table(&self.app.create());
                print(&format!("{routes}\n{}", routes::of_tables(&skep::sql::statements())))
            }
            Some(Command::Routes) if flags.json => print(&routes::json(&self.app.create())),
            Some(Command::Routes) => print(&routes::table(&self.app.create())),
            Some(Command::PrintConfig) => {
                let reading = self.reading(&flags);
                let rows = self.app.create().setting_rows();
                print(&config::print(&reading.read(Some(&rows))?.values))
            }
            Some(Command::Check) => self.check(&flags),
        }
    }

    /// Serves: as a worker if a supervisor has started this process, and otherwise as a supervisor or unsupervised.
    fn serve(self, flags: &Flags) -> Result<ExitCode, StartError> {
        if let Some(handoff) = StatusHandoff::of_process()? {
            return status_server::run(handoff, &self.reading(flags).read(None)?.config);
        }
        if let Some(handoff) = WorkerHandoff::of_process()? {
            // The supervisor prints the reason: it knows whether this is a start or a swap.
            return Ok(self.work(&handoff, flags).unwrap_or_else(|error| {
                handoff.send(&format!("failed {error}"));
                ExitCode::FAILURE
            }));
        }
        let reading = self.reading(flags);
        let settings = reading.read(None)?;
        let (config, defaulted) = (settings.config, settings.values.is_default("listen"));
        if config.supervise {
            let (app, allow_unmounted) = (self.app, self.allow_unmounted_services);
            let check =
                |prepare: &dyn Fn() -> Result<(), String>| app.check_in_child(prepare, &reading, allow_unmounted);
            return Ok(Supervisor::start(Name::of_executable().to_string(), config, defaulted, check)?.run());
        }
        let app = self.app.create_checked(self.allow_unmounted_services)?;
        let settings = reading.read(Some(&app.setting_rows()))?;
        let (running, signals) = start_with(app, settings, self.subscriber, Host::Process, || Signals::listen(None))?;
        running.announce();
        Ok(running.run_until_stopped(signals))
    }

    /// Runs a worker of a supervisor until it exits.
    fn work(self, handoff: &WorkerHandoff, flags: &Flags) -> Result<ExitCode, StartError> {
        handoff.title("starting");
        let reading = self.reading(flags);
        let config = reading.read(None)?.config;
        let app = || -> Result<(App, Vec<RawSetting>), StartError> {
            let app = self.app.create_checked(self.allow_unmounted_services)?;
            if app.name_and_version().is_some() {
                handoff.send(&format!("name {}", Name::of(&app)));
            }
            let settings = reading.read(Some(&app.setting_rows()))?;
            Ok((app, settings.application))
        };
        if config.mpm == Model::Prefork {
            return prefork::run(app, &config, handoff, self.subscriber);
        }
        let (app, application) = app()?;
        let settings = config::Settings { config, application, values: Values::default() };
        let channel = handoff.channel.try_clone()?;
        let (running, signals) =
            start_with(app, settings, self.subscriber, Host::Worker(handoff), || Signals::listen(Some(channel)))?;
        handoff.title("ready");
        handoff.send("ready");
        Ok(running.run_until_stopped(signals))
    }

    /// Starts without a supervisor, with the model `thread`, and returns once connections are accepted. Settings come
    /// from [`fix`](Self::fix) and [`arguments`](Self::arguments) only. For tests, and for programs that do something
    /// else besides serving.
    ///
    /// ```
    /// let server = skep_server::Server::new(skep::App::new).arguments(["--listen", "127.0.0.1:0", "--set", "log.access=false"]);
    /// # let data = std::env::temp_dir().join(format!("skep-doc-start-{}", std::process::id()));
    /// # let server = server.fix("data", data.to_str().unwrap());
    /// let running = server.start()?;
    /// assert!(running.urls()[0].starts_with("http://127.0.0.1:"));
    /// running.stop();
    /// # let _ = std::fs::remove_dir_all(data);
    /// # Ok::<(), skep_server::StartError>(())
    /// ```
    pub fn start(self) -> Result<Running, StartError> {
        let flags = self.flags()?;
        let reading = Reading { sources: Sources::default(), ..self.reading(&flags) };
        let app = self.app.create();
        let settings = reading.read(Some(&app.setting_rows()))?;
        let host = if self.keeps_nothing { Host::Test } else { Host::Process };
        start_with(app, settings, self.subscriber, host, || Ok(())).map(|(running, ())| running)
    }

    /// `--check`: reports everything that can be wrong, without serving.
    fn check(self, flags: &Flags) -> Result<ExitCode, StartError> {
        let reading = self.reading(flags);
        let app = self.app.create();
        let mut problems = if self.allow_unmounted_services { Vec::new() } else { app.unmounted_services() };
        let settings = match reading.read(Some(&app.setting_rows())) {
            Ok(settings) => settings,
            Err(wrong) => {
                problems.push(wrong.to_string());
                return Err(StartError::new(problems.join("\n")));
            }
        };
        let config = &settings.config;
        let summary = check_summary(&app);
        problems.extend(check_limits(config).err());
        let is_data_made_by_root = check::is_data_made_by_root(config);
        problems.extend(supervisor::check_as_user(config).err().unwrap_or_default());
        problems.extend(tls::acceptor(&config.tls, true).err());
        // What is missing is made by the start.
        let data = if config.app.data.exists() { create_data_dir(config) } else { Ok(()) };
        problems.extend(data.err().map(|error| error.to_string()));
        problems.extend(check::unwritable(config, &settings.values, is_data_made_by_root));
        let base_url = config.app.base_url.clone().or_else(|| app.own_base_url().cloned());
        let missing = if flags.deploy { deployment::missing(config, base_url.as_ref()) } else { Vec::new() };
        let setup = app_setup(config, settings.application, None);
        let reports = setup.and_then(|setup| Ok(app.check(&setup)?));
        let reports = reports.map_err(|error| problems.push(error.to_string())).unwrap_or_default();
        let warnings = deployment::exposed_caches(config);
        if !problems.is_empty() {
            return Err(StartError::new(problems.join("\n")));
        }
        if !missing.is_empty() {
            print(&format!("this starts, and for the internet it lacks:\n{}\n", missing.join("\n")))?;
            return Ok(ExitCode::FAILURE);
        }
        if reports.is_empty() && warnings.is_empty() {
            return print(&summary);
        }
        let lines: Vec<String> =
            reports.into_iter().chain(warnings.iter().map(|line| format!("warning: {line}"))).collect();
        print(&format!("no problems found\n{}\n", lines.join("\n")))
    }
}

/// PostgreSQL has programs for it.
fn check_is_sqlite(config: &Config) -> Result<(), StartError> {
    match config.app.database {
        Some(_) => Err(StartError::new(
            "the setting `database` names PostgreSQL: back it up with pg_dump, and restore it with pg_restore"
                .to_owned(),
        )),
        None => Ok(()),
    }
}

/// Copies the database, and says what that took.
fn back_up(app: &App, config: &Config, to: &Path) -> Result<String, StartError> {
    check_is_sqlite(config)?;
    let started = Instant::now();
    let copies = app.back_up(&config.app.data, to, &config.database_addresses());
    let copies = copies.map_err(|error| StartError::new(error.to_string()))?;
    let took = numbers::micros(started.elapsed().as_micros());
    let line = |(copy, size): &(PathBuf, u64)| {
        format!("backed up to {}: {} in {took}\n", copy.display(), numbers::bytes(*size))
    };
    Ok(copies.iter().map(line).collect())
}

/// Puts a backup in the place of the database, unless a server runs.
fn restore(app: &App, config: &Config, backup: &Path) -> Result<String, StartError> {
    check_is_sqlite(config)?;
    // A supervisor is asked, too: its workers may have no connection to the database just now.
    if supervisor::send_command(config, "status").is_ok() {
        let backup = backup.display();
        let text =
            format!("{backup} is not restored, and nothing has changed: a server runs; end it by --control stop");
        return Err(StartError::new(text));
    }
    let restored = app.restore(&config.app.data, backup, &config.database_addresses());
    let restored = restored.map_err(|error| StartError::new(error.to_string()))?;
    let line = |(backup, old): &(PathBuf, Option<PathBuf>)| {
        let kept = old.as_ref().map(|old| format!("; the old database is {}", old.display())).unwrap_or_default();
        format!("restored {}{kept}\n", backup.display())
    };
    Ok(restored.iter().map(line).collect())
}

/// `debug 1h`: a token for `Skep-Log`, on a line.
fn log_token(setup: &Setup, words: &str) -> Result<String, StartError> {
    let wrong =
        || StartError::usage(format!("--log-token \"{words}\": expected a level and a duration, such as \"debug 1h\""));
    let (level, lasts) = words.trim().split_once(' ').ok_or_else(wrong)?;
    let level = level.parse().map_err(|_| wrong())?;
    let lasts = skep_units::parse_duration(lasts.trim()).map_err(|_| wrong())?;
    let token = App::log_token(setup, level, lasts).map_err(|error| StartError::new(error.to_string()))?;
    Ok(token + "\n")
}

/// What `--check` prints if there is no problem.
fn check_summary(app: &App) -> String {
    let services = match app.service_count() {
        1 => "1 service is mounted".to_owned(),
        count => format!("{count} services are mounted"),
    };
    let left_out = app.allowed_unmounted().into_iter().map(|line| format!("left out on purpose: {line}\n"));
    format!("no problems found: {services}\n{}", left_out.collect::<String>())
}
