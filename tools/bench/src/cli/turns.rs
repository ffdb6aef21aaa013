//! What the commands that play rounds have in common: how many, in which order, and where the servers that they start
//! are.

use clap::Args;

use super::{Failure, number};
use crate::core;
use crate::load::Target;
use crate::server::Launch;

/// The highest number of a core.
pub(crate) const MOST_CORES: u64 = 1 << 16;

/// How rounds are played.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Rounds")]
pub(crate) struct Turns {
    /// Rounds; in each, every variant has one turn. Intervals are shown from 5 on
    #[arg(short = 'R', long, value_name = "N", default_value_t = 10, value_parser = number::<usize>(1..=10_000))]
    pub(crate) rounds: usize,
    /// Repeat the orders of the run that had this seed
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// What is requested of a command
    #[arg(long, default_value = "http://127.0.0.1:{port}/", value_parser = url)]
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) servers: Servers,
    /// Let servers and load run on any core
    #[arg(long)]
    no_pin: bool,
}

/// Where servers run that are started.
#[derive(Debug, Clone, Args)]
pub(crate) struct Servers {
    /// Core of the servers that are started
    #[arg(long = "server-core", value_name = "CORE", value_parser = number::<usize>(0..=MOST_CORES))]
    pub(crate) core: Option<usize>,
}

fn url(text: &str) -> Result<String, String> {
    text.replace("{port}", "1").parse::<Target>()?;
    Ok(text.to_owned())
}

impl Turns {
    /// Whether port and URL fit each other: a port that nobody is asked at, or that nobody listens at, is a mistake.
    pub(crate) fn fits(&self, name: &str, launch: &Launch) -> Result<(), Failure> {
        if launch.wants_port() == self.url.contains("{port}") {
            return Ok(());
        }
        Err(Failure::Usage(format!("{name}: {{port}} stands in only one of the command and --url {}", self.url)))
    }

    /// What the orders of the rounds come from.
    pub(crate) fn random(&self) -> fastrand::Rng {
        self.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed)
    }

    /// Whether servers and load are bound to cores.
    pub(crate) fn pins(&self) -> bool {
        !self.no_pin
    }

    /// The core of the servers: the first of ours that is not `taken`, unless a flag names one or there is only one.
    pub(crate) fn core(&self, taken: &[usize]) -> Option<usize> {
        let ours = core::ours();
        if self.no_pin || ours.len() < 2 {
            return self.servers.core;
        }
        self.servers.core.or_else(|| ours.into_iter().find(|core| !taken.contains(core)))
    }
}

/// `NAME=...`, and what it is; the same name twice is a mistake.
pub(crate) fn named(variants: &[String], example: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut named: Vec<(String, String)> = Vec::new();
    for variant in variants {
        let parts = variant.split_once('=').filter(|(name, what)| is_name(name) && !what.is_empty());
        let (name, what) =
            parts.ok_or_else(|| Failure::Usage(format!("\"{variant}\" is no variant; it would be {example}")))?;
        if named.iter().any(|(other, _)| other == name) {
            return Err(Failure::Usage(format!("two variants are called \"{name}\"")));
        }
        named.push((name.to_owned(), what.to_owned()));
    }
    if named.is_empty() {
        Err(Failure::Usage(format!("no variant is named; it would be {example}")))
    } else {
        Ok(named)
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', ':', ' ', '<', '>', '*'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<T: std::fmt::Debug>(result: Result<T, Failure>) -> String {
        match result {
            Err(Failure::Usage(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_variant_has_a_name_of_its_own() {
        let named = |variants: &[&str]| {
            super::named(&variants.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>(), "'NAME=./server'")
        };
        assert_eq!(named(&["a=LOG=off ./a"]).unwrap(), [("a".to_owned(), "LOG=off ./a".to_owned())]);
        assert_eq!(error(named(&["./a"])), "\"./a\" is no variant; it would be 'NAME=./server'");
        assert_eq!(error(named(&["a="])), "\"a=\" is no variant; it would be 'NAME=./server'");
        assert_eq!(error(named(&["a=b", "a=c"])), "two variants are called \"a\"");
        assert_eq!(error(named(&[])), "no variant is named; it would be 'NAME=./server'");
    }

    #[test]
    fn a_port_that_only_one_side_knows_is_a_mistake() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            turns: Turns,
        }
        let Line { turns } = clap::Parser::parse_from(["cold"]);
        let launch: Launch = "./server 8080".parse().unwrap();
        let expected = "a: {port} stands in only one of the command and --url http://127.0.0.1:{port}/";
        assert_eq!(error(turns.fits("a", &launch)), expected);
    }
}
