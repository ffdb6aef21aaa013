//! `skep serve`.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use skep::App;

use crate::application::Application;
use crate::engine::{Host, Size};
use crate::error::Wrong;
use crate::options::{Options, TABLE};
use crate::services::{Server, apart};
use crate::settings::{Cache, OTHERS, Settings};
use crate::status;
use crate::table::{Mounting, Table};
use crate::watch;

/// Serves components as the command line says, until a signal ends it. What follows `serve` comes in.
///
/// Why it could not start is said on standard error, with exit code 1.
///
/// ```no_run
/// skep_isolate::serve(vec!["app.wasm".into(), "--listen".into(), ":8800".into()]);
/// ```
pub fn serve(arguments: Vec<OsString>) -> ExitCode {
    let asks = |names: &[&str]| arguments.iter().any(|argument| names.iter().any(|name| argument == name));
    if asks(&["--help", "-h"]) {
        print!("{}", help());
        return server(App::new).run_with(["--help"]);
    }
    // What they ask needs no component.
    if asks(&["--version", "-V"]) {
        return server(App::new).run_with(arguments);
    }
    let is_check = asks(&["--check"]);
    match prepare(arguments, is_check) {
        Ok((settings, table)) => {
            let (cache, allow_breaking) = (settings.compile_cache, settings.allow_breaking);
            if is_check && let Err(wrong) = start(&table, &cache, &Server::that_only_looks(settings.data)) {
                return failed(&wrong);
            }
            let (on_start, on_status) = (Arc::clone(&table), Arc::clone(&table));
            let app = move || {
                App::new().mount("/", Mounting(table)).on_status(move |_| status::parts(&on_status)).on_start(
                    move |site| Ok(start(&on_start, &cache, &Server { setup: site.setup().clone(), allow_breaking })?),
                )
            };
            server(app).run_with(settings.rest)
        }
        Err(wrong) => failed(&wrong),
    }
}

fn server(app: impl FnOnce() -> App + Send + 'static) -> skep_server::Server {
    // Its instances are what `prefork` has processes for; and what is forked has no threads, of which this has some.
    let app = || app().named("skep", env!("CARGO_PKG_VERSION"));
    // The executable may hold applications of its own: the one of `skep drill`, say.
    skep_server::Server::new(app).among_others().fix("mpm", "thread").leave("isolate")
}

fn failed(wrong: &Wrong) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{wrong}");
    ExitCode::FAILURE
}

fn prepare(arguments: Vec<OsString>, is_check: bool) -> Result<(Settings, Arc<Table>), Wrong> {
    let settings = Settings::read(arguments)?;
    // Who only looks wants to know what the optimising compiler says, too.
    let applications = settings.applications.iter().cloned().map(|mut options| {
        options.baseline &= !is_check;
        Arc::new(Application::new(options))
    });
    let table = Table::new(applications.collect(), settings.status.clone())?;
    Ok((settings, Arc::new(table)))
}

/// Compiles and starts all applications. One that is wrong keeps a server of one from starting; of several, the others serve.
pub(crate) fn start(table: &Arc<Table>, cache: &Cache, server: &Server) -> Result<(), Wrong> {
    begin(table, server)?;
    let disk = cache.open()?;
    let options = || table.applications().iter().map(|application| &application.options);
    let host = Host::new(size(options()))?;
    let (mut started, mut wrongs) = (Vec::new(), Vec::new());
    for application in table.applications() {
        let name = &application.options.name;
        match application.start(&host, disk.as_ref()) {
            Ok(ready) => {
                started.push((application, Arc::clone(&ready)));
                let ms = u64::try_from(ready.made.in_time.as_millis()).unwrap_or(u64::MAX);
                tracing::info!(target: "skep::isolate", app = name, version = %ready.hash, ms, "ready");
            }
            Err(wrong) => wrongs.push((name, wrong)),
        }
    }
    if wrongs.len() == table.applications().len() {
        return Err(Wrong(wrongs.iter().map(|(_, wrong)| wrong.0.as_str()).collect::<Vec<_>>().join("\n")));
    }
    for (name, wrong) in wrongs {
        tracing::error!(target: "skep::isolate", app = name, "is not served: {wrong}");
    }
    if server.setup.temporary_database {
        return Ok(());
    }
    for (application, ready) in started {
        application.optimise(ready, &host, disk.as_ref());
    }
    watch::start(table, host, disk).map_err(|error| Wrong(format!("cannot watch files: {error}")))
}

/// Tells the applications what server this is.
fn begin(table: &Table, server: &Server) -> Result<(), Wrong> {
    let applications = table.applications();
    apart(&server.setup.data, applications.iter().map(|application| &application.options))?;
    if applications.len() > 1 && server.setup.secret.is_some() {
        return Err(Wrong::with(
            "`secret` names one file of keys for several applications, each of which could sign for the others: leave it out, and \
             each has its own, DATA/NAME/secret",
        ));
    }
    for application in applications {
        application.options.kept.begin(server.clone());
    }
    Ok(())
}

/// An engine for all of them.
pub(crate) fn size<'o>(options: impl Iterator<Item = &'o Options> + Clone) -> Size {
    Size {
        instances: options.clone().map(|one| one.instances + BESIDE).sum::<u32>(),
        fuel: options.clone().any(|one| one.fuel.is_some()),
    }
}

/// Instances of an application that no request takes: the one that a new version is probed with, and those for the jobs of this version and
/// the one before.
const BESIDE: u32 = 3;

/// Our part of `--help`.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "usage: skep serve FILE [FLAG...]     serves a component\n       skep serve [FLAG...]          serves those of [isolate.NAME] in skep.toml\n\n\
         A component is a program for wasi:http 0.2, of whatever language. Each request has an instance of its own.\n\n",
    );
    for row in TABLE {
        entry(
            &mut text,
            &format!("{} {}", row.flag(), row.argument),
            &format!("{} (Default: {}.)", row.help, row.default),
        );
    }
    for (flag, argument, help) in OTHERS {
        entry(&mut text, &format!("{flag} {argument}"), help);
    }
    text.push_str("\nThe server's own flags:\n\n");
    text
}

fn entry(text: &mut String, flag: &str, help: &str) {
    text.push_str("  ");
    text.push_str(flag);
    let mut width = usize::MAX;
    for word in help.split_whitespace() {
        if width.saturating_add(word.len()) > 96 {
            text.push_str("\n      ");
            width = 0;
        } else {
            text.push(' ');
        }
        text.push_str(word);
        width += word.len() + 1;
    }
    text.push('\n');
}
