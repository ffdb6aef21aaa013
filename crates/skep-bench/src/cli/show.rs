//! `skep bench show`: records again, and records of different days beside each other.

use std::path::Path;

use super::Failure;
use super::flags::{self, Section};
use super::output::{self, HasOutput, Output};
use crate::record::Record;
use crate::report;

#[derive(Default)]
struct Given {
    output: Output,
}

impl HasOutput for Given {
    fn output(&mut self) -> &mut Output {
        &mut self.output
    }
}

fn sections() -> [Section<Given>; 1] {
    [Section::new("Results (of one record)", output::flags())]
}

pub(super) fn help() -> String {
    flags::help(
        "skep bench show FILE... [FLAG...]\n\n\
         Prints records; of several, what became of each variant since the first of them. Two days are no pairs: there is no\n\
         interval, and what differs between the machines is said.",
        &sections(),
    )
}

pub(super) fn run(arguments: Vec<String>) -> Result<(), Failure> {
    let mut given = Given::default();
    let files = flags::read(&sections(), &mut given, arguments)?;
    given.output.check()?;
    let records = files.iter().map(|file| Record::read(Path::new(file))).collect::<Result<Vec<_>, _>>()?;
    match records.as_slice() {
        [] => Err(Failure::Usage("a record is missing; `--json FILE` of the other words writes one".into())),
        [record] => Ok(given
            .output
            .write_as(record, || report::with_machine(record, given.output.confidence(), &given.output.measures))?),
        _ => {
            let named: Vec<(&str, &Record)> = files.iter().map(String::as_str).zip(&records).collect();
            print!("{}", report::beside(&named, &given.output.measures));
            Ok(())
        }
    }
}
