//! What is wrong with a configuration.

use std::fmt;

/// What is wrong with a configuration: all of it, one line each, with its place.
#[derive(Debug)]
pub(crate) struct ConfigError {
    problems: Vec<String>,
}

impl ConfigError {
    pub(crate) fn new(problems: Vec<String>) -> Self {
        Self { problems }
    }

    pub(crate) fn one(problem: impl Into<String>) -> Self {
        Self { problems: vec![problem.into()] }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl std::error::Error for ConfigError {}
