//! Measures Skep and its peers side by side.
//!
//! Every variant runs on one core and the load on another, in rounds, in random order, so that what disturbs the machine
//! disturbs all alike; ratios are made within a round. One variant runs twice, to show how much a difference must be to mean
//! anything. It installs nothing, talks to loopback only, and ends by itself.
//!
//! Start reading at [`run::experiment`]; what is measured stands in [`experiment`]. Run: `cargo xtask peers`.

mod answer;
mod build;
mod cores;
mod experiment;
mod flags;
mod goal;
mod http;
mod load;
mod machine;
mod measure;
mod proc;
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

use flags::{Flags, Order};
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
    match flags::read(lexopt::Parser::from_env())? {
        Order::Help => print!("{}", flags::HELP),
        Order::List => print!("{}", report::list()),
        Order::Run(flags) => measure(&flags)?,
    }
    Ok(())
}

fn measure(flags: &Flags) -> Result<()> {
    let plan = experiment::plan(&flags.experiments, &flags.only)?;
    build::ready(&plan, flags.build)?;
    run::end_on_signals()?;
    let machine = Machine::look();
    let site = Site::lay_out()?;
    let mut outcomes = Vec::new();
    for experiment in &plan {
        for outcome in run::experiment(experiment, &site, flags)? {
            println!("{}", report::markdown(&outcome));
            outcomes.push(outcome);
        }
    }
    match &flags.out {
        Some(file) => write(file, &record::json(&machine, flags, &outcomes), &report::page(&machine, flags, &outcomes)),
        None => Ok(()),
    }
}

/// Writes the record, and the tables beside it.
fn write(file: &Path, record: &str, page: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, record)?;
    fs::write(file.with_extension("md"), page)?;
    eprintln!("wrote {} and its .md", file.display());
    Ok(())
}
