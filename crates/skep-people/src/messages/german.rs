//! German.

use std::time::SystemTime;

use super::{AccountMessages, PageMessages};
use crate::account_mail::AccountMail;
use crate::common::Weakness;
use crate::event::EventKind;
use crate::notice::Notice;

impl AccountMessages {
    /// German.
    pub const GERMAN: Self = Self {
        language: "de",
        weakness: |weakness| match weakness {
            Weakness::FewCharacters => "Dieses Passwort hat zu wenige verschiedene Zeichen.",
            Weakness::Sequence => "Dieses Passwort ist eine Tastenreihe oder eine Folge.",
            Weakness::OwnName => "Dieses Passwort besteht aus Ihrem Namen oder dem dieser Seite.",
            Weakness::Common => "Dieses Passwort ist eines von denen, die zuerst erraten werden.",
        },
        forbidden: "Das dürfen Sie nicht.",
        too_often: "Das wurde zu oft versucht. Bitte versuchen Sie es in einer Weile noch einmal.",
        busy: "Zurzeit melden sich zu viele Menschen an. Bitte versuchen Sie es noch einmal.",
        empty_password: "Das Passwort ist leer.",
        not_email: "Das ist keine E-Mail-Adresse.",
        no_token: "Es fehlt ein gültiges Zugriffstoken: Authorization: Bearer ...",
        browser_on: |browser, system| format!("{browser} unter {system}"),
        unknown_device: "unbekanntes Gerät",
        no_passkeys: "Diese Seite hat keine Passkeys.",
        passkey_expired: "Das wurde in einem anderen Browser begonnen, ist abgeschlossen oder hat zu lange gedauert. \
                          Bitte versuchen Sie es noch einmal.",
        passkey_registered: "Dieser Passkey ist schon registriert.",
        passkey_copied: "Von diesem Passkey gibt es vielleicht eine Kopie, deshalb wurde er nicht angenommen. Bitte \
                         melden Sie sich auf andere Weise an und entfernen Sie ihn.",
        passkey_refused: "Dieser Passkey wurde nicht angenommen. Versuchen Sie es noch einmal oder auf andere Weise.",
        provider_denied: |name| {
            format!(
                "{name} durfte Sie nicht anmelden. Sie können es noch einmal versuchen oder sich auf andere Weise anmelden."
            )
        },
        provider_expired: "Diese Anmeldung wurde in einem anderen Browser begonnen, ist abgeschlossen oder zu alt. Bitte \
                           beginnen Sie noch einmal.",
        provider_unavailable: |name| {
            format!(
                "{name} antwortet nicht. Bitte versuchen Sie es in einer Weile noch einmal oder melden Sie sich auf andere \
                 Weise an."
            )
        },
        provider_untrusted: |name| format!("{name} hat nichts Brauchbares geantwortet, Sie sind nicht angemeldet."),
        notice,
        pages: &PageMessages::GERMAN,
    };
}

impl PageMessages {
    /// German.
    pub const GERMAN: Self = Self {
        sign_in: "Anmelden",
        sign_up: "Konto anlegen",
        sign_up_hint: "Wir senden Ihnen einen Link, mit dem Sie ein Passwort wählen.",
        email: "E-Mail",
        name: "Name",
        name_missing: "Bitte geben Sie Ihren Namen an.",
        password: "Passwort",
        password_hint: "Mindestens zehn Zeichen.",
        wrong_password: "E-Mail-Adresse oder Passwort ist falsch.",
        forgotten_password: "Passwort vergessen?",
        forgotten_password_hint: "Wir senden Ihnen einen Link, mit dem Sie ein anderes wählen.",
        send_link: "Link senden",
        mail_sent: "Wir haben Ihnen eine Mail gesendet.",
        mail_sent_to_account: "Wenn es zu dieser Adresse ein Konto gibt, ist eine Mail unterwegs.",
        old_password: "Bisheriges Passwort",
        new_password: "Neues Passwort",
        change_password: "Passwort ändern",
        save: "Speichern",
        password_saved: "Das neue Passwort ist gespeichert.",
        not_your_password: "Das ist nicht Ihr Passwort.",
        has_account: "Zu dieser Adresse gibt es schon ein Konto.",
        account_waits: "Ihr Konto ist angelegt. Sie können sich anmelden, sobald es freigegeben ist.",
        no_password: "Sie haben noch kein Passwort. Wir senden Ihnen einen Link, mit dem Sie eines wählen.",
        link_expired: "Dieser Link wurde benutzt oder ist zu alt. Bitte fordern Sie einen neuen an.",
        mail,
    };
}

