//! What happened that concerns security, as records: always logged, and stored where the application wants them.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::account::{Account, now};
use crate::cx::Cx;
use crate::request::RequestId;
use crate::response::Result;

/// Something that happened to an account.
///
/// Each is a line of the log under `skep::security`. [`SecurityLog`] stores them too. It never holds what was typed, which may be a
/// password in the wrong field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecurityEvent {
    /// What happened.
    pub kind: EventKind,
    /// [`Account::id`], if it is known whose account it is.
    pub account: Option<String>,
    /// [`Account::name`], likewise.
    pub user: Option<String>,
    /// Where the request came from.
    pub address: Option<IpAddr>,
    /// The path of the request, without its query. Links with tokens have them in their paths: `***` stands for a long segment.
    pub path: String,
    /// The id of the request, which is in its other log lines.
    pub request: RequestId,
    /// When.
    pub at: SystemTime,
}

/// What happened.
///
/// ```
/// use skep::people::EventKind;
/// assert_eq!(EventKind::SignedIn.as_str(), "signed in");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// Somebody signed in.
    SignedIn,
    /// A password was right, and a second factor is asked for.
    FirstFactorPassed,
    /// Somebody was signed in by a remember-me cookie.
    Remembered,
    /// A name or password was wrong.
    SignInRefused,
    /// A code of the second factor was wrong.
    SecondFactorRefused,
    /// A recovery code was used up.
    RecoveryCodeUsed,
    /// A remember-me cookie was used twice: one of the two users of it is a thief. All sessions of the account have ended.
    RememberMeReused,
    /// Somebody signed out.
    SignedOut,
    /// All sessions of a user were ended.
    SignedOutEverywhere,
    /// One session of a user was ended from another one.
    SessionEnded,
    /// A rule refused a user who is signed in.
    Refused,
    /// A link was asked for: to sign in, to sign up, to reset a password, to confirm an address.
    LinkRequested,
    /// A link was none, or no longer one.
    LinkRefused,
    /// An address was confirmed.
    AddressConfirmed,
    /// A user changed the password.
    PasswordChanged,
    /// A password was reset by a link.
    PasswordReset,
    /// A user added a passkey.
    PasskeyAdded,
    /// A user removed a passkey.
    PasskeyRemoved,
    /// The signature counter of a passkey did not go up: somebody may have a copy of it. The sign-in was refused.
    PasskeyCopied,
    /// Roles or rights have changed: for [`record`].
    RightsChanged,
    /// Something of the application's own: for [`record`].
    Other(&'static str),
}

impl EventKind {
    /// The words of the log line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SignedIn => "signed in",
            Self::FirstFactorPassed => "first factor passed",
            Self::Remembered => "signed in by remember-me",
            Self::SignInRefused => "sign-in refused",
            Self::SecondFactorRefused => "second factor refused",
            Self::RecoveryCodeUsed => "recovery code used",
            Self::RememberMeReused => "remember-me cookie used twice",
            Self::SignedOut => "signed out",
            Self::SignedOutEverywhere => "signed out everywhere",
            Self::SessionEnded => "session ended",
            Self::Refused => "refused",
            Self::LinkRequested => "link requested",
            Self::LinkRefused => "link refused",
            Self::AddressConfirmed => "address confirmed",
            Self::PasswordChanged => "password changed",
            Self::PasswordReset => "password reset",
            Self::PasskeyAdded => "passkey added",
            Self::PasskeyRemoved => "passkey removed",
            Self::PasskeyCopied => "passkey may have been copied",
            Self::RightsChanged => "rights changed",
            Self::Other(text) => text,
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Stores security events: a value of the application.
///
/// ```
/// use skep::people::{SecurityEvent, SecurityLog};
/// use skep::prelude::*;
/// use skep::sql::query;
///
/// async fn store(cx: &Cx<'_>, event: &SecurityEvent) -> Result<()> {
///     let row = (event.kind.as_str(), &event.account, event.address.map(|address| address.to_string()));
///     cx.db().execute(query("insert into security_event (kind, account, address) values (?, ?, ?)", row)).await?;
///     Ok(())
/// }
///
/// let app = App::new().state(SecurityLog::new(store));
/// # let _ = app;
/// ```
///
/// An event that cannot be stored is an error in the log, and changes nothing else: nobody is locked out by a full disk.
pub struct SecurityLog(Box<dyn Store>);

impl SecurityLog {
    /// A log that this function writes.
    #[must_use]
    pub fn new<F>(store: F) -> Self
    where
        F: for<'c, 'r, 'e> AsyncFn(&'c Cx<'r>, &'e SecurityEvent) -> Result<()> + Send + Sync + 'static,
    {
        Self(Box::new(store))
    }
}

opaque_debug!(SecurityLog);

/// The future of a function that stays on its thread.
type Stored<'c> = Pin<Box<dyn Future<Output = Result<()>> + 'c>>;

trait Store: Send + Sync {
    fn store<'c>(&'c self, cx: &'c Cx<'_>, event: &'c SecurityEvent) -> Stored<'c>;
}

impl<F> Store for F
where
    F: for<'c, 'r, 'e> AsyncFn(&'c Cx<'r>, &'e SecurityEvent) -> Result<()> + Send + Sync + 'static,
{
    fn store<'c>(&'c self, cx: &'c Cx<'_>, event: &'c SecurityEvent) -> Stored<'c> {
        Box::pin(self(cx, event))
    }
}

/// Records a security event of the application's own, such as [`EventKind::RightsChanged`], with the account that it happened to.
///
/// ```
/// use skep::people::{Account, EventKind, record};
/// use skep::prelude::*;
///
/// async fn promote<U: Account>(cx: &Cx<'_>, user: &U) {
///     // ... write the new role, and then:
///     record(cx, EventKind::RightsChanged, Some(user)).await;
/// }
/// ```
pub async fn record<A: Account>(cx: &Cx<'_>, kind: EventKind, account: Option<&A>) {
    record_of(cx, kind, account.map(A::id), account.map(|account| account.name().to_owned())).await;
}

/// The same of an account that is known by its id.
pub(super) async fn record_of(cx: &Cx<'_>, kind: EventKind, account: Option<String>, user: Option<String>) {
    let event = SecurityEvent {
        kind,
        account,
        user: user.or_else(|| cx.shared().resources().user().map(str::to_owned)),
        address: cx.peer().address.map(|address| address.ip()),
        path: without_tokens(&cx.shared().resources().shared().masks.path(cx.uri().path())),
        request: cx.id(),
        at: UNIX_EPOCH + Duration::from_millis(now(cx)),
    };
    let (user, address) =
        (event.user.as_deref().unwrap_or("unknown"), event.address.map(|address| address.to_string()));
    tracing::info!(target: "skep::security", id = %event.request, user, address, path = event.path, "{kind}");
    let Some(log) = cx.shared().resources().shared().find_value::<SecurityLog>() else { return };
    if let Err(error) = log.0.store(cx, &event).await {
        tracing::error!(target: "skep::security", id = %event.request, "this event could not be stored: {error}");
    }
}

/// A path for logs: segments of 32 characters or more are `***`, since a token in a path, such as that of a sign-up link, is as good as a
/// password until it is used. The paths of [`SecurityEvent`]s are written so.
///
/// ```
/// use skep::people::without_tokens;
///
/// assert_eq!(without_tokens("/tickets/17"), "/tickets/17");
/// assert_eq!(without_tokens("/sign-up/q8JmX0cYxk3mZ5oQe1r2t3u4v5w6x7y8"), "/sign-up/***");
/// ```
#[must_use]
pub fn without_tokens(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.len() >= 32 { "***" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}
