//! What the command line asks for.

use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};

use crate::Result;

pub(crate) const HELP: &str = "\
Measures Skep and its peers side by side: server on core 0, load on core 1, rounds in random order.

Usage: cargo xtask peers [EXPERIMENT...] [options]
       cargo xtask peers posts --install     the five posts' experiments, and docs/benchmarks.md
       cargo xtask peers load                the load generator of `skep bench` beside wrk and oha, on one core

  --rounds N     rounds per experiment, each with every variant once (7; of the posts 5)
  --seconds S    seconds of load per variant and round, 0.1 or more (5; of the posts 1)
  --only NAMES   these variants only, with commas between them; may be said again, for names that have commas
  --out NAME     write bench/runs/NAME.json (all raw rounds) and NAME.md (the tables); or a path that ends in .json
  --add          what this record has of other experiments stays in it: a long run can be made in pieces
  --page FILE    make docs/benchmarks.md and README.md's figures from this record of the posts, and measure nothing
  --install      first install the Debian packages that are missing (as root), then measure
  --no-build     measure what is built already
  --list         show the experiments, their variants and their goals
  --help         show this
";

/// In place of an experiment: those who make the load are measured.
pub(crate) const GENERATORS: &str = "load";

/// What to do.
pub(crate) enum Order {
    Help,
    List,
    Page(PathBuf),
    Run(Flags),
}

/// How to measure, and what.
#[derive(Debug, PartialEq)]
pub(crate) struct Flags {
    /// Names of experiments; empty means all.
    pub(crate) experiments: Vec<String>,
    /// Names of variants; empty means all.
    pub(crate) only: Vec<String>,
    rounds: Option<usize>,
    seconds: Option<f64>,
    pub(crate) out: Option<PathBuf>,
    pub(crate) add: bool,
    pub(crate) build: bool,
    pub(crate) install: bool,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            experiments: Vec::new(),
            only: Vec::new(),
            rounds: None,
            seconds: None,
            out: None,
            add: false,
            build: true,
            install: false,
        }
    }
}

impl Flags {
    /// Whether this is about the posts' experiments only.
    pub(crate) fn posts(&self) -> bool {
        !self.experiments.is_empty() && self.experiments.iter().all(|name| name.starts_with("post"))
    }

    /// Rounds per experiment. The posts' have many variants and show ratios that are far from 1; five are the fewest that give a ratio bounds.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.posts() { 5 } else { 7 })
    }

    /// Seconds of load per variant and round.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.posts() { 1.0 } else { 5.0 })
    }
}

/// Reads the arguments; the first one that makes no sense is the error.
pub(crate) fn read(mut parser: Parser) -> Result<Order> {
    let mut flags = Flags::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("help") | Arg::Short('h') => return Ok(Order::Help),
            Arg::Long("list") => return Ok(Order::List),
            Arg::Long("no-build") => flags.build = false,
            Arg::Long("add") => flags.add = true,
            Arg::Long("install") => flags.install = true,
            Arg::Long("page") => return Ok(Order::Page(record(&parser.value()?.string()?))),
            Arg::Long("rounds") => flags.rounds = Some(within(parser.value()?.parse()?, 1..=1000, "--rounds")?),
            Arg::Long("seconds") => flags.seconds = Some(within(parser.value()?.parse()?, 0.1..=600.0, "--seconds")?),
            Arg::Long("only") => flags.only.extend(names(&parser.value()?.string()?)),
            Arg::Long("out") => flags.out = Some(record(&parser.value()?.string()?)),
            Arg::Value(name) => flags.experiments.push(name.string()?),
            _ => return Err(argument.unexpected().into()),
        }
    }
    if flags.add && flags.out.is_none() {
        return Err("--add says that a record stays, and --out does not say which".into());
    }
    Ok(Order::Run(flags))
}

fn within<T: PartialOrd + std::fmt::Display>(value: T, range: std::ops::RangeInclusive<T>, flag: &str) -> Result<T> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(format!("{flag} is {value}, and must be from {} to {}", range.start(), range.end()).into())
}

/// The names in a list, or the one that has commas itself.
fn names(list: &str) -> Vec<String> {
    if crate::experiment::is_variant(list) {
        return vec![list.to_owned()];
    }
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Where a record of this name goes.
fn record(name: &str) -> PathBuf {
    let path = PathBuf::from(name);
    if path.extension().is_some_and(|extension| extension == "json") {
        return path;
    }
    crate::build::bench().join("runs").join(name).with_added_extension("json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &[&str]) -> Result<Flags> {
        match read(Parser::from_args(arguments))? {
            Order::Run(flags) => Ok(flags),
            _ => Err("not a run".into()),
        }
    }

    #[test]
    fn nothing_said_is_everything_with_the_defaults() {
        assert_eq!(flags(&[]).unwrap(), Flags::default());
    }

    #[test]
    fn experiments_and_variants_are_named() {
        let flags = flags(&["hello", "--only", "skep, hyper", "memory", "--rounds=2"]).unwrap();
        assert_eq!(flags.experiments, ["hello", "memory"]);
        assert_eq!(flags.only, ["skep", "hyper"]);
        assert!(flags.rounds() == 2 && (flags.seconds() - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_name_with_commas_is_said_alone() {
        let flags = flags(&["post-dart", "--only", "skep, two checks", "--only", "skep,Express"]).unwrap();
        assert_eq!(flags.only, ["skep, two checks", "skep", "Express"]);
    }

    #[test]
    fn the_posts_have_defaults_of_their_own() {
        let flags = flags(&["posts", "--install"]).unwrap();
        assert!(flags.rounds() == 5 && (flags.seconds() - 1.0).abs() < 1e-9 && flags.install);
        assert!(super::tests::flags(&["posts", "--add"]).unwrap_err().to_string().starts_with("--add says"));
    }

    #[test]
    fn a_record_has_a_place_unless_it_is_a_path() {
        assert!(record("first").ends_with("bench/runs/first.json"));
        assert!(record("v0.1").ends_with("bench/runs/v0.1.json"));
        assert_eq!(record("x/first.json"), PathBuf::from("x/first.json"));
    }

    #[test]
    fn no_rounds_is_an_error_that_says_the_range() {
        let error = flags(&["--rounds", "0"]).unwrap_err().to_string();
        assert_eq!(error, "--rounds is 0, and must be from 1 to 1000");
    }
}
