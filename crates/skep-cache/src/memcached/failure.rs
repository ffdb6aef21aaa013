//! Why memcached did not answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::protocol::{Code, excerpt};
use crate::error::Error;

/// Why memcached did not answer. Cheap to copy: when a connection ends, everybody who waited on it gets one.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    KeyEmpty,
    KeyTooLong {
        bytes: usize,
        limit: usize,
    },
    /// There is no connection: who did not answer, and what the system said.
    Unreachable {
        server: Arc<str>,
        why: Arc<str>,
    },
    /// It was unreachable a moment ago and is not asked again before its time.
    LeftOut {
        server: Arc<str>,
    },
    TimedOut {
        server: Arc<str>,
        after: Duration,
    },
    /// The connection ended before the answer.
    Ended {
        server: Arc<str>,
        why: Arc<str>,
    },
    /// The server answered, with an error.
    Refused {
        server: Arc<str>,
        said: Arc<str>,
    },
    /// What arrived is not memcached's protocol.
    Garbage {
        what: Arc<str>,
    },
    /// More waits on one connection than it may.
    Full {
        server: Arc<str>,
        waiting: usize,
    },
    NoRuntime,
}

impl Failure {
    pub(super) fn garbage(what: &str, input: &[u8]) -> Self {
        Self::Garbage { what: format!("{what}: \"{}\"", excerpt(input)).into() }
    }

    /// An answer that does not fit the question.
    pub(super) fn surprise(code: &Code) -> Self {
        Self::Garbage { what: format!("{code:?} where that is no answer").into() }
    }

    /// Whether the question never got through, so that asking again on a new connection does no harm.
    pub(super) fn is_end(&self) -> bool {
        matches!(self, Self::Ended { .. })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyEmpty => write!(f, "the key is empty, and memcached takes 1 to 250 bytes"),
            Self::KeyTooLong { bytes, limit } => {
                write!(f, "the key takes {bytes} bytes, and memcached's limit is {limit}")
            }
            Self::Unreachable { server, why } => write!(f, "memcached at {server} is not reachable: {why}"),
            Self::LeftOut { server } => {
                write!(f, "memcached at {server} was not reachable a moment ago, and is left out for a while")
            }
            Self::TimedOut { server, after } => write!(f, "memcached at {server} did not answer within {after:?}"),
            Self::Ended { server, why } => write!(f, "the connection to memcached at {server} ended: {why}"),
            Self::Refused { server, said } => write!(f, "memcached at {server} says: {said}"),
            Self::Garbage { what } => write!(f, "what answers does not speak memcached's protocol, but sent {what}"),
            Self::Full { server, waiting } => {
                write!(f, "{waiting} requests wait for memcached at {server} already; it is too slow for this load")
            }
            Self::NoRuntime => write!(f, "the memcached driver works inside a tokio runtime with io and time enabled"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::KeyEmpty => Self::misused("a key has at least one byte"),
            Failure::KeyTooLong { bytes, limit } => Self::too_large(bytes, limit),
            Failure::NoRuntime => {
                Self::misused("the memcached driver works inside a tokio runtime with io and time enabled")
            }
            _ => Self::unreachable("asking memcached").because(failure),
        }
    }
}
