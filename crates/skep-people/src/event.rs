//! What happened that concerns security, as records: always logged, and stored where the application wants them.

pub(crate) mod kind;

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::account::{Account, now};
use crate::device::browser;
use crate::messages::AccountMessages;
use crate::notice::{self, Notice};
use skep::Cx;
use skep::Result;
use skep::request::RequestId;

pub use kind::EventKind;

/// Something that happened to an account.
///
/// Each is a line of the log under `skep::security`. [`SecurityLog`] stores them too. It never holds what was typed,
/// which may be a password in the wrong field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecurityEvent {
    /// What happened.
    pub kind: EventKind,
    /// [`Account::id`], if it is known whose account it is.
    pub account: Option<String>,
    /// [`Account::name`], likewise.
    pub user: Option<String>,
    /// Of attempts that name no known account: a digest of the name that was typed. The same name has the same one, and
    /// nobody without the application's keys finds the name by it.
    pub name_digest: Option<String>,
    /// Where the request came from.
    pub address: Option<IpAddr>,
    /// The path of the request, without its query. Links with tokens have them in their paths: `***` stands for a long
    /// segment.
    pub path: String,
    /// The id of the request, which is in its other log lines.
    pub request: RequestId,
    /// When.
    pub at: SystemTime,
}

/// Stores security events: a value of the application.
///
/// ```
/// use skep_people::{SecurityEvent, SecurityLog};
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
/// An event that cannot be stored is an error in the log, and changes nothing else: nobody is locked out by a full
/// disk.
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

skep_units::opaque_debug!(SecurityLog);

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

/// Records a security event of the application's own, such as [`EventKind::RightsChanged`], with the account that it
/// happened to. Its owner gets a mail of [`EventKind::RecoveryCodesMade`] and of others that a
/// [`Notice`](crate::Notice) tells.
///
/// ```
/// use skep_people::{Account, EventKind, record};
/// use skep::prelude::*;
///
/// async fn promote<U: Account>(cx: &Cx<'_>, user: &U) {
///     // ... write the new role, and then:
///     record(cx, EventKind::RightsChanged, Some(user)).await;
/// }
/// ```
pub async fn record<A: Account>(cx: &Cx<'_>, kind: EventKind, account: Option<&A>) {
    record_of(cx, kind, account.map(A::id), account.map(|account| account.name().to_owned())).await;
    if let Some(account) = account {
        notify(cx, kind, account).await;
    }
}

/// Writes to the owner, if this is worth a mail.
pub(crate) async fn notify<A: Account>(cx: &Cx<'_>, kind: EventKind, account: &A) {
    let Some(to) = account.notice_address().filter(|_| kind.has_notice()) else { return };
    let language = account.language().unwrap_or(cx.language());
    let messages = AccountMessages::in_language(cx, language);
    let notice = Notice {
        kind,
        language: language.to_owned(),
        write: messages.notice,
        user: account.name().to_owned(),
        to: to.to_owned(),
        device: browser(cx, &messages),
        address: cx.peer().address.map(|address| address.ip()),
        at: UNIX_EPOCH + Duration::from_millis(now(cx)),
    };
    notice::send(cx, notice, &format!("{}:{}", A::KIND, account.id())).await;
}

/// The same of an attempt with this name, whose account may not be there.
pub(crate) async fn record_attempt<A: Account>(cx: &Cx<'_>, kind: EventKind, account: Option<&A>, name: &str) {
    let Some(account) = account else {
        let digest = cx.keys().digest("skep.name", &name.trim().to_lowercase()).ok();
        return store(cx, kind, (None, None), digest).await;
    };
    record(cx, kind, Some(account)).await;
}

/// The same of an account that is known by its id.
pub(crate) async fn record_of(cx: &Cx<'_>, kind: EventKind, account: Option<String>, user: Option<String>) {
    let user = user.or_else(|| cx.user().map(str::to_owned));
    store(cx, kind, (account, user), None).await;
}

async fn store(
    cx: &Cx<'_>,
    kind: EventKind,
    (account, user): (Option<String>, Option<String>),
    name_digest: Option<String>,
) {
    let event = SecurityEvent {
        kind,
        account,
        user,
        name_digest,
        address: cx.peer().address.map(|address| address.ip()),
        path: without_tokens(&cx.masked_path()),
        request: cx.id(),
        at: UNIX_EPOCH + Duration::from_millis(now(cx)),
    };
    let (user, address) =
        (event.user.as_deref().unwrap_or("unknown"), event.address.map(|address| address.to_string()));
    let name = event.name_digest.as_deref();
    tracing::info!(target: "skep::security", id = %event.request, user, name, address, path = event.path, "{kind}");
    let Some(log) = cx.find_state::<SecurityLog>() else { return };
    if let Err(error) = log.0.store(cx, &event).await {
        tracing::error!(target: "skep::security", id = %event.request, "this event could not be stored: {error}");
    }
}

/// A path for logs: segments of 32 characters or more are `***`, since a token in a path, such as that of a sign-up
/// link, is as good as a password until it is used. The paths of [`SecurityEvent`]s are written so.
///
/// ```
/// use skep_people::without_tokens;
///
/// assert_eq!(without_tokens("/tickets/17"), "/tickets/17");
/// assert_eq!(without_tokens("/sign-up/q8JmX0cYxk3mZ5oQe1r2t3u4v5w6x7y8"), "/sign-up/***");
/// ```
#[must_use]
pub fn without_tokens(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.len() >= 32 { "***" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}
