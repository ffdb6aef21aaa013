//! `cargo xtask test`: everything a fresh machine needs, then every check.
//!
//! A step that fails does not keep the others from running. What a step prints goes to `target/xtask/STEP.log`, and is
//! shown when the step fails: who runs this wants to know what is wrong, not what is right.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use crate::report::{self, Outcome};
use crate::steps::{self, STEPS, Step, Work};
use crate::{command, needs, pages, room, setup, tidy};

/// Runs the steps named by `args`, or all of them.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    if args.iter().any(|arg| arg == "--list") {
        print!("{}", steps::list());
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(args)?;
    room::warn();
    setup::run(needs::NEEDS.iter().filter(|need| chosen.iter().any(|step| need.steps.contains(&step.name))))?;
    let outcomes = chosen.into_iter().map(run_step).collect::<Result<Vec<_>, _>>()?;
    print!("{}", report::summary(&outcomes));
    Ok(if outcomes.iter().all(|outcome| outcome.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn choose(args: &[String]) -> Result<Vec<&'static Step>, String> {
    if args.is_empty() { Ok(STEPS.iter().collect()) } else { args.iter().map(|arg| steps::named(arg)).collect() }
}

fn run_step(step: &'static Step) -> Result<Outcome, String> {
    println!("{}: {}", step.name, step.about);
    let started = Instant::now();
    let log = log_of(step)?;
    let passed = work(step, &log)?;
    let outcome = Outcome { step: step.name, passed, took: started.elapsed() };
    let said = fs::read(&log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
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
        Work::Commands(lines, env) => {
            for line in lines {
                if !command(line, env, &file)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// Whether there is nothing to complain of.
fn write<C: Display>(file: &mut File, complaints: &[C]) -> Result<bool, String> {
    complaints.iter().try_for_each(|complaint| writeln!(file, "{complaint}")).map_err(|error| error.to_string())?;
    Ok(complaints.is_empty())
}

/// Runs one command, with what it prints, in the order in which it prints it, added to `log`.
fn command(line: &str, env: &[(&str, &str)], log: &File) -> Result<bool, String> {
    let same = || log.try_clone().map_err(|error| format!("no second handle on the log: {error}"));
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default();
    let mut program = command::program(name);
    program.args(words).envs(env.iter().copied()).stdout(same()?).stderr(same()?);
    // cargo sees a file and would drop the colours that we show to a person later.
    if std::env::var_os("CARGO_TERM_COLOR").is_none() && std::io::stdout().is_terminal() {
        program.env("CARGO_TERM_COLOR", "always");
    }
    let status = program.status().map_err(|error| format!("{name} does not start: {error}"))?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(args: &[&str]) -> Result<Vec<&'static str>, String> {
        let args: Vec<_> = args.iter().copied().map(String::from).collect();
        choose(&args).map(|steps| steps.iter().map(|step| step.name).collect())
    }

    #[test]
    fn without_names_all_steps_run() {
        assert_eq!(names(&[]).unwrap().len(), STEPS.len());
    }

    #[test]
    fn only_the_named_steps_run() {
        assert_eq!(names(&["docs", "tidy"]).unwrap(), ["docs", "tidy"]);
        assert!(names(&["docs", "dcos"]).is_err());
    }
}
