//! The command `skep`. Each of its words is a function of the crate that does the work; here stands only which.

mod log;

use std::ffi::OsString;
use std::process::ExitCode;

/// A word of the command line.
struct Command {
    name: &'static str,
    /// One line for the list of commands.
    what: &'static str,
    run: fn(Vec<OsString>) -> ExitCode,
}

const COMMANDS: &[Command] = &[
    #[cfg(feature = "isolate")]
    Command { name: "serve", what: "serves WebAssembly components", run: skep_isolate::serve },
    #[cfg(feature = "isolate")]
    Command { name: "compile", what: "compiles a component ahead of time", run: skep_isolate::compile },
    Command { name: "bench", what: "measures servers and what they are made of, side by side", run: bench },
    Command { name: "drill", what: "re-enacts disasters under load, and shows what was lost", run: skep_drill::run },
];

const BAD_USAGE: u8 = 2;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(word) = arguments.next() else {
        eprint!("{}", help());
        return ExitCode::from(BAD_USAGE);
    };
    match word.to_str() {
        Some("help" | "--help" | "-h") => {
            print!("{}", help());
            ExitCode::SUCCESS
        }
        Some("--version" | "-V") => {
            println!("skep {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        // What `skep drill` starts: not for people.
        Some(skep_drill::APPLICATION) => {
            skep_server::Server::new(skep_drill::application).among_others().run_with(arguments)
        }
        name => match COMMANDS.iter().find(|command| Some(command.name) == name) {
            Some(command) => (command.run)(arguments.collect()),
            None => {
                eprint!("skep has no command \"{}\"\n\n{}", word.display(), help());
                ExitCode::from(BAD_USAGE)
            }
        },
    }
}

/// The bench knows no other crate; what it is to measure of them, it is handed.
fn bench(arguments: Vec<OsString>) -> ExitCode {
    skep_bench::run_with(arguments, log::sinks)
}

fn help() -> String {
    let lines = COMMANDS.iter().map(|command| format!("  {:9} {}\n", command.name, command.what));
    format!("usage: skep COMMAND [ARGUMENT...]\n\n{}\n`skep COMMAND --help` says more.\n", lines.collect::<String>())
}
