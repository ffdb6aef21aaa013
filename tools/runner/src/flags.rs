//! What the command line asks for.

use std::path::PathBuf;

use clap::Parser;
use clap::builder::RangedU64ValueParser;

/// In place of an experiment: those who make the load are measured.
pub(crate) const GENERATORS: &str = "load";

/// Measure Skep and its peers side by side: the server on core 0, the load on core 1, rounds in random order.
#[derive(Debug, PartialEq, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(name = "runner", bin_name = "cargo xtask peers", max_term_width = 120, after_help = EXAMPLES)]
pub(crate) struct Flags {
    /// Experiments, or groups of them; --list names them. Without any: all but the posts', `processes` and `isolate`
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiments: Vec<String>,
    /// Only these variants, with commas between them; may be repeated, for names that have commas
    #[arg(long = "only", value_name = "NAMES", value_parser = names)]
    only: Vec<Names>,
    /// Rounds per experiment, each with every variant once [default: 7; of the posts 5]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    rounds: Option<usize>,
    /// Seconds of load per variant and round [default: 5; of the posts 1]
    #[arg(long, value_name = "S", value_parser = seconds)]
    seconds: Option<f64>,
    /// Write tools/runs/NAME.json (all rounds) and NAME.md (the tables); or a path that ends in .json
    #[arg(long, value_name = "NAME", value_parser = record)]
    pub(crate) out: Option<PathBuf>,
    /// Keep what this record has of other experiments: a long run can be made in pieces
    #[arg(long, requires = "out")]
    pub(crate) add: bool,
    /// Measure nothing: make tools/posts.md and README.md's figures from this record of the posts
    #[arg(long, value_name = "FILE", value_parser = record)]
    pub(crate) page: Option<PathBuf>,
    /// First install the Debian packages that are missing (as root), then measure
    #[arg(long)]
    pub(crate) install: bool,
    /// Measure what is built already
    #[arg(long)]
    pub(crate) no_build: bool,
    /// List the experiments, their variants and their goals
    #[arg(long)]
    pub(crate) list: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask peers hello --only skep,hyper --rounds 3
  cargo xtask peers posts --install     the five posts' experiments, and tools/posts.md
  cargo xtask peers load                the load generator of `skep bench` beside wrk and oha, on one core";

/// What one --only names.
#[derive(Clone, Debug, PartialEq)]
struct Names(Vec<String>);

impl Flags {
    /// Names of variants; empty means all.
    pub(crate) fn only(&self) -> Vec<String> {
        self.only.iter().flat_map(|names| names.0.clone()).collect()
    }

    /// Whether this is about the posts' experiments only.
    pub(crate) fn posts(&self) -> bool {
        !self.experiments.is_empty() && self.experiments.iter().all(|name| name.starts_with("post"))
    }

    /// Rounds per experiment. The posts' have many variants and show ratios that are far from 1; five are the fewest
    /// that give a ratio bounds.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.posts() { 5 } else { 7 })
    }

    /// Seconds of load per variant and round.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.posts() { 1.0 } else { 5.0 })
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=600.0).contains(seconds));
    seconds.ok_or_else(|| "expected a number from 0.1 to 600".into())
}

/// The names in a list, or the one that has commas itself.
#[expect(clippy::unnecessary_wraps, reason = "a value parser of clap returns a result")]
fn names(list: &str) -> Result<Names, String> {
    if crate::experiment::is_variant(list) {
        return Ok(Names(vec![list.to_owned()]));
    }
    Ok(Names(list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()))
}

/// Where a record of this name goes.
#[expect(clippy::unnecessary_wraps, reason = "a value parser of clap returns a result")]
fn record(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(path);
    }
    Ok(crate::build::tools().join("runs").join(name).with_added_extension("json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &[&str]) -> Result<Flags, clap::Error> {
        Flags::try_parse_from(["peers"].iter().chain(arguments))
    }

    #[test]
    fn the_command_line_is_well_formed() {
        <Flags as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn experiments_and_variants_are_named() {
        let flags = flags(&["hello", "--only", "skep, hyper", "memory", "--rounds=2"]).unwrap();
        assert_eq!(flags.experiments, ["hello", "memory"]);
        assert_eq!(flags.only(), ["skep", "hyper"]);
        assert!(flags.rounds() == 2 && (flags.seconds() - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_name_with_commas_is_said_alone() {
        let flags = flags(&["post-dart", "--only", "skep, two checks", "--only", "skep,Express"]).unwrap();
        assert_eq!(flags.only(), ["skep, two checks", "skep", "Express"]);
    }

    #[test]
    fn the_posts_have_defaults_of_their_own() {
        let flags = flags(&["posts", "--install"]).unwrap();
        assert!(flags.rounds() == 5 && (flags.seconds() - 1.0).abs() < 1e-9 && flags.install);
        assert!(super::tests::flags(&["posts", "--add"]).unwrap_err().to_string().contains("--out <NAME>"));
    }

    #[test]
    fn a_record_has_a_place_unless_it_is_a_path() {
        assert!(record("first").unwrap().ends_with("tools/runs/first.json"));
        assert!(record("v0.1").unwrap().ends_with("tools/runs/v0.1.json"));
        assert_eq!(record("x/first.json").unwrap(), PathBuf::from("x/first.json"));
    }

    #[test]
    fn no_rounds_is_an_error_that_says_the_range() {
        let error = flags(&["--rounds", "0"]).unwrap_err().to_string();
        assert!(error.contains("1..=1000"), "{error}");
    }
}
