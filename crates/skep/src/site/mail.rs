//! Sending mail outside of a request.

use super::{Local, Site};
use crate::mail::Mail;

impl Site {
    /// Sends a mail, as [`Cx::queue_mail`](crate::Cx::queue_mail) does: from a job.
    pub fn queue_mail(&self, mail: Mail) {
        drop(self.resources.send_mail(mail));
    }
}

impl Local {
    /// The mails that a test has collected.
    pub(crate) fn mails(&self) -> Option<Vec<Mail>> {
        self.inner.site.resources.outbox.collected()
    }
}
