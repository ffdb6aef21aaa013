//! Errors of caches and drivers.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// The result of caches and drivers.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Cause = Arc<dyn StdError + Send + Sync>;

/// An error of a cache or a driver. Cloning is cheap: all callers that wait for one computation get the same error.
///
/// ```
/// use skep_cache::Error;
///
/// let error = Error::too_large(3000, 2048);
/// assert!(error.is_too_large() && !error.is_unreachable());
/// assert_eq!(error.to_string(), "3000 bytes do not fit: the limit is 2048");
/// ```
#[derive(Clone, Debug)]
pub struct Error {
    kind: Kind,
    cause: Option<Cause>,
}

#[derive(Clone, Debug)]
enum Kind {
    Unreachable(&'static str),
    Degraded,
    TooLarge { bytes: usize, limit: usize },
    Unsupported { driver: &'static str, what: &'static str },
    Corrupt(&'static str),
    Codec(&'static str),
    Contended { attempts: u32 },
    Misused(&'static str),
    Computation,
    Panicked(String),
    TimedOut { millis: u64 },
}

impl Error {
    /// The backend did not answer; `what` names the operation: "connecting", "writing".
    #[must_use]
    pub fn unreachable(what: &'static str) -> Self {
        Kind::Unreachable(what).into()
    }

    /// The far tier is unreachable, but the near one works: the circuit breaker stays closed.
    pub(crate) fn degraded() -> Self {
        Kind::Degraded.into()
    }

    /// An entry exceeds the limit.
    #[must_use]
    pub fn too_large(bytes: usize, limit: usize) -> Self {
        Kind::TooLarge { bytes, limit }.into()
    }

    /// The driver does not support the operation.
    #[must_use]
    pub fn unsupported(driver: &'static str, what: &'static str) -> Self {
        Kind::Unsupported { driver, what }.into()
    }

    /// Stored bytes are invalid; `what` says why.
    #[must_use]
    pub fn corrupt(what: &'static str) -> Self {
        Kind::Corrupt(what).into()
    }

    /// A value or key could not be encoded or decoded; `what` says why.
    #[must_use]
    pub fn codec(what: &'static str) -> Self {
        Kind::Codec(what).into()
    }

    /// Other writers changed the entry between each read and write.
    #[must_use]
    pub fn contended(attempts: u32) -> Self {
        Kind::Contended { attempts }.into()
    }

    /// A wrong call or configuration; `what` says what is expected.
    #[must_use]
    pub fn misused(what: &'static str) -> Self {
        Kind::Misused(what).into()
    }

    pub(crate) fn computation(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::from(Kind::Computation).because(cause)
    }

    pub(crate) fn panicked(message: String) -> Self {
        Kind::Panicked(message).into()
    }

    pub(crate) fn timed_out(limit: std::time::Duration) -> Self {
        Kind::TimedOut { millis: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX) }.into()
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(Arc::from(cause.into()));
        self
    }

    /// The backend could not be reached: the value may exist. A near tier treats this as a miss.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self.kind, Kind::Unreachable(_))
    }

    /// The entry exceeds the limit of the driver.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(self.kind, Kind::TooLarge { .. })
    }

    /// The driver does not support the operation.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self.kind, Kind::Unsupported { .. })
    }

    /// The stored bytes are damaged, or not written by this crate.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        matches!(self.kind, Kind::Corrupt(_))
    }

    /// The computation failed or panicked. Its own error is the [`source`](StdError::source).
    #[must_use]
    pub fn is_computation(&self) -> bool {
        matches!(self.kind, Kind::Computation | Kind::Panicked(_))
    }

    /// The computation exceeded the hard timeout.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind, Kind::TimedOut { .. })
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self { kind, cause: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Unreachable(what) => write!(f, "no answer while {what}"),
            Kind::Degraded => f.write_str("the far tier is unreachable, and the near tier has no copy"),
            Kind::TooLarge { bytes, limit } => write!(f, "{bytes} bytes do not fit: the limit is {limit}"),
            Kind::Unsupported { driver, what } => write!(f, "the driver {driver} cannot {what}"),
            Kind::Corrupt(what) => write!(f, "damaged entry: {what}"),
            Kind::Codec(what) => write!(f, "codec: {what}"),
            Kind::Contended { attempts } => {
                write!(f, "other writers changed the entry during each of {attempts} attempts")
            }
            Kind::Misused(what) => f.write_str(what),
            Kind::Computation => f.write_str("the computation failed"),
            Kind::Panicked(message) => write!(f, "the computation panicked: {message}"),
            Kind::TimedOut { millis } => write!(f, "the computation took longer than {millis} ms"),
        }?;
        match &self.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_ref().map(|cause| cause.as_ref() as _)
    }
}
