//! Why a drill could not be carried out.

use std::fmt;
use std::io;

/// A drill could not be carried out. What it found out, if it could, is in its [`Report`](crate::Report).
#[derive(Debug)]
pub struct Error(String);

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// What comes of something that may fail.
pub type Result<T> = std::result::Result<T, Error>;
