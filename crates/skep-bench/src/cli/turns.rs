//! What the words that play rounds have in common: how many, in which order, and where the servers that they start are.

use super::Failure;
use super::flags::{Flag, number};
use crate::core;
use crate::load::Target;
use crate::server::Launch;

/// How rounds are played.
#[derive(Debug, Clone)]
pub(crate) struct Turns {
    pub(crate) rounds: usize,
    pub(crate) seed: Option<u64>,
    /// What is asked of a server that is started.
    pub(crate) url: String,
    pub(crate) server_core: Option<usize>,
    pub(crate) pins: bool,
}

impl Default for Turns {
    fn default() -> Self {
        Self { rounds: 10, seed: None, url: "http://127.0.0.1:{port}/".into(), server_core: None, pins: true }
    }
}

/// Whoever has these settings among others.
pub(crate) trait HasTurns {
    fn turns(&mut self) -> &mut Turns;
}

impl Turns {
    /// Whether port and URL fit each other: a port that nobody is asked at, or that nobody listens at, is a mistake.
    pub(crate) fn fits(&self, name: &str, launch: &Launch) -> Result<(), Failure> {
        if launch.wants_port() == self.url.contains("{port}") {
            return Ok(());
        }
        Err(Failure::Usage(format!("{name}: {{port}} stands in only one of the command and --url {}", self.url)))
    }

    /// The core of the servers: the first of ours that is not `taken`, unless somebody says otherwise or there is only one.
    pub(crate) fn core(&self, taken: &[usize]) -> Option<usize> {
        let ours = core::ours();
        if !self.pins || ours.len() < 2 {
            return self.server_core;
        }
        self.server_core.or_else(|| ours.into_iter().find(|core| !taken.contains(core)))
    }
}

/// `--rounds` and `--seed`.
pub(crate) fn rounds<T: HasTurns>() -> [Flag<T>; 2] {
    [
        Flag {
            name: "rounds",
            short: Some('R'),
            takes: "N",
            help: "in each, every variant has one turn (10; bounds from 5 on)",
            set: |to, text| {
                to.turns().rounds = number(text, 1, 10_000)?;
                Ok(())
            },
        },
        Flag {
            name: "seed",
            short: None,
            takes: "N",
            help: "the same orders again",
            set: |to, text| {
                to.turns().seed = Some(number(text, 0, u64::MAX)?);
                Ok(())
            },
        },
    ]
}

/// `--url`
pub(crate) fn url<T: HasTurns>() -> Flag<T> {
    Flag {
        name: "url",
        short: None,
        takes: "URL",
        help: "what is asked of a command (http://127.0.0.1:{port}/)",
        set: |to, text| {
            text.replace("{port}", "1").parse::<Target>()?;
            text.clone_into(&mut to.turns().url);
            Ok(())
        },
    }
}

/// `--server-core`
pub(crate) fn server_core<T: HasTurns>() -> Flag<T> {
    Flag {
        name: "server-core",
        short: None,
        takes: "CORE",
        help: "the core of the servers that are started",
        set: |to, text| {
            to.turns().server_core = Some(number(text, 0, 1 << 16)?);
            Ok(())
        },
    }
}

/// `--no-pin`
pub(crate) fn no_pin<T: HasTurns>() -> Flag<T> {
    Flag {
        name: "no-pin",
        short: None,
        takes: "",
        help: "servers and load run on any core",
        set: |to, _| {
            to.turns().pins = false;
            Ok(())
        },
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
        let launch: Launch = "./server 8080".parse().unwrap();
        let expected = "a: {port} stands in only one of the command and --url http://127.0.0.1:{port}/";
        assert_eq!(error(Turns::default().fits("a", &launch)), expected);
    }
}
