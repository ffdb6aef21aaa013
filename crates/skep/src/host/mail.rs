//! Mail that an application sends: [`Cx::send_mail`](crate::Cx::send_mail) and
//! [`Cx::queue_mail`](crate::Cx::queue_mail).
//!
//! This crate opens no socket: a [`Mailer`] delivers. A server with the cargo feature `smtp` brings one for SMTP, and
//! [`App::mailer`](crate::App::mailer) takes any other. In development mail is written to the log, and tests collect it
//! ([`Client::mails`](crate::test::Client::mails)).

mod attachment;
mod html;
mod mailbox;

use std::error::Error as StdError;
use std::fmt;
use std::fs::File;
use std::future::Future;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use skep_units::lock;

use crate::html::Html;

pub use attachment::Attachment;
pub use mailbox::{Mailbox, NotMailbox};

/// A mail: a text, perhaps the same as HTML, and [files](Attachment). It can be stored, such as in a job.
///
/// ```
/// use skep::mail::Mail;
///
/// let mail = Mail::new("ada@example.org", "Your order", "It is on its way.").reply_to("shop@example.org");
/// assert_eq!(mail.subject, "Your order");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mail {
    /// Whom it goes to: `ada@example.org`, or `Ada <ada@example.org>`.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The same as HTML, for programs that show it.
    pub html: Option<String>,
    /// Who sends it. Default: the setting `mail.from`.
    pub from: Option<String>,
    /// Who gets answers. Default: who sends it.
    pub reply_to: Option<String>,
    /// What goes along with it.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Where one click ends such mails: an `https` URL that takes a POST (RFC 8058).
    pub unsubscribe: Option<String>,
    /// The left part of its Message-ID. Default: a new one each time.
    pub id: Option<String>,
}

impl Mail {
    /// A mail with a text.
    #[must_use]
    pub fn new(to: impl Into<String>, subject: impl Into<String>, text: impl Into<String>) -> Self {
        let (to, subject, text) = (to.into(), subject.into(), text.into());
        let (html, from, reply_to, attachments) = (None, None, None, Vec::new());
        Self { to, subject, text, html, from, reply_to, attachments, unsubscribe: None, id: None }
    }

    /// A mail of HTML, as `html!` writes it, whose text is derived: with headings, lists, rows of tables, and links
    /// with where they lead. Links and pictures of this site get `origin` in front.
    ///
    /// ```
    /// use skep::mail::Mail;
    /// use skep::prelude::*;
    ///
    /// # #[derive(Service)] #[service(GET "/orders/{id}")] struct Order { id: u32 }
    /// # impl Handle for Order { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
    /// let page = html! {
    ///     h1 { "Thank you" }
    ///     p { "Your " a href=(Order { id: 7 }) { "order" } " is on its way." }
    /// };
    /// let mail = Mail::from_html("ada@example.org", "Your order", "https://shop.example.org", page);
    /// assert!(mail.text.ends_with("Your order (https://shop.example.org/orders/7) is on its way.\n"));
    /// ```
    ///
    /// Take the origin of the setting `base_url`, which [`Site::base_url`](crate::Site::base_url) gives outside of
    /// requests, such as in jobs. In a request, [`Cx::origin`](crate::Cx::origin) is the same; but without that setting
    /// it is the `Host` that the client sends, who can so have links to elsewhere mailed.
    ///
    /// ```
    /// use skep::Site;
    /// use skep::mail::Mail;
    /// use skep::prelude::*;
    ///
    /// fn reminder(site: &Site, to: &str) -> Result<Mail> {
    ///     let Some(origin) = site.base_url() else { return Err(Error::internal("mail needs the setting base_url")) };
    ///     Ok(Mail::from_html(to, "Your order", origin, html! { p { a href="/orders" { "Orders" } } }))
    /// }
    ///
    /// let app = App::new().base_url("https://shop.example.org").on_start(|site| {
    ///     assert!(reminder(site, "ada@example.org")?.text.contains("https://shop.example.org/orders"));
    ///     Ok(())
    /// });
    /// # let _ = skep::test::Client::new(app);
    /// ```
    ///
    /// Programs that show mail ignore most style sheets: use `style` attributes.
    #[must_use]
    pub fn from_html<C, I>(
        to: impl Into<String>,
        subject: impl Into<String>,
        origin: impl fmt::Display,
        html: Html<C, I>,
    ) -> Self {
        let html = html::absolute(html.as_str(), &origin.to_string());
        Self::new(to, subject, html::text(&html)).html(html)
    }

