//! `skep sql check`: has PostgreSQL check the statements of `sql!`, and notes what it says in a lock file, which `sql!`
//! reads.
//!
//! An application is compiled to collect its statements. Where one is new, nothing is known of its rows yet, so a
//! library that uses them does not compile, and neither does what depends on it: then what was found is described, and
//! all compiled again.
//!
//! Start reading at [`check`].

mod catalog;
mod collect;
mod describe;
mod installed;
mod nulls;
mod report;
mod scope;
mod server;
mod tables;
mod tree;
mod unique;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skep_sql_lock::{Entry, FILE, FOLDER, Lock};
use tokio::signal::unix::{SignalKind, signal};

use crate::{run_with, say};
use collect::{Collected, Packages, Statements};
use describe::Database;
use server::Server;

const HELP: &str = "usage: skep sql check [--locked] [--manifest-path FILE] [-- ARGUMENT...]

Has PostgreSQL check each statement of `sql!` in the packages of this workspace whose Cargo.toml says

    [package.metadata.skep]
    database = \"postgres\"

and writes what it says of them (types, NULL, tables) into `migrations/postgres/sql.lock`, which belongs into the repository: `sql!` reads
it when the application is compiled, and needs no server.

PostgreSQL is a cluster that is made from the installed programs and removed at the end. With SKEP_POSTGRES=postgres://..., it is a database
on that server, without TLS, which is dropped at the end.

  --locked               change nothing; fail if a lock file is not as it would be written (for CI)
  --manifest-path FILE   the Cargo.toml of a package or workspace elsewhere
  -- ARGUMENT...         arguments for `cargo check`, such as `--features audit`

examples:

  skep sql check
  skep sql check --locked -- --all-features
  SKEP_POSTGRES=postgres://me@localhost/postgres skep sql check
";

/// How often an application is compiled at most: once more for each library that depends on another with new
/// statements.
const ROUNDS: usize = 16;

#[derive(Default)]
struct Options {
    locked: bool,
    manifest: Option<OsString>,
    /// For Cargo.
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    run_with("sql", HELP, options(arguments), |options| print_outcome(check_now(options)))
}

fn print_outcome(checked: Result<String, String>) -> ExitCode {
    match checked {
        Ok(said) => {
            say(&said);
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("{}", wrong.trim_end());
            ExitCode::FAILURE
        }
    }
}

/// The same for the package of a `Cargo.toml`, and what is to be said.
pub(crate) fn check_package(manifest: &Path) -> Result<String, String> {
    check_now(Options { manifest: Some(manifest.into()), ..Options::default() })
}

fn check_now(options: Options) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(check(options))
}

/// `None` if help is asked for.
fn options(arguments: Vec<OsString>) -> Result<Option<Options>, String> {
    let mut arguments = arguments.into_iter();
    match arguments.next().as_deref().and_then(|command| command.to_str()) {
        Some("check") => {}
        Some("--help" | "-h" | "help") => return Ok(None),
        Some(other) => return Err(format!("no command \"{other}\"")),
        None => return Err("expected the command `check`".to_owned()),
    }
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(None),
            Some("--locked") => options.locked = true,
            Some("--manifest-path") => {
                options.manifest = Some(arguments.next().ok_or("`--manifest-path` needs the path of a Cargo.toml")?);
            }
            Some("--") => options.arguments = arguments.by_ref().collect(),
            _ => return Err(format!("no option \"{}\"", argument.display())),
        }
    }
    Ok(Some(options))
}

/// What is to be said at the end.
async fn check(options: Options) -> Result<String, String> {
    let packages = Packages::find(options.manifest.clone()).await?;
    let mut terminated = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let mut server = Server::start().await?;
    let found = tokio::select! {
        found = find(&packages, &mut server, &options) => found,
        _ = tokio::signal::ctrl_c() => Err("skep sql: interrupted".to_owned()),
        _ = terminated.recv() => Err("skep sql: terminated".to_owned()),
    };
    server.end().await;
    let Found { locks, failure } = found?;
    let compared = compare(&packages, locks, failure.is_some(), options.locked)?;
    match failure {
        None => Ok(compared),
        Some(failure) => Err(format!(
            "{failure}\n{compared}error: the statements are right, and the application does not compile; those of targets that were not \
             reached are not checked"
        )),
    }
}

struct Found {
    /// By folder of migrations.
    locks: BTreeMap<PathBuf, Lock>,
    /// Why an application does not compile, although all its statements are known.
    failure: Option<String>,
}

