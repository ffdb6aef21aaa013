//! What is wrong with a file.

use std::fmt;

/// What is wrong with a file of messages, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file, as its [`TextFile`](crate::TextFile) names it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub text: String,
}

impl Problem {
    pub(crate) fn new(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}

impl std::error::Error for Problem {}
