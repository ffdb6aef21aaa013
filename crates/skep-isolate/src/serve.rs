//! `skep serve`.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use skep::{App, Setup, StartError};

use crate::application::Application;
use crate::data::{ServerSettings, ensure_distinct_data_dirs};
use crate::engine::{Host, Size};
use crate::error::Error;
use crate::mount::Mounting;
use crate::options::Options;
use crate::services::Taken;
use crate::settings::{self, Cache, Settings};
use crate::status;
use crate::table::Table;
use crate::watch;

/// Serves components until a signal ends the process. Takes the arguments after `serve`.
///
/// An error at the start is written to standard error, with exit code 1, or 2 if the command line is wrong.
///
/// ```no_run
/// skep_isolate::serve(vec!["app.wasm".into(), "--listen".into(), ":8800".into()]);
/// ```
pub fn serve(arguments: Vec<OsString>) -> ExitCode {
    match prepare(arguments) {
        Ok(server) => server.run_with([""; 0]),
        Err(error) => failed(&error),
    }
}

fn server(app: impl FnOnce() -> App + Send + 'static, arguments: &[OsString]) -> skep_server::Server {
    // Instances replace the processes of `prefork`, and what is forked has no threads, which this host needs.
    let app = || app().name("skep", env!("CARGO_PKG_VERSION"));
    // The executable may hold other applications, such as that of `skep drill`.
    let server = skep_server::Server::new(app).allow_unmounted_services().fix("mpm", "thread");
    server.settings(settings::rows()).usage(USAGE).arguments(arguments.iter().cloned())
}

/// A server for the components that the settings name.
fn prepare(mut arguments: Vec<OsString>) -> Result<skep_server::Server, Error> {
    let file = settings::take_file(&mut arguments)?;
    let resolved = server(App::new, &arguments).resolve()?;
    let Some(values) = resolved else {
        // What is asked needs no component. The help lists the settings of one.
        let rows = file.as_deref().map(settings::declared).unwrap_or_default();
        return Ok(server(move || App::new().mounted_settings(rows), &arguments));
    };
    let settings = Settings::new(file.as_deref(), &values)?;
    let (rows, cache) = (settings.declared.clone(), settings.compile_cache.clone());
    let hosts: Vec<String> = settings.applications.iter().flat_map(|options| options.hosts.iter().cloned()).collect();
    let table = Arc::new(table(settings.applications.clone(), settings.status.clone())?);
    let app = move || {
        let (on_start, on_status, check_cache) = (Arc::clone(&table), Arc::clone(&table), cache.clone());
        App::new()
            .mount("/", Mounting(table))
            .mounted_settings(rows)
            .hosts(hosts)
            .on_status(move |_| status::parts(&on_status))
            .on_check(move |setup| check(settings.applications, &check_cache, setup))
            .on_start(move |site| {
                let setup = site.setup().clone();
                let allow_breaking = setup.allow_breaking_migration;
                Ok(start(&on_start, &cache, &ServerSettings { setup, allow_breaking, taken: Taken::default() })?)
            })
    };
    Ok(server(app, &arguments))
}

fn table(options: Vec<Options>, status: Option<String>) -> Result<Table, Error> {
    Table::new(options.into_iter().map(|options| Arc::new(Application::new(options))).collect(), status)
}

/// Compiles, starts and probes all components, and stores nothing.
fn check(options: Vec<Options>, cache: &Cache, setup: &Setup) -> Result<Vec<String>, StartError> {
    // The optimising compiler may refuse what the baseline compiler accepts.
    let options = options.into_iter().map(|options| Options { baseline: false, ..options }).collect();
    let server = ServerSettings::for_check(setup.data.clone(), setup.settings.clone(), setup.database.clone());
    let table = table(options, None).map(Arc::new).map_err(|error| StartError::new(error.to_string()))?;
    start(&table, cache, &server).map_err(|error| StartError::new(error.to_string()))?;
    let line = |application: &Arc<Application>| {
        let options = &application.options;
        match application.current() {
            Some(version) => {
                format!("component {}: version {} of {} starts", options.name, version.hash, options.file.display())
            }
            None => format!("component {}: NOT served", options.name),
        }
    };
    Ok(table.applications.iter().map(line).collect())
}

pub(crate) fn failed(error: &Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{error}");
    ExitCode::from(if matches!(error, Error::Usage(_)) { 2 } else { 1 })
}

/// Compiles and starts all applications. An error of the only one keeps the server from starting; of several, the
/// others serve.
pub(crate) fn start(table: &Arc<Table>, cache: &Cache, server: &ServerSettings) -> Result<(), Error> {
    begin(table, server)?;
    let disk = cache.open()?;
    let options = || table.applications.iter().map(|application| &application.options);
    let host = Host::new(size(options()))?;
    let (mut started, mut errors) = (Vec::new(), Vec::new());
    for application in &table.applications {
        let name = &application.options.name;
        match application.start(&host, disk.as_ref()) {
            Ok(version) => {
                started.push((application, Arc::clone(&version)));
                let ms = u64::try_from(version.made.in_time.as_millis()).unwrap_or(u64::MAX);
                tracing::info!(target: "skep::isolate", app = name, version = %version.hash, ms, "ready");
            }
            Err(error) => errors.push((name, error)),
        }
    }
    if errors.len() == table.applications.len() {
        return Err(Error::Several(errors.into_iter().map(|(_, error)| error).collect()));
    }
    for (name, error) in errors {
        tracing::error!(target: "skep::isolate", app = name, "is not served: {error}");
    }
    if server.setup.temporary_database {
        return Ok(());
    }
    for (application, version) in started {
        application.optimise(version, &host, disk.as_ref());
    }
    watch::start(table, host, disk).map_err(|error| Error::io("cannot watch files", error))
}

/// Passes server settings to the applications.
fn begin(table: &Table, server: &ServerSettings) -> Result<(), Error> {
    let applications = &table.applications;
    let names = applications.iter().map(|application| application.options.name.as_str());
    ensure_distinct_data_dirs(&server.setup.data, names)?;
    if applications.len() > 1 && server.setup.secret.is_some() {
        return Err(Error::invalid(
            "`secret` names one file of keys for several applications, each of which could sign for the others: leave it out, and \
             each has its own, DATA/NAME/secret",
        ));
    }
    for application in applications {
        application.options.data.begin(server.clone());
    }
    Ok(())
}

/// The size of an engine for all of them.
pub(crate) fn size<'o>(options: impl Iterator<Item = &'o Options> + Clone) -> Size {
    Size {
        instances: options.clone().map(|one| one.instances + BESIDE).sum::<u32>(),
        fuel: options.clone().any(|one| one.fuel.is_some()),
        functions: FUNCTIONS,
    }
}

/// Bytes of a generation of compiled functions, which are kept for the next version: `function_cache.rs`.
const FUNCTIONS: usize = 8 << 20;

/// Instances of an application without a request: one for probes, and those for the jobs of this version and of the one
/// before.
const BESIDE: u32 = 3;

const USAGE: &str = "\
Usage: skep serve FILE [FLAGS]   serve a component
       skep serve [FLAGS]        serve the components of [component.NAME] in skep.toml

A component is a program for wasi:http 0.2, in any language. Each request has an instance of its own.";
