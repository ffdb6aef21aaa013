//! Mail that is not lost: a job of its own.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use skep::Result;
use skep::mail::{Mail, Permanent};

use crate::cx::JobCx;
use crate::job::{Job, Outcome};

/// A mail in the database: [`Later::deliver_later`](crate::Later::deliver_later).
#[derive(Serialize, Deserialize)]
pub(crate) struct DeliverMail {
    to: String,
    subject: String,
    text: String,
    html: Option<String>,
    from: Option<String>,
    reply_to: Option<String>,
    id: Option<String>,
}

impl DeliverMail {
    pub(crate) fn of(mail: Mail) -> Self {
        let Mail { to, subject, text, html, from, reply_to, id, .. } = mail;
        Self { to, subject, text, html, from, reply_to, id }
    }

    fn into_mail(self) -> Mail {
        let mut mail = Mail::new(self.to, self.subject, self.text);
        (mail.html, mail.from, mail.reply_to, mail.id) = (self.html, self.from, self.reply_to, self.id);
        mail
    }
}

impl Job for DeliverMail {
    const KIND: &'static str = "skep.mail";
    const QUEUE: &'static str = "mail";
    const TIME_LIMIT: Duration = Duration::from_mins(2);

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        match cx.send_mail(self.into_mail()).await {
            Ok(()) => Ok(Outcome::Done),
            Err(failure) if failure.is::<Permanent>() => Ok(Outcome::GiveUp(failure.to_string())),
            Err(failure) => Err(skep::Error::internal(failure)),
        }
    }
}