    /// Adds the same text as HTML. An example of a builder method is at [`Mail`].
    #[must_use]
    pub fn html(mut self, html: impl Into<String>) -> Self {
        self.html = Some(html.into());
        self
    }

    /// Sets who sends it. An example of a builder method is at [`Mail`].
    #[must_use]
    pub fn from(mut self, from: impl Into<String>) -> Self {
        self.from = Some(from.into());
        self
    }

    /// Sets who gets answers. An example is at [`Mail`].
    #[must_use]
    pub fn reply_to(mut self, reply_to: impl Into<String>) -> Self {
        self.reply_to = Some(reply_to.into());
        self
    }

    /// Adds a file, or a picture that the HTML shows. An example is at [`Attachment`].
    #[must_use]
    pub fn attach(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }

    /// Sets where one click ends such mails, which large providers ask of what goes to many (RFC 8058): a service for
    /// POST, without a session, whose link says whom it is about.
    ///
    /// ```
    /// use skep::mail::Mail;
    ///
    /// let mail = Mail::new("ada@example.org", "News", "...").unsubscribe("https://shop.example.org/news/end/7c3a");
    /// assert!(mail.unsubscribe.is_some());
    /// ```
    #[must_use]
    pub fn unsubscribe(mut self, url: impl Into<String>) -> Self {
        self.unsubscribe = Some(url.into());
        self
    }

    /// How many bytes it has, before they are encoded.
    ///
    /// ```
    /// assert_eq!(skep::mail::Mail::new("ada@example.org", "News", "Hello.").len(), 10);
    /// ```
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a mail is never empty")]
    pub fn len(&self) -> usize {
        let texts = [Some(&self.subject), Some(&self.text), self.html.as_ref()];
        let files = self.attachments.iter().map(|attachment| attachment.bytes.len());
        texts.into_iter().flatten().map(String::len).chain(files).sum()
    }

    /// Sets the left part of its Message-ID: letters, digits, `-`, `_` and `.`, the same for each attempt at one mail.
    /// By it, those who get it twice can drop the second one. An example of a builder method is at [`Mail`].
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// What no mail server would take is found before there is one.
    fn check(&self) -> Result<(), Permanent> {
        for address in [Some(&self.to), self.reply_to.as_ref()].into_iter().flatten() {
            address.parse::<Mailbox>().map_err(|wrong| Permanent::recipient(wrong.to_string()))?;
        }
        if let Some(from) = &self.from {
            from.parse::<Mailbox>().map_err(|wrong| Permanent::mail(format!("the sender of a mail: {wrong}")))?;
        }
        if self.subject.chars().any(char::is_control) {
            return Err(Permanent::mail("the subject of a mail has a line break or another control character"));
        }
        let is_plain =
            |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if self.id.as_deref().is_some_and(|id| !is_plain(id)) {
            return Err(Permanent::mail(
                "the id of a mail has other characters than letters, digits, `-`, `_` and `.`",
            ));
        }
        if [Some(&self.text), self.html.as_ref()].into_iter().flatten().any(|text| text.contains('\0')) {
            return Err(Permanent::mail("the text of a mail has a NUL"));
        }
        for attachment in &self.attachments {
            attachment.check().map_err(Permanent::mail)?;
        }
        if let Some(url) = self.unsubscribe.as_deref().filter(|url| !is_https(url)) {
            return Err(Permanent::mail(format!("a mail is ended at {url:?}: expected an https URL in ASCII")));
        }
        Ok(())
    }
}

fn is_https(url: &str) -> bool {
    url.strip_prefix("https://").is_some_and(|rest| !rest.is_empty())
        && url.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>,".contains(&byte))
}

/// Texts of mails have links that sign in: neither they nor the addresses belong in a log by accident.
impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mail").field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// Why a mail was not sent.
pub type Failure = Box<dyn StdError + Send + Sync>;

/// A [`Failure`] of a mail that fails each time: [`Cx::send_mail`](crate::Cx::send_mail) does not ask to try again
/// later. A [`Mailer`] returns it for what its mail server refuses for good.
///
/// ```
/// use skep::mail::{Failure, Permanent};
///
/// let unknown: Failure = Permanent::recipient("550 no such user here").into();
/// assert_eq!(unknown.to_string(), "550 no such user here");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permanent {
    problem: String,
    is_recipient: bool,
}

