//! Why there is no response of another server.

use std::fmt;

use http::StatusCode;

/// Why `Cx::fetch` gave no response. With `?` it becomes 504 if time was up, 502 if the other
/// server is not there or sends what it should not, and 500 if this application is at fault. Its text is for the log,
/// and repeats no URL.
#[derive(Debug)]
pub struct FetchError {
    kind: Kind,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

#[derive(Debug)]
enum Kind {
    /// The request is malformed.
    Invalid(String),
    NotAllowed(String),
    TimedOut(String),
    Unreachable(String),
    TooLarge(u64),
    Unsuccessful(StatusCode),
    NotJson,
}

/// A request that cannot be sent: `problem` says why, for the log.
pub fn invalid(problem: impl Into<String>) -> FetchError {
    FetchError::invalid(problem)
}

/// Nobody has set a [`Fetcher`](super::Fetcher).
#[must_use]
pub fn no_fetcher() -> FetchError {
    let text = "nothing sends requests here: build skep-server with the cargo feature `fetch`, or set App::fetcher";
    FetchError::invalid(text)
}

impl FetchError {
    fn of(kind: Kind) -> Self {
        Self { kind, cause: None }
    }

    pub(crate) fn invalid(problem: impl Into<String>) -> Self {
        Self::of(Kind::Invalid(problem.into()))
    }

    pub(crate) fn unsuccessful(status: StatusCode) -> Self {
        Self::of(Kind::Unsuccessful(status))
    }

    pub(crate) fn not_json(error: serde_json::Error) -> Self {
        Self { cause: Some(error.into()), ..Self::of(Kind::NotJson) }
    }

    /// For a [`Fetcher`](super::Fetcher): requests may not go there. `why` names the host and the setting.
    #[must_use]
    pub fn not_allowed(why: impl Into<String>) -> Self {
        Self::of(Kind::NotAllowed(why.into()))
    }

    /// For a [`Fetcher`](super::Fetcher): it took too long; `what` says what was waited for.
    #[must_use]
    pub fn timed_out(what: impl Into<String>) -> Self {
        Self::of(Kind::TimedOut(what.into()))
    }

    /// For a [`Fetcher`](super::Fetcher): no connection, or one that broke off.
    #[must_use]
    pub fn unreachable(host: impl Into<String>, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { cause: Some(cause.into()), ..Self::of(Kind::Unreachable(host.into())) }
    }

    /// For a [`Fetcher`](super::Fetcher): the body of the response has more bytes than
    /// [`Bounds::body`](super::Bounds::body).
    #[must_use]
    pub fn too_large(limit: u64) -> Self {
        Self::of(Kind::TooLarge(limit))
    }

    /// True if the settings do not allow requests to this server.
    #[must_use]
    pub fn is_not_allowed(&self) -> bool {
        matches!(self.kind, Kind::NotAllowed(_))
    }

    /// True if it took too long. The other server may have done what it was asked.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind, Kind::TimedOut(_))
    }

    /// True if there was no connection, or one that broke off.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self.kind, Kind::Unreachable(_))
    }

    /// True if the response was larger than `limits.fetch_body`.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(self.kind, Kind::TooLarge(_))
    }

    /// True if the other server or the way to it is at fault, and not the request or a setting here.
    ///
    /// ```
    /// assert!(skep::fetch::FetchError::too_large(1000).is_remote());
    /// ```
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.public().is_some()
    }

    /// Status and message for the client, where the other server is at fault.
    pub(crate) fn public(&self) -> Option<(StatusCode, &'static str)> {
        match self.kind {
            Kind::TimedOut(_) => {
                Some((StatusCode::GATEWAY_TIMEOUT, "another server that this page needs took too long"))
            }
            Kind::Unreachable(_) | Kind::TooLarge(_) | Kind::Unsuccessful(_) | Kind::NotJson => {
                Some((StatusCode::BAD_GATEWAY, "another server that this page needs gave no usable response"))
            }
            Kind::Invalid(_) | Kind::NotAllowed(_) => None,
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Invalid(problem) => f.write_str(problem),
            Kind::NotAllowed(why) => f.write_str(why),
            Kind::TimedOut(what) => write!(f, "{what} took too long"),
            Kind::Unreachable(host) => write!(f, "no response from {host}"),
            Kind::TooLarge(limit) => write!(f, "the response is larger than the {limit} bytes of limits.fetch_body"),
            Kind::Unsuccessful(status) => write!(f, "the other server responded {status}"),
            Kind::NotJson => f.write_str("the response is not the JSON that is expected"),
        }
    }
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
