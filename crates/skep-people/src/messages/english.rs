//! English.

use super::{AccountMessages, PageMessages};
use crate::account_mail::AccountMail;
use crate::common::Weakness;
use crate::event::EventKind;
use crate::notice::Notice;

impl AccountMessages {
    /// English, for applications that say nothing about languages.
    pub const ENGLISH: Self = Self {
        language: "en",
        weakness: |weakness| match weakness {
            Weakness::FewCharacters => "This password has too few different characters.",
            Weakness::Sequence => "This password is a row of keys or a sequence.",
            Weakness::OwnName => "This password is made of your name or of this site's.",
            Weakness::Common => "This password is one of those that are guessed first.",
        },
        forbidden: "You may not do this.",
        too_often: "This was done too often. Please try again in a while.",
        busy: "too many people are signing in at the moment: please try again",
        empty_password: "the password is empty",
        not_email: "This is not an e-mail address.",
        no_token: "send an access token: Authorization: Bearer ...",
        browser_on: |browser, system| format!("{browser} on {system}"),
        unknown_device: "unknown device",
        no_passkeys: "this site has no passkeys",
        passkey_expired: "This was begun in another browser, is complete, or took too long. Please try again.",
        passkey_registered: "This passkey is registered already.",
        passkey_copied: "This passkey may have been copied, so it was not accepted. Sign in another way, and remove it.",
        passkey_refused: "This passkey was not accepted. Try again, or use another way.",
        provider_denied: |name| {
            format!("{name} was not allowed to sign you in. You can try again, or sign in another way.")
        },
        provider_expired: "This sign-in was begun in another browser, is complete, or is too old. Please begin again.",
        provider_unavailable: |name| {
            format!("{name} does not respond. Please try again in a while, or sign in another way.")
        },
        provider_untrusted: |name| format!("{name} gave no usable response, so you are not signed in."),
        notice,
        pages: &PageMessages::ENGLISH,
    };
}

impl PageMessages {
    /// English.
    pub const ENGLISH: Self = Self {
        sign_in: "Sign in",
        sign_up: "Sign up",
        sign_up_hint: "We send you a link, with which you choose a password.",
        email: "E-mail",
        name: "Name",
        name_missing: "Please say your name.",
        password: "Password",
        password_hint: "Ten characters at least.",
        wrong_password: "E-mail address or password is wrong.",
        forgotten_password: "Forgotten your password?",
        forgotten_password_hint: "We send you a link, with which you choose another one.",
        send_link: "Send the link",
        mail_sent: "We have sent you a mail.",
        mail_sent_to_account: "If there is an account with this address, a mail is on its way.",
        old_password: "Current password",
        new_password: "New password",
        change_password: "Change your password",
        save: "Save",
        password_saved: "The new password is saved.",
        not_your_password: "This is not your password.",
        has_account: "This address has an account already.",
        account_waits: "Your account is made. You can sign in once it is approved.",
        no_password: "You have no password yet. We send you a link, with which you choose one.",
        link_expired: "This link was used, or is too old. Please ask for a new one.",
        mail,
    };
}

fn mail(mail: &AccountMail<'_>) -> (String, String) {
    let (subject, text) = match mail {
        AccountMail::SignUp { link, .. } => (
            "Welcome",
            format!(
                "If it was not you who signed up, do nothing. Otherwise choose your password within a day, and you \
                 are in: {link}"
            ),
        ),
        AccountMail::HasAccount { link, .. } => (
            "You have an account",
            format!(
                "Somebody, perhaps you, wanted to sign up with this address, which has an account. Sign in: {link}"
            ),
        ),
        AccountMail::ForgottenPassword { link, .. } => (
            "A new password",
            format!("Choose a new password within an hour: {link}\n\nIf you did not ask for it, do nothing.\n"),
        ),
    };
    (subject.to_owned(), text)
}

fn notice(notice: &Notice) -> (String, String) {
    let (subject, happened) = match notice.kind {
        EventKind::NewDevice => {
            ("New sign-in", "Somebody signed in from a browser that is new, or was last used with another password.")
        }
        EventKind::PasswordChanged => ("Your password was changed", "The password was changed."),
        EventKind::PasswordReset => ("Your password was reset", "The password was reset by a link in a mail."),
        EventKind::SecondFactorAdded => ("Two-factor authentication is on", "A second factor was set up."),
        EventKind::RecoveryCodesMade => ("New recovery codes", "Recovery codes were made."),
        EventKind::PasskeyAdded => ("A passkey was added", "A passkey was added."),
        EventKind::AddressChanged => ("Your e-mail address was changed", "The e-mail address was changed."),
        EventKind::CodesGuessed => (
            "Wrong codes for your account",
            "Somebody who knows the password entered five wrong codes of the second factor.",
        ),
        other => ("Something happened to your account", other.as_str()),
    };
    let at = httpdate::fmt_http_date(notice.at);
    let address = notice.address_text().unwrap_or_else(|| "unknown".to_owned());
    let text = format!(
        "Account: {}\n\n{happened}\n\nTime: {at}\nBrowser: {}\nAddress: {address}\n\n\
         If this was you, there is nothing to do. If not, choose a new password, and sign out everywhere.\n",
        notice.user, notice.device
    );
    (subject.to_owned(), text)
}
