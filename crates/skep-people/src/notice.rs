//! Mails that tell the owner of an account what has happened to it: a sign-in from a new device, another password, a
//! new factor.
//!
//! They are queued, and nothing fails with them. The setting `mail.notices` turns them off, and [`Notices`] has the
//! application write them.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use skep::cache::Pace;

use crate::budget::MAILS;
use crate::event::kind::EventKind;
use skep::Cx;
use skep::mail::Mail;

/// What the owner of an account gets a mail about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Notice {
    /// What happened.
    pub kind: EventKind,
    /// [`Account::name`](crate::Account::name).
    pub user: String,
    /// Whom it goes to: [`Account::notice_address`](crate::Account::notice_address).
    pub to: String,
    /// Browser and system, such as `Firefox on Linux`.
    pub device: String,
    /// Where the request came from.
    pub address: Option<IpAddr>,
    /// When.
    pub at: SystemTime,
    /// Its language: [`Account::language`](crate::Account::language), or else that of the request.
    pub language: String,
    /// [`AccountMessages::notice`](crate::AccountMessages::notice).
    pub(crate) write: fn(&Self) -> (String, String),
}

/// Writes the mails to owners of accounts instead of the framework: a value of the application.
///
/// ```
/// use skep::mail::Mail;
/// use skep_people::{EventKind, Notice, Notices};
/// use skep::prelude::*;
///
/// fn write(_cx: &Cx<'_>, notice: &Notice) -> Option<Mail> {
///     match notice.kind {
///         EventKind::NewDevice => {
///             Some(Mail::new(&notice.to, "Neues Gerät", format!("Angemeldet mit {}.", notice.device)))
///         }
///         _ => Some(notice.mail()),
///     }
/// }
///
/// let app = App::new().state(Notices::new(write));
/// # let _ = app;
/// ```
pub struct Notices(Write);

type Write = Box<dyn Fn(&Cx<'_>, &Notice) -> Option<Mail> + Send + Sync>;

skep_units::opaque_debug!(Notices);

impl Notices {
    /// Mails that this function writes; where it returns `None`, no mail is sent.
    #[must_use]
    pub fn new(write: impl Fn(&Cx<'_>, &Notice) -> Option<Mail> + Send + Sync + 'static) -> Self {
        Self(Box::new(write))
    }
}

impl Notice {
    /// The mail, in the language of this notice: [`AccountMessages`](crate::AccountMessages). [`Notices`] has an
    /// example.
    #[must_use]
    pub fn mail(&self) -> Mail {
        let (subject, text) = (self.write)(self);
        Mail::new(self.to.clone(), subject, text)
    }

    /// Where the request came from, if that is known.
    pub(crate) fn address_text(&self) -> Option<String> {
        self.address.map(|address| address.to_canonical().to_string())
    }
}

/// Mails of one kind to an account, and then one an hour.
const OF_ACCOUNT: Pace = Pace { burst: 5, each: Duration::from_hours(1) };

/// Sends it, if mail is sent at all.
pub(crate) async fn send(cx: &Cx<'_>, notice: Notice, account: &str) {
    if !cx.sends_notices() {
        return;
    }
    let key = format!("notice:{}:{account}", notice.kind);
    // Without its counter it is sent.
    if matches!(MAILS.spend(cx, &[(key, OF_ACCOUNT)]).await, Ok(Err(_))) {
        return;
    }
    let mail = match cx.find_state::<Notices>() {
        Some(notices) => notices.0(cx, &notice),
        None => Some(notice.mail()),
    };
    if let Some(mail) = mail {
        cx.queue_mail(mail);
    }
}
