//! What a log line costs: of Skep, of tracing-subscriber with tracing-appender, and of [`peers`] in other languages.
//!
//! Each round starts all programs once, in random order. A program measures its [`batch`]es in random order too, and
//! says the median of each kind; the figures are medians over the rounds, and ratios are made within a round. Lines go
//! to a file, as JSON, with three fields.
//!
//! It leaves out requests: what an access log, the flight recorder or metrics cost one is `cargo xtask peers observed`.
//! Run: `cargo xtask peers log --help`.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::builder::RangedU64ValueParser;
use figures::random::shuffled;
use figures::stats::{Spread, median, ratios};
use figures::table::Table;

mod batch;
mod peers;
mod program;

use batch::Cost;
use peers::Program;

/// What a person reads when it does not go on.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Measure what a log line costs, of Skep, tracing-subscriber with tracing-appender, spdlog, quill and Log4perl.
#[derive(Debug, Parser)]
#[command(name = "log-bench", bin_name = "cargo xtask peers log", max_term_width = 120)]
struct Flags {
    /// Rounds, each with all programs once; about five seconds each
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    rounds: usize,
}

/// The figures of a round by their names.
type Round = BTreeMap<String, Cost>;

fn main() -> ExitCode {
    match log_bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("log: {error}");
            ExitCode::FAILURE
        }
    }
}

fn log_bench() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, program, folder] = arguments.as_slice()
        && first == program::WORD
    {
        return program::run(program, Path::new(folder));
    }
    let flags = Flags::parse();
    let mut random = fastrand::Rng::new();
    let own = std::env::current_exe()?;
    let compiled = tempfile::tempdir()?;
    let mut programs = peers::find(compiled.path());
    programs.extend(program::ALL.map(|name| Program::new(own.clone(), [program::WORD, name])));
    let rounds = (0..flags.rounds).map(|_| round(&mut random, &programs)).collect::<Result<Vec<_>>>()?;
    print!("{}", report(&rounds));
    Ok(())
}

fn round(random: &mut fastrand::Rng, programs: &[Program]) -> Result<Round> {
    let mut round = Round::new();
    for place in shuffled(random, programs.len()) {
        let folder = tempfile::tempdir()?;
        round.extend(programs[place].run(folder.path())?.lines().filter_map(Cost::parse));
    }
    Ok(round)
}

/// A goal: what a figure is at most, as this multiple of another's.
struct Goal {
    text: &'static str,
    figure: fn(&Round) -> Option<f64>,
    beside: fn(&Round) -> Option<f64>,
    most: f64,
}

const GOALS: [Goal; 9] = [
    Goal {
        text: "a suppressed debug call with two fields, ns on top of an empty loop",
        figure: |round| Some(round.get(batch::SUPPRESSED)?.caller - round.get(batch::LOOP)?.caller),
        beside: |_| Some(1.0),
        most: 1.5,
    },
    Goal {
        text: "a line by a type's category, caller's time as a multiple of plain `tracing` to the same writer",
        figure: |round| Some(round.get(batch::CATEGORY)?.caller),
        beside: |round| Some(round.get(batch::TRACING)?.caller),
        most: 1.03,
    },
    Goal {
        text: "a line, caller's time as a multiple of tracing-subscriber with tracing-appender",
        figure: |round| Some(round.get(batch::CATEGORY)?.caller),
        beside: |round| Some(round.get(batch::SUBSCRIBER)?.caller),
        most: 1.0 / 8.0,
    },
    Goal {
        text: "the same, CPU of all threads",
        figure: |round| round.get(batch::CATEGORY)?.all,
        beside: |round| round.get(batch::SUBSCRIBER)?.all,
        most: 1.0 / 8.0,
    },
    Goal {
        text: "a line, caller's time as a multiple of spdlog's asynchronous logger",
        figure: |round| Some(round.get(batch::CATEGORY)?.caller),
        beside: |round| Some(round.get(batch::SPDLOG)?.caller),
        most: 1.0,
    },
    Goal {
        text: "the same, CPU of all threads",
        figure: |round| round.get(batch::CATEGORY)?.all,
        beside: |round| round.get(batch::SPDLOG)?.all,
        most: 1.0,
    },
    Goal {
        text: "a line, caller's time as a multiple of quill",
        figure: |round| Some(round.get(batch::CATEGORY)?.caller),
        beside: |round| Some(round.get(batch::QUILL)?.caller),
        most: 1.0,
    },
    Goal {
        text: "the same, CPU of all threads",
        figure: |round| round.get(batch::CATEGORY)?.all,
        beside: |round| round.get(batch::QUILL)?.all,
        most: 1.0,
    },
    Goal {
        text: "a line, CPU of all threads as a multiple of Log4perl",
        figure: |round| round.get(batch::CATEGORY)?.all,
        beside: |round| round.get(batch::LOG4PERL)?.all,
        most: 1.0 / 8.0,
    },
];

fn report(rounds: &[Round]) -> String {
    let mut table = Table::new(["", "caller, ns", "CPU of all threads, ns"].map(String::from));
    for name in batch::NAMES {
        let costs = || rounds.iter().filter_map(|round| round.get(name));
        let caller: Vec<f64> = costs().map(|cost| cost.caller).collect();
        let all: Vec<f64> = costs().filter_map(|cost| cost.all).collect();
        table.row(vec![name.to_owned(), range(&caller), range(&all)]);
    }
    let mut goals = Table::new(["goal", "at most", "median", "rounds", ""].map(String::from));
    for goal in &GOALS {
        let of = |figure: fn(&Round) -> Option<f64>| rounds.iter().map(figure).collect::<Vec<_>>();
        let found = ratios(&of(goal.figure), &of(goal.beside));
        let Some(spread) = Spread::of(&found) else { continue };
        let met = if spread.median <= goal.most { "met" } else { "MISSED" };
        let range = format!("{:.3} to {:.3}", spread.least, spread.most);
        goals.row(vec![
            goal.text.to_owned(),
            format!("{:.3}", goal.most),
            format!("{:.3}", spread.median),
            range,
            met.to_owned(),
        ]);
    }
    format!("{table}\n{goals}")
}

/// The median, with the least and the most.
fn range(values: &[f64]) -> String {
    let Some(spread) = Spread::of(values) else { return String::new() };
    format!("{:.1} ({:.1} to {:.1})", spread.median, spread.least, spread.most)
}

/// The median of a program's batches.
fn middle(costs: &[Cost]) -> Option<Cost> {
    let all: Vec<f64> = costs.iter().filter_map(|cost| cost.all).collect();
    Some(Cost { caller: median(&costs.iter().map(|cost| cost.caller).collect::<Vec<_>>())?, all: median(&all) })
}