/// Compiles and describes until nothing new is found.
async fn find(packages: &Packages, server: &mut Server, options: &Options) -> Result<Found, String> {
    let mut databases = BTreeMap::<PathBuf, Database>::new();
    let mut entries = BTreeMap::<PathBuf, Vec<Entry>>::new();
    let mut known = noted(packages);
    let mut statements = Statements::new();
    for round in 0..ROUNDS {
        eprintln!("skep sql: compiling {} to collect statements", packages.names());
        let Collected { statements: found, failure } = packages.collect(&known, round, &options.arguments).await?;
        let new: Statements = found.into_iter().filter(|(key, _)| !statements.contains_key(key)).collect();
        if new.is_empty() {
            let locks = locks(packages, &databases, entries);
            return Ok(Found { locks, failure });
        }
        eprintln!("skep sql: asking PostgreSQL about {} statements", new.len());
        let mut wrong = Vec::new();
        for ((folder, sql), place) in &new {
            if !databases.contains_key(folder) {
                databases.insert(folder.clone(), Database::of(server, folder).await?);
            }
            match databases[folder].describe(sql).await {
                Ok(entry) => entries.entry(folder.clone()).or_default().push(entry),
                Err(reason) => wrong.push(format!("error: {reason}\n  --> {place}\n")),
            }
        }
        if !wrong.is_empty() {
            return Err(format!("{}\nerror: {} of {} statements are wrong", wrong.join("\n"), wrong.len(), new.len()));
        }
        statements.extend(new);
        for (folder, entries) in &entries {
            known.add(Lock::new(entries.clone(), &databases[folder].migrations.hash));
        }
        if failure.is_none() {
            return Ok(Found { locks: locks(packages, &databases, entries), failure: None });
        }
    }
    Err(format!("skep sql: there are new statements after {ROUNDS} compilations"))
}

fn locks(
    packages: &Packages,
    databases: &BTreeMap<PathBuf, Database>,
    entries: BTreeMap<PathBuf, Vec<Entry>>,
) -> BTreeMap<PathBuf, Lock> {
    // A file whose statements are all gone, too.
    let mut locks: BTreeMap<_, _> = files(packages).into_iter().map(|folder| (folder, Lock::default())).collect();
    for (folder, entries) in entries {
        let lock = Lock::new(entries, &databases[&folder].migrations.hash);
        locks.insert(folder, lock);
    }
    locks
}

/// The usual folders that have a lock file.
fn files(packages: &Packages) -> Vec<PathBuf> {
    let folders = packages.roots.iter().map(|root| root.join("migrations").join(FOLDER));
    folders.filter(|folder| folder.join(FILE).is_file()).collect()
}

/// What lock files say already. One that cannot be read is made again.
fn noted(packages: &Packages) -> Lock {
    let mut known = Lock::default();
    for folder in files(packages) {
        known.add(read(&folder));
    }
    known
}

fn read(folder: &Path) -> Lock {
    let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    Lock::parse(&text).unwrap_or_default()
}

/// Writes what has changed, or says it is an error. With `is_part`, more statements than these may be right.
fn compare(packages: &Packages, locks: BTreeMap<PathBuf, Lock>, is_part: bool, locked: bool) -> Result<String, String> {
    let (mut said, mut differs) = (String::new(), false);
    for (folder, mut lock) in locks {
        let file = folder.join(FILE);
        let old = read(&folder);
        if is_part {
            let mut all = old.clone();
            all.add(lock);
            lock = all;
        }
        let text = lock.to_string();
        let name = packages.roots.iter().find_map(|root| file.strip_prefix(root).ok()).unwrap_or(&file).display();
        if fs::read_to_string(&file).is_ok_and(|written| written == text) {
            _ = writeln!(said, "{name}: {} statements, as they were", lock.statements().count());
            continue;
        }
        differs = true;
        _ = writeln!(said, "{name}: {} statements{}", lock.statements().count(), difference(&old, &lock));
        if !locked {
            fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    if locked && differs {
        return Err(format!("{said}error: run `skep sql check`, and commit what it writes"));
    }
    Ok(said)
}

fn difference(old: &Lock, new: &Lock) -> String {
    let (before, after): (BTreeSet<&str>, BTreeSet<&str>) = (old.statements().collect(), new.statements().collect());
    let added = after.difference(&before).count();
    let removed = before.difference(&after).count();
    let changed = after.intersection(&before).filter(|sql| old.hash_of(sql) != new.hash_of(sql)).count();
    format!(", {added} new, {removed} gone, {changed} changed")
}

#[cfg(test)]
#[path = "../tests/unit/sql/compare.rs"]
mod tests;
