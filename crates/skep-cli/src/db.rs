//! `skep db`: the database of an application while it is developed: its shell, from nothing again, with data.
//!
//! The programs `sqlite3` and `psql` do the work.

mod place;
mod postgres;
mod sqlite;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use skep_units::nearest;

use crate::BAD_USAGE;
use place::Place;

const HELP: &str = "\
usage: skep db COMMAND [--yes]

Work on the database of the application in this folder: the one that SKEP_DATABASE or `database` of skep.toml names, or
else the file in the data folder (SKEP_DATA, `data` of skep.toml, or `data`).

  console   open the shell of the database: sqlite3, or psql
  reset     delete all data; the next start makes the tables again. It asks before, unless there is --yes
  seed      run db/seed.sql in a transaction: all of it, or nothing

`reset` is for development: it wants a Cargo.toml in this folder, no server that runs, and a PostgreSQL on this machine.
";

const COMMANDS: [&str; 3] = ["console", "reset", "seed"];

/// What `seed` runs.
const SEED: &str = "db/seed.sql";

pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let words: Vec<String> = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    if words.is_empty() || words.iter().any(|word| ["--help", "-h"].contains(&word.as_str())) {
        print!("{HELP}");
        return if words.is_empty() { ExitCode::from(BAD_USAGE) } else { ExitCode::SUCCESS };
    }
    let is_confirmed = words.iter().any(|word| word == "--yes");
    let known = |word: &&String| !COMMANDS.contains(&word.as_str()) && *word != "--yes";
    if let Some(word) = words.iter().find(known) {
        let near = nearest(word, COMMANDS.into_iter().chain(["--yes"]));
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        eprint!("skep db: there is no \"{word}\"{near}\n\n{HELP}");
        return ExitCode::from(BAD_USAGE);
    }
    let folder = PathBuf::from(".");
    let done = Place::find(&folder).and_then(|place| match words[0].as_str() {
        "console" => console(&place),
        "seed" => seed(&place),
        _ => reset(&place, &folder, is_confirmed),
    });
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

fn console(place: &Place) -> Result<String, String> {
    match place {
        Place::Sqlite { file, .. } => finish(sqlite::shell(file)?.arg("-header").arg("-column")),
        Place::Postgres(address) => finish(&mut postgres::shell(address)),
    }
}

fn seed(place: &Place) -> Result<String, String> {
    let text = std::fs::read_to_string(SEED).map_err(|error| format!("{SEED}: {error}: write statements into it"))?;
    match place {
        Place::Sqlite { file, .. } => sqlite::run_in_transaction(file, &text)?,
        Place::Postgres(address) => {
            finish(postgres::shell(address).args([
                "--quiet",
                "--single-transaction",
                "--set=ON_ERROR_STOP=1",
                "--file",
                SEED,
            ]))?;
        }
    }
    Ok(format!("{SEED} has run in {place}\n"))
}

fn reset(place: &Place, folder: &Path, is_confirmed: bool) -> Result<String, String> {
    if !folder.join("Cargo.toml").is_file() {
        return Err(
            "there is no Cargo.toml here: `reset` is for development, in the folder of an application".to_owned()
        );
    }
    if let Some(reason) = place.is_in_use() {
        return Err(reason);
    }
    if !is_confirmed && !asked(&format!("Delete all data in {place}? [y/N] ")) {
        return Err("nothing was deleted; --yes deletes without asking".to_owned());
    }
    match place {
        Place::Sqlite { file, .. } => sqlite::delete(file)?,
        Place::Postgres(address) => postgres::make_again(address)?,
    }
    Ok(format!("{place} is empty; the next start of the application makes its tables\n"))
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
