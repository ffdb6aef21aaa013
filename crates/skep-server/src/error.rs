//! Why a server did not start.

use std::ffi::OsStr;
use std::{fmt, io};

/// Why a server did not start. The text, one line or several, is for the operator.
#[derive(Debug)]
pub struct StartError(pub(crate) String);

impl StartError {
    /// An environment variable that only supervisors set has another value.
    pub(crate) fn of_variable(name: &str, value: &OsStr) -> Self {
        Self(format!("{name} = {}: not written by a supervisor", value.display()))
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

impl From<skep::StartError> for StartError {
    fn from(error: skep::StartError) -> Self {
        Self(error.to_string())
    }
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}
