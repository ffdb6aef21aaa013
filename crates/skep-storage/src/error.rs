//! What a client hears if the place of files does not do what it is asked.

use std::error::Error as StdError;
use std::io;

use skep::{Error, HeaderValue, StatusCode, header};

/// What went wrong where files are.
#[derive(Debug)]
pub(crate) enum Problem {
    /// There is no such file.
    Missing,
    /// It may work later.
    Away(Box<dyn StdError + Send + Sync>),
    /// It will not work by itself.
    Broken(Box<dyn StdError + Send + Sync>),
}

pub(crate) type Outcome<T> = std::result::Result<T, Problem>;

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::TimedOut => {
                Self::Away(error.into())
            }
            _ => Self::Broken(error.into()),
        }
    }
}

/// 404, 503 with `Retry-After`, or 500. The cause goes to the log.
impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Missing => Self::not_found(),
            Problem::Away(cause) => Self::new(StatusCode::SERVICE_UNAVAILABLE)
                .with_message("Files cannot be reached at the moment. Please try again later.")
                .with_header(header::RETRY_AFTER, HeaderValue::from_static("5"))
                .with_cause(cause),
            Problem::Broken(cause) => Self::internal(cause),
        }
    }
}
