//! What the command line asks for.

use std::path::PathBuf;

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser};

use crate::MEASUREMENTS;

/// Measure skep-cache beside the caches of Rust and Perl, memcached and Redis.
#[derive(Debug, PartialEq, Parser)]
#[command(name = "cache-bench", bin_name = "cargo xtask peers cache", max_term_width = 120)]
pub(crate) struct Flags {
    /// What to measure; each takes three minutes at most
    #[arg(value_name = "MEASUREMENT", required = true, value_parser = measurements())]
    pub(crate) measurements: Vec<String>,
    /// Rounds, each with every cell once
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    pub(crate) rounds: usize,
    /// Milliseconds of one figure
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub(crate) millis: u64,
    /// Accesses of each trace
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000_000))]
    pub(crate) accesses: usize,
    /// The jar with the traces; without it, Maven downloads it
    #[arg(long, value_name = "FILE")]
    pub(crate) jar: Option<PathBuf>,
    /// Only these rows, with commas between them; the beginning of a name is enough
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Write tools/runs/NAME.json (all rounds) and NAME.md (the tables); or a path that ends in .json
    #[arg(long, value_name = "NAME", value_parser = record)]
    pub(crate) out: Option<PathBuf>,
    /// First install the Debian packages that are missing (as root), then measure
    #[arg(long)]
    pub(crate) install: bool,
}

fn measurements() -> PossibleValuesParser {
    MEASUREMENTS.map(|(name, about, _)| PossibleValue::new(name).help(about)).into()
}

impl Flags {
    /// Whether a row of this name takes part.
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| row.starts_with(name.trim()))
    }
}

/// Where a record of this name goes.
#[expect(clippy::unnecessary_wraps, reason = "a value parser of clap returns a result")]
fn record(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(path);
    }
    Ok(crate::folder().join("../runs").join(name).with_added_extension("json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &[&str]) -> Result<Flags, clap::Error> {
        Flags::try_parse_from(["cache"].iter().chain(arguments))
    }

    #[test]
    fn the_command_line_is_well_formed() {
        <Flags as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn what_is_named_is_measured_with_the_defaults() {
        let flags = flags(&["traces"]).unwrap();
        assert_eq!((flags.measurements, flags.rounds, flags.millis), (vec!["traces".to_owned()], 5, 100));
    }

    #[test]
    fn nothing_named_is_an_error() {
        assert!(flags(&[]).unwrap_err().to_string().contains("<MEASUREMENT>"));
    }

    #[test]
    fn a_measurement_that_is_not_there_gets_the_nearest() {
        assert!(flags(&["trace"]).unwrap_err().to_string().contains("'traces'"));
    }

    #[test]
    fn a_row_is_wanted_by_the_beginning_of_its_name() {
        let flags = flags(&["traces", "--only", "moka, foyer l"]).unwrap();
        assert!(flags.wants("moka (settled)") && flags.wants("foyer lru"));
        assert!(!flags.wants("foyer sieve"));
    }

    #[test]
    fn no_rounds_is_an_error_that_says_the_range() {
        let error = flags(&["traces", "--rounds", "0"]).unwrap_err().to_string();
        assert!(error.contains("1..=1000"), "{error}");
    }
}
