//! `cargo xtask test`: installs what the checks need, then runs them.
//!
//! Without arguments it runs the hermetic steps, which need Rust and a C compiler only. `--all` runs all steps,
//! `--rest` what CI runs beside them. A step that fails does not keep the others from running. The output of a step
//! goes to `target/xtask/STEP.log`, and is printed if the step fails.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

use clap::builder::PossibleValuesParser;

use crate::report::{self, Outcome};
use crate::steps::{self, Runs, STEPS, Step, Work};
use crate::{command, executables, features, instructions, msrv, needs, packages, pages, room, setup, suites, tidy};

/// What to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these steps
    #[arg(value_name = "STEP", value_parser = PossibleValuesParser::new(STEPS.iter().map(|step| step.name)), hide_possible_values = true)]
    steps: Vec<String>,
    /// Run all steps: also with browsers, memcached, Redis, Java, Node, Python, Go
    #[arg(long, conflicts_with = "steps")]
    all: bool,
    /// Run what CI runs beside the steps of `test` without arguments
    #[arg(long, conflicts_with_all = ["steps", "all"])]
    rest: bool,
    /// List the steps
    #[arg(long)]
    list: bool,
}

/// Runs the named steps, or the hermetic ones.
pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    if args.list {
        print!("{}", steps::list());
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = args.choose();
    room::warn();
    setup::run(needs::NEEDS.iter().filter(|need| chosen.iter().any(|step| need.steps.contains(&step.name))))?;
    let outcomes = run_all(&chosen)?;
    print!("{}", report::summary(&outcomes));
    Ok(if outcomes.iter().all(|outcome| outcome.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Args {
    fn choose(&self) -> Vec<&'static Step> {
        if self.steps.is_empty() {
            let wanted = if self.rest { Runs::Rest } else { Runs::Always };
            return STEPS.iter().filter(|step| self.all || step.runs == wanted).collect();
        }
        self.steps.iter().filter_map(|name| STEPS.iter().find(|step| step.name == name)).collect()
    }
}

/// Runs steps one after the other, but for [`Work::Beside`], which runs beside those that follow it and has its outcome
/// last.
fn run_all(steps: &[&'static Step]) -> Result<Vec<Outcome>, String> {
    thread::scope(|scope| {
        let (mut outcomes, mut beside) = (Vec::new(), Vec::new());
        for &step in steps {
            if let Work::Beside(_) = step.work {
                beside.push(scope.spawn(move || run_step(step)));
            } else {
                outcomes.push(run_step(step)?);
            }
        }
        outcomes.extend(beside.into_iter().map(joined).collect::<Result<Vec<_>, _>>()?);
        Ok(outcomes)
    })
}

fn joined(step: ScopedJoinHandle<'_, Result<Outcome, String>>) -> Result<Outcome, String> {
    step.join().unwrap_or_else(|_| Err("a step panicked".to_owned()))
}

fn run_step(step: &'static Step) -> Result<Outcome, String> {
    println!("{}: {}", step.name, step.about);
    let started = Instant::now();
    let log = log_of(step)?;
    let passed = work(step, &log)?;
    let said = fs::read(&log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let failures = if passed { String::new() } else { report::failures(&said) };
    let outcome = Outcome { step: step.name, passed, took: started.elapsed(), failures };
    if !passed {
        println!("{said}");
    }
    if let Some(total) = report::total(&said) {
        println!("{total}");
    }
    println!("{outcome}");
    Ok(outcome)
}

fn log_of(step: &Step) -> Result<PathBuf, String> {
    let folder = command::root().join("target/xtask");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder.join(step.name).with_extension("log"))
}

/// Whether the step passed. An error is one of xtask's own, such as a full disk.
fn work(step: &Step, log: &Path) -> Result<bool, String> {
    let mut file = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    match step.work {
        Work::Tidy => write(&mut file, &tidy::complaints()?),
        Work::Pages => write(&mut file, &pages::complaints()?),
        Work::Suites => write(&mut file, &suites::complaints()?),
        Work::Tests => executables::run(log),
        Work::Instructions => write(&mut file, &instructions::complaints()?),
        Work::Commands(lines) | Work::Beside(lines) => commands(lines, &file),
        Work::Features(sets) => commands(&features::commands(sets)?, &file),
        Work::Packages { build: false } => commands(&[packages::make()?], &file),
        Work::Packages { build: true } => commands(&[packages::build()?], &file),
        Work::Advisories => advisories(&file),
        Work::Msrv => commands(&msrv::commands()?, &file),
    }
}

/// Whether no advisory is about a dependency. Without a network it is not known, and said.
fn advisories(log: &File) -> Result<bool, String> {
    if !command("cargo deny fetch db", log)? {
        println!("not checked: the database of advisories cannot be fetched");
        return Ok(true);
    }
    let checks =
        ["Cargo.toml", "tools/Cargo.toml"].map(|of| format!("cargo deny --manifest-path {of} check advisories"));
    commands(&checks, log)
}

/// Whether there is nothing to complain of.
fn write<C: Display>(file: &mut File, complaints: &[C]) -> Result<bool, String> {
    complaints.iter().try_for_each(|complaint| writeln!(file, "{complaint}")).map_err(|error| error.to_string())?;
    Ok(complaints.is_empty())
}

/// Runs commands until one fails, and says how long each took.
pub(crate) fn commands<L: AsRef<str>>(lines: &[L], log: &File) -> Result<bool, String> {
    for line in lines {
        let (line, started) = (line.as_ref(), Instant::now());
        let passed = command(line, log)?;
        println!("{:8.1} s  {line}", started.elapsed().as_secs_f64());
        if !passed {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs one command, with what it prints, in the order in which it prints it, added to `log`.
fn command(line: &str, log: &File) -> Result<bool, String> {
    let same = || log.try_clone().map_err(|error| format!("no second handle on the log: {error}"));
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default();
    let mut program = command::program(name);
    program.args(words).stdout(same()?).stderr(same()?);
    // cargo sees a file and would drop the colours that we show to a person later.
    if std::env::var_os("CARGO_TERM_COLOR").is_none() && std::io::stdout().is_terminal() {
        program.env("CARGO_TERM_COLOR", "always");
    }
    let status = program.status().map_err(|error| format!("{name} does not start: {error}"))?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn names(line: &[&str]) -> Result<Vec<&'static str>, clap::Error> {
        let Line { args } = Line::try_parse_from(["test"].iter().chain(line))?;
        Ok(args.choose().iter().map(|step| step.name).collect())
    }

    #[test]
    fn without_names_the_hermetic_steps_run() {
        assert_eq!(names(&[]).unwrap(), ["format", "tidy", "clippy", "test", "packages"]);
        assert_eq!(names(&["--all"]).unwrap().len(), STEPS.len());
        let rest = names(&["--rest"]).unwrap();
        assert_eq!(rest.len() + 12, STEPS.len());
        assert!(
            ["package-builds", "peers", "replication", "laboratory", "long", "feature-sets", "instructions"]
                .iter()
                .all(|step| !rest.contains(step)),
            "of those that are left, CI does without these"
        );
    }

    #[test]
    fn only_the_named_steps_run() {
        assert_eq!(names(&["docs", "tidy"]).unwrap(), ["docs", "tidy"]);
        assert!(names(&["docs", "dcos"]).is_err() && names(&["docs", "--all"]).is_err());
    }
}
