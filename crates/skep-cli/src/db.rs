//! `skep db`: the database of an application: its shell, from nothing again, with data, on another engine.
//!
//! The programs `sqlite3` and `psql` do the work.

mod address;
mod moving;
mod postgres;
mod rollback;
mod sqlite;
mod target;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use skep_units::nearest;

use crate::BAD_USAGE;
use target::Database;
pub(crate) use target::Target;

const HELP: &str = "\
usage: skep db COMMAND [--yes]

Work on the database of the application in this folder: the one that SKEP_DATABASE or `database` of skep.toml names, or
else the file in the data folder (SKEP_DATA, `data` of skep.toml, or `data`).

  console   open the shell of the database: sqlite3, or psql
  reset     delete all data; the next start makes the tables again. It asks before, unless there is --yes
  move [FILE]
            copy what is in the file of SQLite (FILE, or the one in the data folder) into the PostgreSQL that `database`
            names, where the application has made its tables: all of it, or nothing. It asks before it deletes rows there
  rollback  undo the last migration: what it has added is dropped, or else db/rollback/ has a file of its name that says how.
            It shows the statements, and asks before, unless there is --yes
  seed      run db/seed.sql in a transaction: all of it, or nothing

`reset`, `rollback` and `seed` are for development: they want `development = true` in skep.toml (or SKEP_DEVELOPMENT), and a PostgreSQL
whose address names this machine. `reset` also wants a Cargo.toml in this folder; it and `rollback` want no server that runs.
";

const COMMANDS: [&str; 5] = ["console", "move", "reset", "rollback", "seed"];

/// What `seed` runs.
const SEED: &str = "db/seed.sql";

pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let words: Vec<String> = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    if words.is_empty() || words.iter().any(|word| ["--help", "-h"].contains(&word.as_str())) {
        print!("{HELP}");
        return if words.is_empty() { ExitCode::from(BAD_USAGE) } else { ExitCode::SUCCESS };
    }
    let is_confirmed = words.iter().any(|word| word == "--yes");
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "--yes").collect();
    let done =
        match words.as_slice() {
            ["console"] => Target::find(Path::new(".")).and_then(|target| console(&target)),
            ["move"] => Target::find(Path::new(".")).and_then(|target| moving::run(&target, None, is_confirmed)),
            ["move", file] if !file.starts_with('-') => Target::find(Path::new("."))
                .and_then(|target| moving::run(&target, Some(Path::new(file)), is_confirmed)),
            ["rollback"] => Target::find(Path::new("."))
                .and_then(|target| rollback::rollback(&target, Path::new("."), is_confirmed)),
            ["seed"] => Target::find(Path::new(".")).and_then(|target| seed(&target)),
            ["reset"] => Target::find(Path::new(".")).and_then(|target| reset(&target, Path::new("."), is_confirmed)),
            other => {
                eprint!("skep db: {}\n\n{HELP}", wrong(other));
                return ExitCode::from(BAD_USAGE);
            }
        };
    match done {
        Ok(said) => {
            print!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("skep db: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What is wrong with these words, of which nothing is done.
fn wrong(words: &[&str]) -> String {
    let Some(word) = words.iter().find(|word| !COMMANDS.contains(word)) else {
        return "expected one command".to_owned();
    };
    let near = nearest(word, COMMANDS.into_iter().chain(["--yes"]));
    let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    format!("there is no \"{word}\"{near}")
}

fn console(target: &Target) -> Result<String, String> {
    match &target.database {
        Database::Sqlite(file) => finish(sqlite::shell(file)?.arg("-header").arg("-column")),
        Database::Postgres(address) => finish(&mut postgres::shell(address)),
    }
}

fn seed(target: &Target) -> Result<String, String> {
    target.may_change("seed")?;
    let text = std::fs::read_to_string(SEED).map_err(|error| format!("{SEED}: {error}: write statements into it"))?;
    match &target.database {
        Database::Sqlite(file) => sqlite::run_in_transaction(file, &text)?,
        Database::Postgres(address) => postgres::run_in_transaction(address, SEED)?,
    }
    Ok(format!("{SEED} has run in {target}\n"))
}

fn reset(target: &Target, folder: &Path, is_confirmed: bool) -> Result<String, String> {
    if !folder.join("Cargo.toml").is_file() {
        return Err(
            "there is no Cargo.toml here: `reset` is for development, in the folder of an application".to_owned()
        );
    }
    target.may_change("reset")?;
    if let Some(socket) = target.server() {
        return Err(format!(
            "a server uses {target} (it listens on {}): stop it, and `skep dev`, before",
            socket.display()
        ));
    }
    if !is_confirmed && !asked(&format!("Delete all data in {target}? [y/N] ")) {
        return Err("nothing was deleted; --yes deletes without asking".to_owned());
    }
    match &target.database {
        Database::Sqlite(file) => sqlite::delete(file)?,
        Database::Postgres(address) => postgres::make_again(address)?,
    }
    Ok(format!("{target} is empty; the next start of the application makes its tables\n"))
}

/// What somebody says. Without a terminal, the end of the input is a no.
fn asked(question: &str) -> bool {
    print!("{question}");
    let mut answer = String::new();
    let read = io::stdout().flush().and_then(|()| io::stdin().read_line(&mut answer));
    read.is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// Runs a program to its end, with our terminal.
fn finish(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let package = if name == "psql" { "postgresql-client" } else { "sqlite3" };
    let missing = |error| format!("{name} does not start ({error}): Debian has it in the package {package}");
    let status = command.status().map_err(missing)?;
    if status.success() { Ok(String::new()) } else { Err(format!("{name} ends with {status}")) }
}

/// What a program prints.
fn answer(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim_end()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
