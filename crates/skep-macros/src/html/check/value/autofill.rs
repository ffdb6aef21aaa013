//! What `autocomplete` may say (4.10.19.7.1).

/// Kinds of controls, by what one can type into them.
const TEXT: &str = "text";
const LINES: &str = "multiline";
const PASSWORD: &str = "password";
const URL: &str = "url";
const NUMBER: &str = "number";
const MONTH: &str = "month";
const DATE: &str = "date";
const TEL: &str = "tel";
const USER: &str = "username";

/// Fields, and the control that each needs.
const FIELDS: &[(&str, &str)] = &[
    ("name", TEXT),
    ("honorific-prefix", TEXT),
    ("given-name", TEXT),
    ("additional-name", TEXT),
    ("family-name", TEXT),
    ("honorific-suffix", TEXT),
    ("nickname", TEXT),
    ("username", USER),
    ("new-password", PASSWORD),
    ("current-password", PASSWORD),
    ("one-time-code", PASSWORD),
    ("organization-title", TEXT),
    ("organization", TEXT),
    ("street-address", LINES),
    ("address-line1", TEXT),
    ("address-line2", TEXT),
    ("address-line3", TEXT),
    ("address-level4", TEXT),
    ("address-level3", TEXT),
    ("address-level2", TEXT),
    ("address-level1", TEXT),
    ("country", TEXT),
    ("country-name", TEXT),
    ("postal-code", TEXT),
    ("cc-name", TEXT),
    ("cc-given-name", TEXT),
    ("cc-additional-name", TEXT),
    ("cc-family-name", TEXT),
    ("cc-number", TEXT),
    ("cc-exp", MONTH),
    ("cc-exp-month", NUMBER),
    ("cc-exp-year", NUMBER),
    ("cc-csc", TEXT),
    ("cc-type", TEXT),
    ("transaction-currency", TEXT),
    ("transaction-amount", NUMBER),
    ("language", TEXT),
    ("bday", DATE),
    ("bday-day", NUMBER),
    ("bday-month", NUMBER),
    ("bday-year", NUMBER),
    ("sex", TEXT),
    ("url", URL),
    ("photo", URL),
];

/// Fields that may have `home`, `work`, `mobile`, `fax` or `pager` before them.
const CONTACTS: &[(&str, &str)] = &[
    ("tel", TEL),
    ("tel-country-code", TEXT),
    ("tel-national", TEXT),
    ("tel-area-code", TEXT),
    ("tel-local", TEXT),
    ("tel-local-prefix", TEXT),
    ("tel-local-suffix", TEXT),
    ("tel-extension", TEXT),
    ("email", USER),
    ("impp", URL),
];

/// Is it the list of an autofill field, whatever the control?
pub(super) fn is_right(value: &str) -> bool {
    let words = value.trim_ascii().to_ascii_lowercase();
    matches!(words.as_str(), "on" | "off") || field(&words).is_some()
}

/// Does this `input` take this field? Every other control does, and what is no field is named elsewhere.
pub(in super::super) fn fits(kind: &str, value: &str) -> bool {
    let words = value.to_ascii_lowercase();
    let Some(field) = field(&words) else { return true };
    let (of, needs) = field;
    match kind {
        "hidden" => true,
        "text" | "search" => needs != LINES,
        "password" => needs == PASSWORD,
        "url" => needs == URL,
        "email" => needs == USER,
        "tel" => needs == TEL,
        "number" => needs == NUMBER,
        "month" => needs == MONTH,
        "date" => needs == DATE,
        _ => of == "webauthn",
    }
}

/// The field and the control it needs, if the words stand in their order.
fn field(words: &str) -> Option<(&'static str, &'static str)> {
    let mut words = words.split_ascii_whitespace().peekable();
    words.next_if(|word| word.starts_with("section-"));
    words.next_if(|word| matches!(*word, "shipping" | "billing"));
    let is_contact = words.next_if(|word| matches!(*word, "home" | "work" | "mobile" | "fax" | "pager")).is_some();
    let name = words.next()?;
    let find =
        |fields: &'static [(&'static str, &'static str)]| fields.iter().find(|(known, _)| *known == name).copied();
    let found = if is_contact { find(CONTACTS) } else { find(FIELDS).or_else(|| find(CONTACTS)) };
    words.next_if(|word| *word == "webauthn");
    found.filter(|_| words.next().is_none())
}
