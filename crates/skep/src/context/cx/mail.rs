//! Sending mail from a handler.

use http::StatusCode;

use super::Cx;
use crate::host::mail::{Mail, Permanent};
use skep_http::error::{Error, Result};

impl Cx<'_> {
    /// Sends a mail, and waits until a mail server has accepted it: for pages that say that it has been sent.
    ///
    /// # Errors
    /// 503 if the mail could not be sent; the log says why. What would fail each time ([`Permanent`]) is a 422 if it is
    /// the address, and otherwise a 500.
    ///
    /// ```
    /// use skep::mail::Mail;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(POST "/orders")]
    /// struct Order;
    ///
    /// impl Handle for Order {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         cx.send_mail(Mail::new("ada@example.org", "Your order", "It is on its way.")).await?;
    ///         Ok(Response::text("ordered"))
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![Order]));
    /// client.post("/orders", &[]);
    /// assert_eq!(client.mails()[0].subject, "Your order");
    /// ```
    pub async fn send_mail(&self, mail: Mail) -> Result<()> {
        let sent = self.shared.resources().shared().send_mail(mail).await;
        sent.map_err(|failure| {
            let (status, message) = match failure.downcast_ref::<Permanent>() {
                None => (StatusCode::SERVICE_UNAVAILABLE, "The mail could not be sent. Please try again later."),
                Some(permanent) if permanent.is_recipient() => {
                    (StatusCode::UNPROCESSABLE_ENTITY, "No mail can be sent to this e-mail address.")
                }
                Some(_) => (StatusCode::INTERNAL_SERVER_ERROR, "The mail could not be sent."),
            };
            Error::new(status).with_message(message).with_cause(failure)
        })
    }

    /// Sends a mail, and waits for nothing: the response does not take longer for it, and a failure is only logged.
    /// What is still in the queue when the process is killed is lost. [`send_mail`](Self::send_mail) has an example of
    /// a mail.
    pub fn queue_mail(&self, mail: Mail) {
        drop(self.shared.resources().shared().send_mail(mail));
    }

    /// Does what [`queue_mail`](Self::queue_mail) does, in the same time, with a mail that is not sent: so that how
    /// long a response takes does not tell whether there was somebody to write to.
    ///
    /// ```
    /// # use skep::{Cx, mail::Mail};
    /// fn write(cx: &Cx<'_>, mail: Mail, is_known: bool) {
    ///     if is_known { cx.queue_mail(mail) } else { cx.discard_mail(mail) }
    /// }
    /// ```
    pub fn discard_mail(&self, mail: Mail) {
        self.shared.resources().shared().discard_mail(mail);
    }

    /// True if users get mails about what has happened to their accounts: mail is delivered, and the setting
    /// `mail.notices` is on.
    ///
    /// ```
    /// # use skep::{Cx, mail::Mail};
    /// fn tell(cx: &Cx<'_>, mail: Mail) {
    ///     if cx.sends_notices() { cx.queue_mail(mail) }
    /// }
    /// ```
    #[must_use]
    pub fn sends_notices(&self) -> bool {
        let shared = self.shared.resources().shared();
        shared.setup.notices && shared.outbox.is_there()
    }
}
