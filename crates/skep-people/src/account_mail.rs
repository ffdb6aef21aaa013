//! Mails with links, as values: messages write them.

/// A mail of the ready pages: [`AccountPages::mail`](crate::pages::AccountPages::mail) may write it in another way.
///
/// ```
/// use skep::mail::Mail;
/// use skep_people::pages::AccountMail;
/// use skep::prelude::*;
///
/// fn mail(cx: &Cx<'_>, mail: &AccountMail<'_>) -> Mail {
///     match mail {
///         AccountMail::SignUp { to, link } => Mail::new(*to, "Welcome to the choir", format!("Come in: {link}")),
///         _ => mail.mail(cx),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum AccountMail<'m> {
    /// Somebody wants to sign up with this address.
    SignUp {
        /// Where it goes.
        to: &'m str,
        /// Where a password is chosen, as a whole URL.
        link: &'m str,
    },
    /// The same, and the address has an account.
    HasAccount {
        /// Where it goes.
        to: &'m str,
        /// The page to sign in.
        link: &'m str,
    },
    /// Somebody has forgotten the password of this account.
    ForgottenPassword {
        /// Where it goes.
        to: &'m str,
        /// Where another one is chosen.
        link: &'m str,
    },
}
