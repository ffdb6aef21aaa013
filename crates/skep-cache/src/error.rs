//! Errors of caches and drivers.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

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
    TimedOut { millis: u128 },
}

/// Constructors and questions, with the kind they make or ask for.
macro_rules! kinds {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident($($value:ident: $type:ty),*) => $kind:expr;)*) => {
        $(
            $(#[$meta])*
            #[must_use]
            $vis fn $name($($value: $type),*) -> Self {
                Self { kind: $kind, cause: None }
            }
        )*
    };
    ($($(#[$meta:meta])* pub fn $name:ident(&self) => $kind:pat,)*) => {
        $(
            $(#[$meta])*
            #[must_use]
            pub fn $name(&self) -> bool {
                matches!(self.kind, $kind)
            }
        )*
    };
}

impl Error {
    kinds! {
        /// The backend did not answer; `what` names the operation: "connecting", "writing".
        pub fn unreachable(what: &'static str) => Kind::Unreachable(what);

        /// The far tier is unreachable, but the near one works: the circuit breaker stays closed.
        pub(crate) fn degraded() => Kind::Degraded;

        /// An entry exceeds the limit.
        pub fn too_large(bytes: usize, limit: usize) => Kind::TooLarge { bytes, limit };

        /// The driver does not support the operation.
        pub fn unsupported(driver: &'static str, what: &'static str) => Kind::Unsupported { driver, what };

        /// Stored bytes are invalid; `what` says why.
        pub fn corrupt(what: &'static str) => Kind::Corrupt(what);

        /// A value or key could not be encoded or decoded; `what` says why.
        pub fn codec(what: &'static str) => Kind::Codec(what);

        /// Other writers changed the entry between each read and write.
        pub fn contended(attempts: u32) => Kind::Contended { attempts };

        /// A wrong call or configuration; `what` says what is expected.
        pub fn misused(what: &'static str) => Kind::Misused(what);

        pub(crate) fn panicked(message: String) => Kind::Panicked(message);

        pub(crate) fn timed_out(limit: Duration) => Kind::TimedOut { millis: limit.as_millis() };
    }

    kinds! {
        /// The backend could not be reached: the value may exist. A near tier treats this as a miss.
        pub fn is_unreachable(&self) => Kind::Unreachable(_),

        /// The entry exceeds the limit of the driver.
        pub fn is_too_large(&self) => Kind::TooLarge { .. },

        /// The driver does not support the operation.
        pub fn is_unsupported(&self) => Kind::Unsupported { .. },

        /// The stored bytes are damaged, or not written by this crate.
        pub fn is_corrupt(&self) => Kind::Corrupt(_),

        /// The computation failed or panicked. Its own error is the [`source`](StdError::source).
        pub fn is_computation(&self) => Kind::Computation | Kind::Panicked(_),

        /// The computation exceeded the hard timeout.
        pub fn is_timeout(&self) => Kind::TimedOut { .. },
    }

    pub(crate) fn computation(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { kind: Kind::Computation, cause: Some(Arc::from(cause.into())) }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(Arc::from(cause.into()));
        self
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
