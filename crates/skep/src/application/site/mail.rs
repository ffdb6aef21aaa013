//! Mail, and the sealed values in its links, outside of a request.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Site;
use crate::host::mail::Mail;
use skep_http::response::Result;

impl Site {
    /// Seals a value, as [`Cx::seal`](crate::Cx::seal) does: for links in mails that a job sends.
    pub fn seal(&self, purpose: &str, value: &(impl Serialize + ?Sized), lasts: Duration) -> Result<String> {
        self.resources.seal(purpose, value, lasts)
    }

    /// Opens what was sealed, as [`Cx::unseal`](crate::Cx::unseal) does.
    pub fn unseal<T: DeserializeOwned>(&self, purpose: &str, sealed: &str) -> Result<Option<T>> {
        self.resources.unseal(purpose, sealed)
    }

    /// Sends a mail, as [`Cx::queue_mail`](crate::Cx::queue_mail) does: from a job.
    pub fn queue_mail(&self, mail: Mail) {
        drop(self.resources.send_mail(mail));
    }

    /// The mails that a test has collected.
    #[cfg(all(feature = "test", not(target_family = "wasm")))]
    pub(crate) fn mails(&self) -> Option<Vec<Mail>> {
        self.resources.outbox.collected()
    }
}
