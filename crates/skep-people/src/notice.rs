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
    /// The mail in English. [`Notices`] has an example.
    #[must_use]
    pub fn mail(&self) -> Mail {
        let (subject, happened) = match self.kind {
            EventKind::NewDevice => (
                "New sign-in",
                "Somebody signed in from a browser that is new, or was last used with another password.",
            ),
            EventKind::PasswordChanged => ("Your password was changed", "The password was changed."),
            EventKind::PasswordReset => ("Your password was reset", "The password was reset by a link in a mail."),
            EventKind::SecondFactorAdded => ("Two-factor authentication is on", "A second factor was set up."),
            EventKind::RecoveryCodesMade => ("New recovery codes", "Recovery codes were made."),
            EventKind::PasskeyAdded => ("A passkey was added", "A passkey was added."),
            EventKind::AddressChanged => ("Your e-mail address was changed", "The e-mail address was changed."),
            EventKind::CodesGuessed => (
                "Wrong codes for your account",
                "Somebody who knows the password entered five wrong codes of the second factor.",
            ),
            other => ("Something happened to your account", other.as_str()),
        };
        let at = httpdate::fmt_http_date(self.at);
        let address = self.address.map_or_else(|| "unknown".to_owned(), |address| address.to_canonical().to_string());
        let (user, device) = (&self.user, &self.device);
        let text = format!(
            "Account: {user}\n\n{happened}\n\nTime: {at}\nBrowser: {device}\nAddress: {address}\n\n\
             If this was you, there is nothing to do. If not, choose a new password, and sign out everywhere.\n"
        );
        Mail::new(self.to.clone(), subject, text)
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
