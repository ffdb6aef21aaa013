//! What this crate says to users, in their language: English and German, and those of the application.

mod english;
mod german;

use crate::account_mail::AccountMail;
use crate::common::Weakness;
use crate::notice::Notice;
use skep::Cx;

/// The texts of this crate in one language. English and German are there; an application that speaks others, or says
/// something in other words, has [`AccountLanguages`]. All fields must be given, so a translation that lacks one does
/// not compile.
#[derive(Clone, Copy)]
pub struct AccountMessages {
    /// The language as [`Cx::language`] names it: `de`, `pt-BR`.
    pub language: &'static str,
    /// Why a password is easily guessed.
    pub weakness: fn(Weakness) -> &'static str,
    /// A [`Rule`](crate::Rule) refused somebody.
    pub forbidden: &'static str,
    /// Something was tried too often.
    pub too_often: &'static str,
    /// Too many passwords are being hashed.
    pub busy: &'static str,
    /// A password is empty.
    pub empty_password: &'static str,
    /// Where a mail with a link should go is no e-mail address.
    pub not_email: &'static str,
    /// A program sent no [access token](crate::AccessToken), or none that is valid.
    pub no_token: &'static str,
    /// A browser with its system, such as `Firefox` and `Linux`.
    pub browser_on: fn(browser: &str, system: &str) -> String,
    /// The browser is not known, nor its system.
    pub unknown_device: &'static str,
    /// Passkeys: the site has none, for it has no address.
    pub no_passkeys: &'static str,
    /// Passkeys: what was begun is too old, or another browser's.
    pub passkey_expired: &'static str,
    /// Passkeys: it was registered before.
    pub passkey_registered: &'static str,
    /// Passkeys: there may be a copy.
    pub passkey_copied: &'static str,
    /// Passkeys: it is not one of the account.
    pub passkey_refused: &'static str,
    /// OpenID Connect: the user did not want it, or the provider of this name.
    pub provider_denied: fn(provider: &str) -> String,
    /// OpenID Connect: what was begun is too old, or another browser's.
    pub provider_expired: &'static str,
    /// OpenID Connect: the provider of this name cannot be reached.
    pub provider_unavailable: fn(provider: &str) -> String,
    /// OpenID Connect: the provider of this name sent what cannot be believed.
    pub provider_untrusted: fn(provider: &str) -> String,
    /// Subject and text of the mail to the owner of an account.
    pub notice: fn(&Notice) -> (String, String),
    /// What the ready pages say.
    pub pages: &'static PageMessages,
}

/// The texts of the ready [`pages`](crate::pages) in one language, such as [`ENGLISH`](Self::ENGLISH). An application
/// that says something in other words gives its own by [`AccountLanguages`].
///
/// ```
/// use skep_people::{AccountLanguages, AccountMessages, PageMessages};
///
/// const PAGES: PageMessages = PageMessages { sign_up: "Join the choir", ..PageMessages::ENGLISH };
/// const MESSAGES: AccountMessages = AccountMessages { pages: &PAGES, ..AccountMessages::ENGLISH };
///
/// let app = skep::App::new().state(AccountLanguages::new([MESSAGES]));
/// # let _ = app;
/// ```
#[derive(Clone, Copy)]
pub struct PageMessages {
    /// A heading, a button and a link.
    pub sign_in: &'static str,
    /// Likewise.
    pub sign_up: &'static str,
    /// Above the form to sign up.
    pub sign_up_hint: &'static str,
    /// A label.
    pub email: &'static str,
    /// A label.
    pub name: &'static str,
    /// The name was left out.
    pub name_missing: &'static str,
    /// A label.
    pub password: &'static str,
    /// Below a field for a new password, which has ten characters or more.
    pub password_hint: &'static str,
    /// Beside the form to sign in: address or password is wrong.
    pub wrong_password: &'static str,
    /// A heading and a link.
    pub forgotten_password: &'static str,
    /// Above the form that asks for an address.
    pub forgotten_password_hint: &'static str,
    /// A button.
    pub send_link: &'static str,
    /// After somebody has signed up.
    pub mail_sent: &'static str,
    /// After somebody has forgotten a password; nobody learns whether there is an account.
    pub mail_sent_to_account: &'static str,
    /// A label beside the next one.
    pub old_password: &'static str,
    /// A heading and a label.
    pub new_password: &'static str,
    /// A heading.
    pub change_password: &'static str,
    /// A button.
    pub save: &'static str,
    /// After a new password.
    pub password_saved: &'static str,
    /// Beside the old password.
    pub not_your_password: &'static str,
    /// Somebody signed up twice, and opened both links.
    pub has_account: &'static str,
    /// The account is made, and somebody has to approve it.
    pub account_waits: &'static str,
    /// Before a link to the page of forgotten passwords: the account signs in otherwise.
    pub no_password: &'static str,
    /// A link of a mail that was used, or is too old.
    pub link_expired: &'static str,
    /// Subject and text of a mail with a link.
    pub mail: fn(&AccountMail<'_>) -> (String, String),
}

skep_units::opaque_debug!(PageMessages);

skep_units::opaque_debug!(AccountMessages, language: language);

/// Texts of this crate in more languages, or in other words: a value of the application.
///
/// ```
/// use skep::form::Messages;
/// use skep::prelude::*;
/// use skep_people::{AccountLanguages, AccountMessages};
///
/// const FRENCH: Messages = Messages { language: "fr", ..Messages::ENGLISH };
/// const OF_ACCOUNTS: AccountMessages =
///     AccountMessages { language: "fr", forbidden: "Vous n'avez pas le droit.", ..AccountMessages::ENGLISH };
///
/// let app = App::new().languages([Messages::ENGLISH, FRENCH]).state(AccountLanguages::new([OF_ACCOUNTS]));
/// # let _ = app;
/// ```
#[derive(Debug)]
pub struct AccountLanguages(Vec<AccountMessages>);

impl AccountLanguages {
    /// These come before the ones that are built in.
    #[must_use]
    pub fn new(languages: impl IntoIterator<Item = AccountMessages>) -> Self {
        Self(languages.into_iter().collect())
    }
}

impl AccountMessages {
    /// The texts in the language of this request; English for all others.
    ///
    /// ```
    /// use skep::Cx;
    /// use skep_people::{AccountMessages, weakness};
    ///
    /// fn problem(cx: &Cx<'_>, password: &str) -> Option<&'static str> {
    ///     weakness(password, &[]).map(AccountMessages::of(cx).weakness)
    /// }
    /// ```
    #[must_use]
    pub fn of(cx: &Cx<'_>) -> Self {
        Self::in_language(cx, cx.language())
    }

    /// The same in this language.
    pub(crate) fn in_language(cx: &Cx<'_>, language: &str) -> Self {
        let own = cx.find_state::<AccountLanguages>().map_or(&[][..], |languages| &languages.0);
        choose(own, language)
    }
}

/// The application's own for this tag, or else what is built in for its language: `de` serves `de-AT`.
fn choose(own: &[AccountMessages], language: &str) -> AccountMessages {
    let primary = language.split('-').next().unwrap_or_default();
    let find = |all: &[AccountMessages], tag: &str| {
        all.iter().find(|messages| messages.language.eq_ignore_ascii_case(tag)).copied()
    };
    let built_in = [AccountMessages::ENGLISH, AccountMessages::GERMAN];
    find(own, language)
        .or_else(|| find(own, primary))
        .or_else(|| find(&built_in, primary))
        .unwrap_or(AccountMessages::ENGLISH)
}

#[cfg(test)]
#[path = "../tests/unit/messages.rs"]
mod tests;
