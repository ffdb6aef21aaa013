//! Why somebody is not signed in by a provider.

use std::fmt;

use http::StatusCode;

use crate::error::Error;
use crate::fetch::FetchError;

/// Why [`Provider::begin`](super::Provider::begin) or [`Provider::complete`](super::Provider::complete) failed. With `?` it becomes an
/// error page with a message for the user; the cause is for the log.
///
/// ```
/// use skep::people::oidc::{Claims, OidcError};
/// use skep::prelude::*;
///
/// fn answer(outcome: Result<Claims, OidcError>) -> Result {
///     match outcome {
///         Ok(claims) => Ok(Response::text(claims.subject().to_owned())),
///         // The user said no, which is no error: offer other ways to sign in.
///         Err(error) if error.is_denied() => Ok(Response::text("How else would you like to sign in?")),
///         Err(error) => Err(error.into()),
///     }
/// }
/// # let _ = answer;
/// ```
pub struct OidcError {
    kind: Kind,
    error: Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Denied,
    Expired,
    Unavailable,
    Untrusted,
    Other,
}

impl OidcError {
    pub(super) fn denied(provider: &str) -> Self {
        let message = format!("{provider} was not allowed to sign you in. You can try again, or sign in another way.");
        Self { kind: Kind::Denied, error: Error::forbidden(message) }
    }

    pub(super) fn expired() -> Self {
        let message = "This sign-in was begun in another browser, is complete, or is too old. Please begin again.";
        Self { kind: Kind::Expired, error: Error::bad_request(message) }
    }

    pub(super) fn unavailable(provider: &str, cause: FetchError) -> Self {
        let message = format!("{provider} does not respond. Please try again in a while, or sign in another way.");
        let error = Error::new(StatusCode::SERVICE_UNAVAILABLE).with_message(message);
        Self { kind: Kind::Unavailable, error: error.with_cause(cause) }
    }

    pub(super) fn untrusted(provider: &str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let message = format!("{provider} gave no usable response, so you are not signed in.");
        let error = Error::new(StatusCode::BAD_GATEWAY).with_message(message);
        Self { kind: Kind::Untrusted, error: error.with_cause(cause) }
    }

    /// True if the user, or the provider in the user's name, refused to sign in here. With `?`: 403.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.kind == Kind::Denied
    }

    /// True if this sign-in was not begun in this browser, was completed before, or is older than ten minutes. With `?`: 400.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.kind == Kind::Expired
    }

    /// True if the provider could not be reached in time. With `?`: 503.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.kind == Kind::Unavailable
    }

    /// True if the provider sent what must not be believed, or an error. With `?`: 502. The cause says what.
    #[must_use]
    pub fn is_untrusted(&self) -> bool {
        self.kind == Kind::Untrusted
    }
}

/// What is wrong on this side, such as a session store that is not there.
impl From<Error> for OidcError {
    fn from(error: Error) -> Self {
        Self { kind: Kind::Other, error }
    }
}

impl From<OidcError> for Error {
    fn from(error: OidcError) -> Self {
        error.error
    }
}

impl fmt::Display for OidcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl fmt::Debug for OidcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}
