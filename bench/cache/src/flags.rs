//! What the command line asks for.

use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};

use crate::{MEASUREMENTS, Result};

pub(crate) const HELP: &str = "\
Measures skep-cache beside the caches of Rust and Perl, memcached and Redis.

Usage: cargo xtask peers cache MEASUREMENT... [options]

Measurements, each of three minutes at most:
  traces         hit ratios on public traces
  posts          the table of the post on Perl's caches, beside Perl's, Rust's, memcached and Redis
  shared         reads over 100 000 keys, in one process and in two, beside Rust's caches
  interface      what `Cache` adds to each driver

  --rounds N     rounds, each with every cell once (5)
  --millis N     milliseconds of one figure (100)
  --accesses N   of each trace (1000000)
  --jar FILE     the jar with the traces, instead of asking Maven for it
  --only NAMES   these rows only, with commas between them; a name's beginning is enough
  --out NAME     write bench/runs/NAME.json (all raw rounds) and NAME.md (the tables); or a path that ends in .json
  --install      first install the Debian packages that are missing (as root), then measure
  --help         show this
";

/// What to do.
pub(crate) enum Order {
    Help,
    Run(Flags),
}

/// How to measure, and what.
#[derive(Debug, PartialEq)]
pub(crate) struct Flags {
    pub(crate) measurements: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) millis: u64,
    pub(crate) accesses: usize,
    pub(crate) jar: Option<PathBuf>,
    only: Vec<String>,
    pub(crate) out: Option<PathBuf>,
    pub(crate) install: bool,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            measurements: Vec::new(),
            rounds: 5,
            millis: 100,
            accesses: 1_000_000,
            jar: None,
            only: Vec::new(),
            out: None,
            install: false,
        }
    }
}

impl Flags {
    /// Whether a row of this name takes part.
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| row.starts_with(name.as_str()))
    }
}

/// Reads the arguments; the first one that makes no sense is the error.
pub(crate) fn read(mut parser: Parser) -> Result<Order> {
    let mut flags = Flags::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("help") | Arg::Short('h') => return Ok(Order::Help),
            Arg::Long("install") => flags.install = true,
            Arg::Long("rounds") => flags.rounds = within(parser.value()?.parse()?, 1..=1000, "--rounds")?,
            Arg::Long("millis") => flags.millis = within(parser.value()?.parse()?, 1..=60_000, "--millis")?,
            Arg::Long("accesses") => flags.accesses = within(parser.value()?.parse()?, 1..=100_000_000, "--accesses")?,
            Arg::Long("jar") => flags.jar = Some(parser.value()?.into()),
            Arg::Long("only") => flags.only = names(&parser.value()?.string()?),
            Arg::Long("out") => flags.out = Some(record(&parser.value()?.string()?)),
            Arg::Value(name) => flags.measurements.push(known(name.string()?)?),
            _ => return Err(argument.unexpected().into()),
        }
    }
    if flags.measurements.is_empty() {
        return Err(format!("what to measure? One or more of {}", list()).into());
    }
    Ok(Order::Run(flags))
}

fn known(name: String) -> Result<String> {
    if MEASUREMENTS.iter().any(|(known, _)| *known == name) {
        return Ok(name);
    }
    Err(format!("there is no measurement {name:?}; there are {}", list()).into())
}

fn list() -> String {
    MEASUREMENTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

fn within<T: PartialOrd + std::fmt::Display>(value: T, range: std::ops::RangeInclusive<T>, flag: &str) -> Result<T> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(format!("{flag} is {value}, and must be from {} to {}", range.start(), range.end()).into())
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Where a record of this name goes.
fn record(name: &str) -> PathBuf {
    let path = PathBuf::from(name);
    if path.extension().is_some_and(|extension| extension == "json") {
        return path;
    }
    crate::folder().join("../runs").join(name).with_added_extension("json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &[&str]) -> Result<Flags> {
        match read(Parser::from_args(arguments))? {
            Order::Run(flags) => Ok(flags),
            Order::Help => Err("not a run".into()),
        }
    }

    #[test]
    fn what_is_named_is_measured_with_the_defaults() {
        let flags = flags(&["traces"]).unwrap();
        assert_eq!(flags, Flags { measurements: vec!["traces".into()], ..Flags::default() });
    }

    #[test]
    fn nothing_named_is_an_error_that_names_all() {
        assert!(flags(&[]).unwrap_err().to_string().starts_with("what to measure? One or more of interface, traces"));
    }

    #[test]
    fn a_measurement_that_is_not_there_is_named() {
        let error = flags(&["trace"]).unwrap_err().to_string();
        assert!(error.starts_with("there is no measurement \"trace\"; there are interface, traces"), "{error}");
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
        assert_eq!(error, "--rounds is 0, and must be from 1 to 1000");
    }
}
