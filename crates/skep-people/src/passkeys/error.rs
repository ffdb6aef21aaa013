//! Why a passkey was not taken.

use std::fmt;

use http::StatusCode;

use crate::messages::AccountMessages;
use skep::Cx;
use skep::Error;

/// Why [`register`](super::register), [`passkey_sign_in`](super::passkey_sign_in) or
/// [`passkey_second_factor`](super::passkey_second_factor) failed. With `?` it becomes an error page with a message for
/// the user; the cause is for the log.
///
/// ```
/// use skep_people::passkeys::PasskeyError;
/// use skep::prelude::*;
///
/// fn answer(outcome: Result<(), PasskeyError>) -> Result {
///     match outcome {
///         Ok(()) => Ok(Response::text("welcome")),
///         Err(error) if error.is_expired() => Ok(Response::text("That took too long. Please try again.")),
///         Err(error) => Err(error.into()),
///     }
/// }
/// # let _ = answer;
/// ```
pub struct PasskeyError {
    kind: Kind,
    error: Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Expired,
    Registered,
    Copied,
    Refused,
    Other,
}

impl PasskeyError {
    pub(super) fn expired() -> Self {
        Self { kind: Kind::Expired, error: Error::new(StatusCode::BAD_REQUEST) }
    }

    pub(super) fn registered() -> Self {
        Self { kind: Kind::Registered, error: Error::new(StatusCode::CONFLICT) }
    }

    pub(super) fn copied() -> Self {
        Self { kind: Kind::Copied, error: Error::new(StatusCode::FORBIDDEN) }
    }

    pub(super) fn refused(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: Kind::Refused, error: Error::new(StatusCode::FORBIDDEN).with_cause(cause) }
    }

    /// The same with a message to the user of this request.
    pub(super) fn in_language_of(self, cx: &Cx<'_>) -> Self {
        let messages = AccountMessages::of(cx);
        let message = match self.kind {
            Kind::Expired => messages.passkey_expired,
            Kind::Registered => messages.passkey_registered,
            Kind::Copied => messages.passkey_copied,
            Kind::Refused => messages.passkey_refused,
            Kind::Other => return self,
        };
        Self { error: self.error.with_message(message), ..self }
    }

    /// True if the ceremony was not begun in this browser, was completed before, or is older than five minutes. With
    /// `?`: 400.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.kind == Kind::Expired
    }

    /// True if somebody, perhaps this user, has registered this passkey already. With `?`: 409.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        self.kind == Kind::Registered
    }

    /// True if the signature counter did not go up, so that there may be a copy of the passkey. With `?`: 403.
    #[must_use]
    pub fn is_copied(&self) -> bool {
        self.kind == Kind::Copied
    }

    /// True if the response does not verify, or the passkey is not known. With `?`: 403. The cause says what.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.kind == Kind::Refused
    }
}

/// What is wrong on this side, such as a session store that is not there.
impl From<Error> for PasskeyError {
    fn from(error: Error) -> Self {
        Self { kind: Kind::Other, error }
    }
}

/// What a response must be and is not.
impl From<&'static str> for PasskeyError {
    fn from(problem: &'static str) -> Self {
        Self::refused(problem)
    }
}

impl From<PasskeyError> for Error {
    fn from(error: PasskeyError) -> Self {
        error.error
    }
}

impl fmt::Display for PasskeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl fmt::Debug for PasskeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}