fn mail(mail: &AccountMail<'_>) -> (String, String) {
    let (subject, text) = match mail {
        AccountMail::SignUp { link, .. } => (
            "Willkommen",
            format!(
                "Wenn Sie kein Konto wollten, ist nichts zu tun. Sonst wählen Sie innerhalb eines Tages Ihr Passwort, \
                 und Sie sind angemeldet: {link}"
            ),
        ),
        AccountMail::HasAccount { link, .. } => (
            "Sie haben schon ein Konto",
            format!(
                "Jemand, vielleicht Sie selbst, wollte mit dieser Adresse ein Konto anlegen. Sie hat schon eines, zum \
                 Anmelden: {link}"
            ),
        ),
        AccountMail::ForgottenPassword { link, .. } => (
            "Ein neues Passwort",
            format!(
                "Wählen Sie innerhalb einer Stunde ein neues Passwort: {link}\n\nWenn Sie keines wollten, ist nichts zu \
                 tun.\n"
            ),
        ),
    };
    (subject.to_owned(), text)
}

fn notice(notice: &Notice) -> (String, String) {
    let (subject, happened) = match notice.kind {
        EventKind::NewDevice => (
            "Neue Anmeldung",
            "Jemand hat sich mit einem Browser angemeldet, der neu ist oder zuletzt ein anderes Passwort hatte.",
        ),
        EventKind::PasswordChanged => ("Ihr Passwort wurde geändert", "Das Passwort wurde geändert."),
        EventKind::PasswordReset => {
            ("Ihr Passwort wurde zurückgesetzt", "Das Passwort wurde über einen Link in einer Mail neu gesetzt.")
        }
        EventKind::SecondFactorAdded => {
            ("Die Zwei-Faktor-Anmeldung ist eingeschaltet", "Ein zweiter Faktor wurde eingerichtet.")
        }
        EventKind::RecoveryCodesMade => ("Neue Ersatzcodes", "Es wurden Ersatzcodes erstellt."),
        EventKind::PasskeyAdded => ("Ein Passkey wurde hinzugefügt", "Ein Passkey wurde hinzugefügt."),
        EventKind::AddressChanged => ("Ihre E-Mail-Adresse wurde geändert", "Die E-Mail-Adresse wurde geändert."),
        EventKind::CodesGuessed => (
            "Falsche Codes für Ihr Konto",
            "Jemand, der das Passwort kennt, hat fünf falsche Codes des zweiten Faktors eingegeben.",
        ),
        other => ("Mit Ihrem Konto ist etwas geschehen", other.as_str()),
    };
    let at = moment(notice.at);
    let address = notice.address_text().unwrap_or_else(|| "unbekannt".to_owned());
    let text = format!(
        "Konto: {}\n\n{happened}\n\nZeit: {at}\nBrowser: {}\nAdresse: {address}\n\n\
         Wenn Sie das waren, ist nichts zu tun. Wenn nicht, wählen Sie ein neues Passwort und melden Sie sich überall \
         ab.\n",
        notice.user, notice.device
    );
    (subject.to_owned(), text)
}

const MONTHS: [(&str, &str); 12] = [
    ("Jan", "Januar"),
    ("Feb", "Februar"),
    ("Mar", "März"),
    ("Apr", "April"),
    ("May", "Mai"),
    ("Jun", "Juni"),
    ("Jul", "Juli"),
    ("Aug", "August"),
    ("Sep", "September"),
    ("Oct", "Oktober"),
    ("Nov", "November"),
    ("Dec", "Dezember"),
];

/// `6. November 1994, 08:49:37 GMT`, of what HTTP writes as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn moment(at: SystemTime) -> String {
    let english = httpdate::fmt_http_date(at);
    let parts: Vec<&str> = english.split(' ').collect();
    let &[_, day, month, year, time, zone] = &*parts else { return english };
    let month = MONTHS.iter().find(|(english, _)| *english == month).map_or(month, |(_, german)| german);
    format!("{}. {month} {year}, {time} {zone}", day.trim_start_matches('0'))
}
