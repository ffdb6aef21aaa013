//! Mail.

use std::time::Duration;

use skep::Secret;
use skep::mail::Mailbox;
use skep_settings::{GIB, HOUR, KIB, MIB, SECOND, settings};

settings! {
    /// What delivers mail: the settings `mail.*`.
    #[derive(Clone, Debug)]
    pub(crate) struct Mail in "mail" {
        /// Mail server, by its URL: `smtps://user:password@mail.example.org` (TLS),
        /// `smtp://user:password@mail.example.org:587?tls=required` (STARTTLS), `smtp://localhost` (neither). Needs the
        /// cargo feature `smtp`. Empty means none: mail is written to the log with `development`, and is an error
        /// otherwise.
        smtp: Option<Secret<String>> = Text, "";
        /// Sender of mail that names none, such as `Shop <shop@example.org>`, or `"Shop, Berlin" <shop@example.org>`.
        /// Needed with `mail.smtp`.
        from: Option<Mailbox> = Text, "";
        /// Tell owners of accounts by mail what has happened to them: a sign-in from a new device, another password, a
        /// new second factor or passkey, another address. Sends nothing without a way to send mail.
        notices: bool = Bool, true;
        /// Time to hand a mail over to the mail server, a second attempt after a broken connection included.
        timeout: Duration = Duration(SECOND..=HOUR), 30 * SECOND;
        /// Bytes of mails, attachments included, that wait for the mail server or are being sent, for each process.
        /// More are not sent.
        bytes as "limits.mail_bytes": u32 = Size(64 * KIB..=GIB), 32 * MIB;
        /// Mails that wait for the mail server, for each process. More are not sent.
        queue as "limits.mail_queue": usize = Number(1..=1_000_000), 1000;
    }
}
