//! Mails with links.

use skep::Cx;
use skep::mail::Mail;

use super::texts;
use crate::account_mail::AccountMail;

impl AccountMail<'_> {
    /// The mail in the language of the request: [`PageMessages::mail`](crate::PageMessages::mail).
    #[must_use]
    pub fn mail(&self, cx: &Cx<'_>) -> Mail {
        let (Self::SignUp { to, .. } | Self::HasAccount { to, .. } | Self::ForgottenPassword { to, .. }) = self;
        let (subject, text) = (texts(cx).mail)(self);
        Mail::new(*to, subject, text)
    }
}
