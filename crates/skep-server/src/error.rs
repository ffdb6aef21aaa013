//! Why a server did not start.

use std::{fmt, io};

/// Why a server did not start. The text, one line or several, is for the operator.
#[derive(Debug)]
pub struct StartError(pub(crate) String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

/// Each of these errors explains itself.
macro_rules! from_display {
    ($($error:ty),+) => {
        $(impl From<$error> for StartError {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        })+
    };
}

from_display!(crate::config::ConfigError, crate::listener::ListenError, skep::StartError, io::Error);
