//! Why somebody is not signed in by a provider.

use std::fmt;

use http::StatusCode;
use skep_units::chain;

use crate::messages::AccountMessages;
use skep::Cx;
use skep::Error;

/// Why [`Provider::begin`](super::Provider::begin) or [`Provider::complete`](super::Provider::complete) failed. With
/// `?` it becomes an error page with a message for the user; the cause is for the log.
///
/// ```
/// use skep_people::oidc::{Claims, OidcError};
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
    pub(super) fn denied() -> Self {
        Self { kind: Kind::Denied, error: Error::new(StatusCode::FORBIDDEN) }
    }

    pub(super) fn expired() -> Self {
        Self { kind: Kind::Expired, error: Error::new(StatusCode::BAD_REQUEST) }
    }

    pub(super) fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: Kind::Unavailable, error: Error::new(StatusCode::SERVICE_UNAVAILABLE).with_cause(cause) }
    }

    pub(super) fn untrusted(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: Kind::Untrusted, error: Error::new(StatusCode::BAD_GATEWAY).with_cause(cause) }
    }

    /// The same with a message to the user of this request, about the provider with this name.
    pub(super) fn in_language_of(self, cx: &Cx<'_>, provider: &str) -> Self {
        let messages = AccountMessages::of(cx);
        let message = match self.kind {
            Kind::Denied => (messages.provider_denied)(provider),
            Kind::Expired => messages.provider_expired.to_owned(),
            Kind::Unavailable => (messages.provider_unavailable)(provider),
            Kind::Untrusted => (messages.provider_untrusted)(provider),
            Kind::Other => return self,
        };
        Self { error: self.error.with_message(message), ..self }
    }

    /// What became of a request that this sign-in made or waited for.
    pub(super) fn of_flight(error: skep::cache::CacheError) -> Self {
        let failed = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<Failed>());
        failed.map_or_else(|| Error::from(error.clone()).into(), Failed::to_error)
    }

    /// True if the user, or the provider in the user's name, refused to sign in here. With `?`: 403.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.kind == Kind::Denied
    }

    /// True if this sign-in was not begun in this browser, was completed before, or is older than ten minutes. With
    /// `?`: 400.
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

/// Why a request failed, for all sign-ins that waited for it.
#[derive(Debug)]
pub(super) struct Failed {
    kind: Kind,
    status: StatusCode,
    message: Option<String>,
    cause: String,
}

impl Failed {
    fn to_error(&self) -> OidcError {
        let error = Error::new(self.status).with_cause(self.cause.clone());
        let error = match &self.message {
            Some(message) => error.with_message(message.clone()),
            None => error,
        };
        OidcError { kind: self.kind, error }
    }
}

impl From<OidcError> for Failed {
    fn from(OidcError { kind, error }: OidcError) -> Self {
        let (status, message) = (error.status(), error.message().map(ToOwned::to_owned));
        Self { kind, status, message, cause: error.cause().map(|cause| chain(cause)).unwrap_or_default() }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl std::error::Error for Failed {}

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
