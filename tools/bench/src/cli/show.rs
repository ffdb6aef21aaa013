//! `skep bench show`: records again, and records of different days beside each other.

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use super::output::Output;
use crate::record::Record;
use crate::report;

/// Print and compare records.
///
/// Of several records, the change of each variant since the first. Two days are no pairs: there is no interval, and the
/// differences between the machines are listed.
#[derive(Debug, Args)]
#[command(override_usage = "skep bench show FILE... [OPTIONS]")]
pub(crate) struct Given {
    /// Records that --json of the other commands has written
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(given: Given) -> Result<(), Failure> {
    given.output.check()?;
    let records = given.files.iter().map(|file| Record::read(file)).collect::<Result<Vec<_>, _>>()?;
    if let [record] = records.as_slice() {
        let text = || report::with_machine(record, given.output.confidence(), &given.output.measures);
        return Ok(given.output.write_as(record, text)?);
    }
    let files: Vec<String> = given.files.iter().map(|file| file.display().to_string()).collect();
    let records: Vec<(&str, &Record)> = files.iter().map(String::as_str).zip(&records).collect();
    print!("{}", report::beside(&records, &given.output.measures));
    Ok(())
}
