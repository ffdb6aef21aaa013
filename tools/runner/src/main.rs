//! Measures Skep and its peers side by side.
//!
//! Every variant runs on one core and the load on another, in rounds, in random order, so that what disturbs the
//! machine disturbs all alike; ratios are made within a round. One variant runs twice, to show how much a difference
//! must be to mean anything. It installs nothing, talks to loopback only, and ends by itself.
//!
//! Start reading at [`run::experiment`]; what is measured stands in [`experiment`]. Run: `cargo xtask peers`.

mod answer;
mod build;
mod cluster;
mod cores;
mod experiment;
mod flags;
mod generators;
mod goal;
mod load;
mod machine;
mod measure;
mod need;
mod posts;
mod program;
mod record;
mod report;
mod run;
mod server;
mod site;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

use clap::Parser;
use flags::Flags;
use machine::Machine;
use site::Site;

/// What a person reads when it does not go on.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match peers() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn peers() -> Result<()> {
    let flags = Flags::parse();
    match &flags.page {
        _ if flags.list => {
            print!("{}", report::list());
            Ok(())
        }
        Some(file) => posts::write(file),
        None if flags.experiments == [flags::GENERATORS] => generators::run(&flags),
        None => measure(&flags),
    }
}

fn measure(flags: &Flags) -> Result<()> {
    let mut plan = experiment::plan(&flags.experiments, &flags.only())?;
    build::ready(&mut plan, !flags.no_build, flags.install)?;
    run::end_on_signals()?;
    let machine = Machine::look();
    let site = Site::lay_out()?;
    let (mut outcomes, old) = (Vec::new(), old(flags)?);
    let keep = |record: Value| -> Result<Value> {
        let record = old.as_ref().map_or_else(|| record.clone(), |old| record::merged(old, record.clone()));
        flags.out.as_ref().map_or(Ok(()), |file| write(file, &record))?;
        Ok(record)
    };
    for experiment in &plan {
        for outcome in run::experiment(experiment, &site, flags)? {
            println!("{}", report::markdown(&outcome));
            outcomes.push(outcome);
        }
        // After each: what comes next may fail, and a run is long.
        keep(record::json(&machine, flags, &outcomes))?;
    }
    let Some(file) = &flags.out else { return Ok(()) };
    if posts::wants_cache(flags) {
        let mut record = record::json(&machine, flags, &outcomes);
        record["cache"] = posts::measure_cache(file, flags.install)?.into();
        keep(record)?;
    }
    eprintln!("wrote {} and its .md", file.display());
    if flags.posts() { posts::write(file) } else { Ok(()) }
}

/// What the record has that this run is added to.
fn old(flags: &Flags) -> Result<Option<Value>> {
    match &flags.out {
        Some(file) if flags.add && file.exists() => read(file).map(Some),
        _ => Ok(None),
    }
}

/// A record that is there.
fn read(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{} is no record: {error}", file.display()).into())
}

/// Writes the record, and the tables beside it.
fn write(file: &Path, record: &Value) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, format!("{record:#}\n"))?;
    fs::write(file.with_extension("md"), record::page(record))?;
    Ok(())
}
