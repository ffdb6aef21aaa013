//! Why a server did not start.

use std::ffi::OsStr;
use std::{fmt, io};

/// Why a server did not start. The text, one line or several, is for the operator.
#[derive(Debug)]
pub struct StartError {
    text: String,
    is_usage: bool,
}

impl StartError {
    pub(crate) fn new(text: String) -> Self {
        Self { text, is_usage: false }
    }

    /// The command line is wrong.
    pub(crate) fn usage(text: String) -> Self {
        Self { text, is_usage: true }
    }

    /// True if the command line is wrong: there is no such flag, or it lacks its value. A program ends with exit code 2
    /// then, and otherwise with 1. The value of a setting that a flag has is judged as in the file, and is no such
    /// error.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        self.is_usage
    }

    /// An environment variable that only supervisors set has another value.
    pub(crate) fn of_variable(name: &str, value: &OsStr) -> Self {
        Self::new(format!("{name} = {}: not written by a supervisor", value.display()))
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for StartError {}

impl From<skep::StartError> for StartError {
    fn from(error: skep::StartError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self::new(error.to_string())
    }
}
