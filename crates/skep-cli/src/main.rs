//! The command `skep`.
//!
//! It needs no server. What takes long to build is an executable of its own, found as cargo finds its subcommands:
//! `skep NAME` runs `skep-NAME`, and `skep serve` runs `skep-wasm serve`. See [`subcommand`].

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::ExitCode;

mod completions;
mod db;
mod deployment;
mod generate;
mod new;
mod routes;
mod run;
mod secret;
mod sql;
mod sql_words;
mod subcommand;

/// A command that is built in.
struct Command {
    name: &'static str,
    /// One line of the help text.
    about: &'static str,
    run: fn(Vec<OsString>) -> ExitCode,
}

const COMMANDS: &[Command] = &[
    Command { name: "new", about: "begin an application: new FOLDER", run: new::run },
    Command { name: "gen", about: "go on with one: gen scaffold post title:text", run: generate::run },
    Command { name: "routes", about: "list the routes of an application", run: routes::run },
    Command { name: "db", about: "work on its database: db console, move, reset, rollback, seed", run: db::run },
    Command { name: "run", about: "run a task of an application, or list them", run: run::run },
    Command { name: "sql", about: "check statements of `sql!` on PostgreSQL: sql check", run: sql::run },
    Command { name: "secret", about: "print a new key for the setting `secret`", run: secret::run },
    Command { name: "completions", about: "print completions for bash, zsh or fish", run: completions::run },
];

/// The exit code for a command line that is wrong.
const BAD_USAGE: u8 = 2;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(name) = arguments.next() else {
        eprint!("{}", help());
        return ExitCode::from(BAD_USAGE);
    };
    match name.to_str() {
        Some("help" | "--help" | "-h") => match arguments.next() {
            Some(of) => run(&of, vec!["--help".into()]),
            None => {
                print!("{}", help());
                ExitCode::SUCCESS
            }
        },
        Some("--version" | "-V") => {
            println!("skep {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        _ => run(&name, arguments.collect()),
    }
}

fn run(name: &OsStr, arguments: Vec<OsString>) -> ExitCode {
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        return (command.run)(arguments);
    }
    match subcommand::find(name) {
        Some(file) => {
            eprintln!("skep: {} does not start: {}", file.display(), subcommand::execute(&file, name, arguments));
            ExitCode::FAILURE
        }
        None => {
            eprint!("skep: {}\n\n{}", subcommand::missing(name, COMMANDS.iter().map(|command| command.name)), help());
            ExitCode::from(BAD_USAGE)
        }
    }
}

/// Runs a command with what its command line says; or prints its help, or what is wrong with that line.
fn run_with<T>(
    name: &str,
    help: &str,
    read: Result<Option<T>, String>,
    command: impl FnOnce(T) -> ExitCode,
) -> ExitCode {
    match read {
        Ok(Some(wanted)) => command(wanted),
        Ok(None) => {
            say(help);
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprint!("skep {name}: {problem}\n\n{help}");
            ExitCode::from(BAD_USAGE)
        }
    }
}

/// Writes something for who may have gone: `skep new shop | head -1` is no error.
fn say(text: &str) {
    let mut output = io::stdout();
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

fn help() -> String {
    let built_in = COMMANDS.iter().map(|command| format!("  {:11} {}\n", command.name, command.about));
    format!(
        "usage: skep COMMAND [ARGUMENT...]\n\n{}\nexecutables of their own, in the folder of skep or in PATH:\n\n{}\n`skep COMMAND --help` describes a command.\n",
        built_in.collect::<String>(),
        subcommand::list()
    )
}