impl Permanent {
    /// Nobody can be reached at the address: a 422, since users type addresses.
    #[must_use]
    pub fn recipient(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), is_recipient: true }
    }

    /// The mail, its sender or a setting is wrong: a 500. [`Permanent`] has an example.
    #[must_use]
    pub fn mail(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), is_recipient: false }
    }

    /// True if another address might do. [`Permanent`] has an example.
    #[must_use]
    pub fn is_recipient(&self) -> bool {
        self.is_recipient
    }
}

skep_units::error_text!(Permanent, |permanent| permanent.problem);

/// A mail on its way, and what becomes of it.
pub type Delivery = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;

/// Delivers mail.
///
/// ```
/// use skep::mail::{Delivery, Mail, Mailer};
/// use skep::prelude::*;
///
/// /// Hands mail over to the service of a provider.
/// struct Provider;
///
/// impl Mailer for Provider {
///     fn send(&self, mail: Mail) -> Delivery {
///         // Begin to send it here, in a task of its own; the future only waits for that.
///         Box::pin(async move { if mail.to.contains('@') { Ok(()) } else { Err("no address".into()) } })
///     }
/// }
/// let app = App::new().mailer(Provider);
/// # let _ = app;
/// ```
pub trait Mailer: Send + Sync + 'static {
    /// Takes a mail, without waiting for a network. The future completes when a mail server has taken it over, or when
    /// that has failed; delivery goes on, and a failure is logged, also if the future is dropped.
    fn send(&self, mail: Mail) -> Delivery;

    /// Takes a mail that must not be sent, since there is nobody to send it to, in the time that [`send`](Self::send)
    /// takes: so that how long a response takes does not tell who has an account.
    fn discard(&self, mail: Mail) {
        drop(mail);
    }
}

/// Where mail goes.
pub(crate) enum Outbox {
    Mailer(Arc<dyn Mailer>),
    /// The log, in development.
    Log,
    /// Tests read what was sent (true), and discard the rest later, as a queue does.
    Collected(Mutex<Vec<(Mail, bool)>>),
    /// Nothing is configured.
    Missing,
}

/// Adds it to the file that `skep dev` has made and names, which shows mails.
fn record(mail: &Mail) -> io::Result<()> {
    let Some(file) = std::env::var_os("MAILS_OF_SKEP_DEV") else { return Ok(()) };
    let line = serde_json::to_string(mail)? + "\n";
    File::options().append(true).open(file)?.write_all(line.as_bytes())
}

const MISSING: &str =
    "no mail can be sent: set `mail.smtp` (skep-server with the cargo feature `smtp`), or call App::mailer";

impl Outbox {
    pub(crate) fn send(&self, mail: Mail) -> Delivery {
        let outcome = match (mail.check(), self) {
            (Ok(()), Self::Mailer(mailer)) => return mailer.send(mail),
            (Err(failure), _) => Err(failure.into()),
            (_, Self::Missing) => Err(Permanent::mail(MISSING).into()),
            (_, Self::Log) => {
                let Mail { to, subject, text, attachments, .. } = &mail;
                let files = Some(attachments).filter(|files| !files.is_empty());
                let files = files.map(|files| format!("\nAttachments: {files:?}")).unwrap_or_default();
                tracing::info!(target: "skep::mail", "a mail to {to}\nSubject: {subject}{files}\n\n{text}");
                let hidden = |error| tracing::warn!(target: "skep::mail", %error, "`skep dev` does not show this mail");
                record(&mail).unwrap_or_else(hidden);
                Ok(())
            }
            (_, Self::Collected(mails)) => {
                lock(mails).push((mail, true));
                Ok(())
            }
        };
        Box::pin(std::future::ready(outcome.inspect_err(|failure| {
            tracing::error!(target: "skep::mail", "a mail was not sent: {failure}");
        })))
    }

    pub(crate) fn discard(&self, mail: Mail) {
        match (mail.check(), self) {
            (Ok(()), Self::Mailer(mailer)) => mailer.discard(mail),
            (Ok(()), Self::Collected(mails)) => lock(mails).push((mail, false)),
            _ => {}
        }
    }

    /// True if mail goes somewhere.
    pub(crate) fn is_there(&self) -> bool {
        !matches!(self, Self::Missing)
    }

    /// What was sent so far, in a test.
    #[cfg(all(feature = "test", not(target_family = "wasm")))]
    pub(crate) fn collected(&self) -> Option<Vec<Mail>> {
        let Self::Collected(mails) = self else { return None };
        Some(lock(mails).iter().filter(|(_, is_sent)| *is_sent).map(|(mail, _)| mail.clone()).collect())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mail.rs"]
mod tests;
