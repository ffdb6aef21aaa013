//! The command `skep`.
//!
//! `serve` and `compile` are functions of `skep-isolate`. Any other command is an executable, found as cargo finds its
//! subcommands: `skep NAME` runs `skep-NAME`. See [`subcommand`].

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

#[cfg(feature = "sql")]
mod sql;
mod subcommand;
#[cfg(feature = "top")]
mod top;

/// A command that is built in.
struct Command {
    name: &'static str,
    /// One line of the help text.
    about: &'static str,
    run: fn(Vec<OsString>) -> ExitCode,
}

const COMMANDS: &[Command] = &[
    #[cfg(feature = "isolate")]
    Command { name: "serve", about: "serve WebAssembly components", run: skep_isolate::serve },
    #[cfg(feature = "isolate")]
    Command { name: "compile", about: "compile a component ahead of time", run: skep_isolate::compile },
    #[cfg(feature = "sql")]
    Command { name: "sql", about: "check statements of `sql!` on PostgreSQL: sql check", run: sql::run },
    #[cfg(feature = "top")]
    Command { name: "top", about: "watch and control a running server in the terminal", run: top::run },
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
        Some("help" | "--help" | "-h") => {
            print!("{}", help());
            ExitCode::SUCCESS
        }
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
            eprintln!("skep: {} does not start: {}", file.display(), subcommand::execute(&file, arguments));
            ExitCode::FAILURE
        }
        None => {
            eprint!("skep: no command \"{}\"{}\n\n{}", name.display(), subcommand::hint(name), help());
            ExitCode::from(BAD_USAGE)
        }
    }
}

fn help() -> String {
    let built_in = COMMANDS.iter().map(|command| format!("  {:9} {}\n", command.name, command.about));
    let mut text = format!("usage: skep COMMAND [ARGUMENT...]\n\n{}", built_in.collect::<String>());
    let found = subcommand::list();
    if !found.is_empty() {
        text += "\nsubcommands, from the folder of skep and from PATH:\n\n";
        text.extend(found.iter().map(|name| format!("  {name:9} {}\n", subcommand::about(name))));
    }
    text + "\n`skep COMMAND --help` describes a command.\n"
}
