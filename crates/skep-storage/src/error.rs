//! What a client hears if the place of files does not do what it is asked.

use std::error::Error as StdError;
use std::io;

use skep::offload::Lost;
use skep::{Error, HeaderValue, StatusCode, header};

/// What went wrong where files are.
#[derive(Debug)]
pub(crate) enum Problem {
    /// There is no such file.
    Missing(Box<dyn StdError + Send + Sync>),
    /// It may work later.
    Away(Box<dyn StdError + Send + Sync>),
    /// It will not work by itself.
    Broken(Box<dyn StdError + Send + Sync>),
}

pub(crate) type Outcome<T> = std::result::Result<T, Problem>;

impl Problem {
    /// Where a file is written, what is missing is not the file that a client asks for.
    pub(crate) fn in_writing(self) -> Self {
        match self {
            Self::Missing(cause) => Self::Broken(cause),
            other => other,
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing(error.into()),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::TimedOut => {
                Self::Away(error.into())
            }
            _ => Self::Broken(error.into()),
        }
    }
}

/// Work that the pool of the server did not do.
pub(crate) fn lost(error: Lost) -> Problem {
    Problem::Away(error.into())
}

/// 404, 503 with `Retry-After`, or 500. The cause goes to the log.
impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Missing(cause) => Self::not_found().with_cause(cause),
            Problem::Away(cause) => Self::new(StatusCode::SERVICE_UNAVAILABLE)
                .with_message("Files cannot be reached at the moment. Please try again later.")
                .with_header(header::RETRY_AFTER, HeaderValue::from_static("5"))
                .with_cause(cause),
            Problem::Broken(cause) => Self::internal(cause),
        }
    }
}
