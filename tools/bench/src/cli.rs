//! The command line. [`CommandLine`] is all of it; each command is a module with its flags and a `run`.
//!
//! Start reading at [`run`].

mod cold;
mod compare;
mod load;
mod output;
mod settings;
mod show;
mod turns;

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand};

use crate::interrupt;

/// A gate was broken, or nothing could be measured.
const FAILED: u8 = 1;

/// The command line is wrong. Clap's exit code for that is the same.
const BAD_USAGE: u8 = 2;

/// No gate was broken, and of one at least the rounds do not say whether it holds.
const UNDECIDED: u8 = 3;

/// Why a command ends without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong; nothing was done.
    Usage(String),
    /// It could not be done, or not to its end.
    Run(String),
    /// It was done, and a gate is broken, which has been printed.
    Broken,
    /// It was done, and it does not say whether a gate holds, which has been printed.
    Undecided,
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Run(text)
    }
}

/// Load HTTP servers, compare them, and measure what they cost.
#[derive(Debug, Parser)]
#[command(
    name = "skep-bench",
    bin_name = "skep bench",
    override_usage = "skep bench URL [OPTIONS]\n       skep bench <COMMAND> ...",
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 120,
    after_help = EXAMPLES
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  skep bench http://127.0.0.1:8080/ -c 64 -d 30s
  skep bench http://127.0.0.1:8080/ --rate 2000 --html report.html
  skep bench compare 'new=./new --listen 127.0.0.1:{port}' 'old=./old --listen 127.0.0.1:{port}' --gate 'new>=0.97*old'

`skep bench COMMAND --help` lists the options of a command, `skep bench load --help` those of a URL.
How to measure, and how to read the figures: docs/guides/run/benchmark.md.";

#[derive(Debug, Subcommand)]
enum Command {
    Load(Box<load::Given>),
    Compare(Box<compare::Given>),
    Show(show::Given),
    Cold(Box<cold::Given>),
}

/// Runs `skep bench` with these arguments, those behind the word `bench`. The exit code is 1 if a gate is broken or
/// nothing could be measured, 2 if the arguments are wrong, 3 if the rounds do not say whether a gate holds.
///
/// ```
/// let code = skep_bench::run(vec!["--help".into()]);
/// assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
/// ```
#[must_use]
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let line = match CommandLine::try_parse_from(words(arguments)) {
        Ok(line) => line,
        Err(error) => {
            // Where nobody reads it, there is nobody to tell.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(BAD_USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match start(line.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(text)) => {
            eprintln!("skep bench: {text}\n`skep bench --help` says more.");
            ExitCode::from(BAD_USAGE)
        }
        Err(Failure::Run(text)) => {
            eprintln!("skep bench: {text}");
            ExitCode::from(FAILED)
        }
        Err(Failure::Broken) => ExitCode::from(FAILED),
        Err(Failure::Undecided) => ExitCode::from(UNDECIDED),
    }
}

/// The words of the command line as clap reads them: its own name first, and `load` before a URL or a flag.
fn words(arguments: Vec<OsString>) -> impl Iterator<Item = OsString> {
    let load = arguments.first().is_some_and(|first| is_load(first));
    ["skep bench"].into_iter().chain(load.then_some("load")).map(OsString::from).chain(arguments)
}

/// Whether a command line that begins so has no command: a word without anything of a URL in it is one, perhaps a
/// mistyped one.
fn is_load(first: &OsStr) -> bool {
    let first = first.as_encoded_bytes();
    let is_flag = first.starts_with(b"-") && first != b"--help" && first != b"-h";
    is_flag || first.iter().any(|byte| b":/.".contains(byte))
}

fn start(command: Command) -> Result<(), Failure> {
    interrupt::listen().map_err(|error| format!("no signal can be caught: {error}"))?;
    match command {
        Command::Load(given) => load::run(*given),
        Command::Compare(given) => compare::run(*given),
        Command::Show(given) => show::run(given),
        Command::Cold(given) => cold::run(*given),
    }
}

/// Whole numbers of a range.
fn number<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(range)
}

/// A duration that is not zero.
fn some_time(text: &str) -> Result<Duration, String> {
    let time = skep_units::parse_duration(text).map_err(|error| error.to_string())?;
    if time.is_zero() { Err("must be more than 0".into()) } else { Ok(time) }
}

/// A number from `least` to `most`; clap has ranges of whole numbers only.
fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("expected a number from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn error(line: &str) -> String {
        let words = words(line.split(' ').map(OsString::from).collect());
        CommandLine::try_parse_from(words).unwrap_err().to_string()
    }

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn every_flag_of_every_command_is_in_the_guide() {
        let docs = include_str!("../../../docs/guides/run/benchmark.md");
        for command in CommandLine::command().get_subcommands() {
            let flags: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
            assert!(flags.len() >= 8, "{command}");
            for flag in flags {
                assert!(docs.contains(&format!("--{flag}")), "{command} {flag}");
            }
        }
    }

    #[test]
    fn a_url_needs_no_command() {
        for line in ["http://x/ -c 3", "-c 3 http://x/", "load http://x/ --connections=3"] {
            let words = words(line.split(' ').map(OsString::from).collect());
            let CommandLine { command: Command::Load(given) } = CommandLine::try_parse_from(words).unwrap() else {
                panic!("{line}");
            };
            assert_eq!((given.url.as_str(), given.settings.connections), ("http://x/", 3), "{line}");
        }
    }

    #[test]
    fn a_mistake_names_what_was_probably_meant() {
        assert!(error("compaer a=http://x/").contains("'compare'"), "{}", error("compaer a=http://x/"));
        assert!(error("http://x/ --conections 3").contains("'--connections'"));
        assert!(error("http://x/ -c 0").contains("1..=60000"));
        assert!(error("http://x/ --rate fast").contains("expected a number from 0.001 to 100000000"));
    }
}
