//! Mail by SMTP, with the cargo feature `smtp` and the setting `mail.smtp`.
//!
//! A thread of its own, started with the first mail, hands mails over.

#[cfg(feature = "smtp")]
mod body;
#[cfg(feature = "smtp")]
mod delivery;
#[cfg(feature = "smtp")]
mod header;

use std::sync::Arc;
use std::time::Duration;

use skep::Secret;
use skep::mail::Mailer;
use skep_settings::{GIB, HOUR, KIB, MIB, SECOND, settings};

settings! {
    /// The settings `mail.*` of what delivers mail; those of what a mail says are in [`skep::Setup`].
    #[derive(Clone, Debug)]
    pub(crate) struct Settings in "mail" {
        /// Mail server, by its URL: `smtps://user:password@mail.example.org` (TLS),
        /// `smtp://user:password@mail.example.org:587?tls=required` (STARTTLS), `smtp://localhost` (neither). Needs the
        /// cargo feature `smtp`. Empty means none: mail is written to the log with `development`, and is an error
        /// otherwise.
        smtp: Option<Secret<String>> = Text, "";
        /// Time to hand a mail over to the mail server, a second attempt after a broken connection included.
        timeout: Duration = Duration(SECOND..=HOUR), 30 * SECOND;
        /// Bytes of mails, attachments included, that wait for the mail server or are being sent, for each process.
        /// More are not sent.
        bytes as "limits.mail_bytes": u32 = Size(64 * KIB..=GIB), 32 * MIB;
        /// Mails that wait for the mail server, for each process. More are not sent.
        queue as "limits.mail_queue": usize = Number(1..=1_000_000), 1000;
    }
}

/// What delivers mail, if a mail server is configured.
#[cfg(feature = "smtp")]
pub(crate) fn mailer(settings: &Settings) -> Result<Option<Arc<dyn Mailer>>, String> {
    let Some(url) = &settings.smtp else { return Ok(None) };
    let smtp = delivery::Smtp::new(url.reveal(), settings.timeout, settings.queue, settings.bytes)?;
    Ok(Some(Arc::new(smtp)))
}

#[cfg(not(feature = "smtp"))]
pub(crate) fn mailer(settings: &Settings) -> Result<Option<Arc<dyn Mailer>>, String> {
    match settings.smtp {
        Some(_) => Err("mail.smtp needs skep-server with the cargo feature `smtp`".to_owned()),
        None => Ok(None),
    }
}
