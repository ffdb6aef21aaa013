//! Which language is chosen, and that no German text was left in English.

use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::event::EventKind;

const FRENCH: AccountMessages =
    AccountMessages { language: "fr", forbidden: "C'est interdit.", ..AccountMessages::ENGLISH };

#[test]
fn the_applications_own_come_first_and_the_rest_is_english() {
    let swiss = AccountMessages { language: "de-CH", ..AccountMessages::GERMAN };
    let chosen = |language| choose(&[FRENCH, swiss], language).language;
    assert_eq!(
        ["fr", "fr-CA", "de-CH", "de-AT", "de", "en-GB", "sv"].map(chosen),
        ["fr", "fr", "de-CH", "de", "de", "en", "en"]
    );
}

#[test]
fn a_notice_is_written_in_german() {
    let notice = Notice {
        kind: EventKind::PasswordReset,
        user: "Ada".to_owned(),
        to: "ada@example.org".to_owned(),
        device: (AccountMessages::GERMAN.browser_on)("Firefox", "Linux"),
        address: None,
        at: UNIX_EPOCH + Duration::from_secs(784_111_777),
        language: "de".to_owned(),
        write: AccountMessages::GERMAN.notice,
    };
    let mail = notice.mail();
    assert_eq!((&*mail.to, &*mail.subject), ("ada@example.org", "Ihr Passwort wurde zurückgesetzt"));
    for part in ["Konto: Ada\n", "Zeit: 6. November 1994, 08:49:37 GMT\n", "Firefox unter Linux", "Adresse: unbekannt"]
    {
        assert!(mail.text.contains(part), "{part} in {}", mail.text);
    }
}
