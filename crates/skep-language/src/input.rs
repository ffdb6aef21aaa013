//! What is wrong with parameters and bodies, as the arguments of the framework's texts for that.

use skep::form::{Expected, InputError, Messages};

/// The arguments of `skep-input`.
#[derive(Debug)]
#[allow(missing_docs, reason = "the texts document them")]
pub struct Input {
    pub kind: &'static str,
    pub name: String,
    pub value: String,
    pub expected: String,
}

/// The arguments of `skep-wanted`.
#[derive(Debug)]
#[allow(missing_docs, reason = "the texts document them")]
pub struct Wanted {
    pub kind: &'static str,
    pub first: String,
    pub last: String,
}

/// Those of a refusal, for a reader of these messages.
#[must_use]
pub fn input(error: &InputError, messages: &Messages) -> Input {
    let text = |expected: &Expected| expected.text(messages).into_owned();
    let of = |kind, name: &str, value: &str, expected| {
        let (name, value) = (name.to_owned(), value.to_owned());
        Input { kind, name, value, expected }
    };
    match error {
        InputError::Missing { name, expected } => of("missing", name, "", text(expected)),
        InputError::Repeated { name } => of("repeated", name, "", String::new()),
        InputError::Invalid { name, value, expected } => {
            of(if value.is_empty() { "invalid-secret" } else { "invalid" }, name, value, text(expected))
        }
        InputError::NotOffered { name, value } => {
            of(if value.is_empty() { "secret-not-offered" } else { "not-offered" }, name, value, String::new())
        }
        InputError::Incomplete { names } => of("incomplete", names, "", String::new()),
        InputError::NotUtf8 { name } => of("not-utf8", name, "", String::new()),
        InputError::NotJson { line, column, reason } => {
            of("not-json", &line.to_string(), &column.to_string(), reason.clone())
        }
        InputError::MissingMember { name } => of("missing-member", name, "", String::new()),
        InputError::Unfit { reason } => of("unfit", "", "", reason.clone()),
        other => of("unfit", "", "", other.text(messages)),
    }
}

/// Those of an expectation.
#[must_use]
pub fn wanted(expected: &Expected) -> Wanted {
    let of = |kind, first: &str, last: &str| Wanted { kind, first: first.to_owned(), last: last.to_owned() };
    match expected {
        Expected::Whole { min, max } => of("whole", min, max),
        Expected::Number => of("number", "", ""),
        Expected::Bool => of("bool", "", ""),
        Expected::Date => of("date", "", ""),
        Expected::Time => of("time", "", ""),
        Expected::DateTime => of("date-time", "", ""),
        Expected::Choice(words) => match words.rsplit_once(" or ") {
            Some((others, last)) => of("choice", others, last),
            None => of("other", "", words),
        },
        other => of("other", "", &other.text(&Messages::ENGLISH)),
    }
}
