//! Why a cache or a driver did not do what it was asked.
//!
//! An [`Error`] answers the questions that its caller must decide; its text is for the log.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// What a cache or a driver gives back.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Cause = Arc<dyn StdError + Send + Sync>;

/// Why a cache or a driver did not do what it was asked. A clone costs little: all who wait for one computation get the same.
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
    /// The driver's backend did not answer; `what` was asked of it: "connecting", "writing".
    #[must_use]
    pub fn unreachable(what: &'static str) -> Self {
        Kind::Unreachable(what).into()
    }

    /// One tier does not answer, others do: no reason not to ask them.
    pub(crate) fn degraded() -> Self {
        Kind::Degraded.into()
    }

    /// What does not fit, and what would.
    #[must_use]
    pub fn too_large(bytes: usize, limit: usize) -> Self {
        Kind::TooLarge { bytes, limit }.into()
    }

    /// This driver cannot do that, ever.
    #[must_use]
    pub fn unsupported(driver: &'static str, what: &'static str) -> Self {
        Kind::Unsupported { driver, what }.into()
    }

    /// What was stored makes no sense; `what` was wrong with it.
    #[must_use]
    pub fn corrupt(what: &'static str) -> Self {
        Kind::Corrupt(what).into()
    }

    /// A value or key could not be turned into bytes or back; `what` was it.
    #[must_use]
    pub fn codec(what: &'static str) -> Self {
        Kind::Codec(what).into()
    }

    /// Others changed the entry each time between reading and writing.
    #[must_use]
    pub fn contended(attempts: u32) -> Self {
        Kind::Contended { attempts }.into()
    }

    /// The call or the configuration is wrong: `what` says how it would be right.
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

    /// What led to it.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(Arc::from(cause.into()));
        self
    }

    /// The value may exist, but not for us, not now. A tier above treats this as a miss.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self.kind, Kind::Unreachable(_))
    }

    /// It will not fit, however often it is tried.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(self.kind, Kind::TooLarge { .. })
    }

    /// The driver cannot do this at all; another one may.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self.kind, Kind::Unsupported { .. })
    }

    /// What was stored is damaged, or is not ours.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        matches!(self.kind, Kind::Corrupt(_))
    }

    /// The computation on a miss failed or panicked. Its own error is the [`source`](StdError::source).
    #[must_use]
    pub fn is_computation(&self) -> bool {
        matches!(self.kind, Kind::Computation | Kind::Panicked(_))
    }

    /// The computation on a miss took longer than it may.
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
            Kind::Degraded => f.write_str("the far tier does not answer, and the near one has no copy"),
            Kind::TooLarge { bytes, limit } => write!(f, "{bytes} bytes do not fit: the limit is {limit}"),
            Kind::Unsupported { driver, what } => write!(f, "the driver {driver} cannot do this: {what}"),
            Kind::Corrupt(what) => write!(f, "a stored entry is damaged: {what}"),
            Kind::Codec(what) => write!(f, "not encodable: {what}"),
            Kind::Contended { attempts } => write!(f, "others changed the entry during each of {attempts} attempts"),
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
