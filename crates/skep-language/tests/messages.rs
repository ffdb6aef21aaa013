//! The framework's English is the same with the crate and without it.

use std::borrow::Cow;

use skep::StatusCode;
use skep::form::{Expected, FieldError, InputError, Messages};
use skep_language::Languages as _;

skep_language::languages!("tests/texts/english", default = "en");

#[test]
fn english_is_that_of_the_framework() {
    let (own, built_in) = (Language::En.messages(), Messages::ENGLISH);
    let has_name = |status: &u16| StatusCode::from_u16(*status).is_ok_and(|one| one.canonical_reason().is_some());
    for status in (400..600).filter(has_name) {
        assert_eq!((own.error)(status), (built_in.error)(status), "{status}");
    }
    for (field, one, other) in plain(&own, &built_in) {
        assert_eq!(one, other, "{field}");
    }
    for count in [0, 1, 2, 80] {
        assert_eq!((own.too_short)(count), (built_in.too_short)(count));
        assert_eq!((own.too_long)(count, 81), (built_in.too_long)(count, 81));
    }
    for places in [0, 1, 2] {
        assert_eq!((own.too_precise)(places), (built_in.too_precise)(places));
    }
    // Of large numbers the crate groups the digits.
    for limit in [1, 2, 20_000, 20_000_000, 20_000_000_000] {
        assert_eq!((own.file_too_large)(limit), (built_in.file_too_large)(limit));
    }
    for now in ["", "Bees"] {
        assert_eq!((own.changed)(now), (built_in.changed)(now));
    }
    assert_eq!((own.time_left_out)("2:30", "3:30"), (built_in.time_left_out)("2:30", "3:30"));
    assert_eq!((own.time_twice)("2:30"), (built_in.time_twice)("2:30"));
    for error in refusals() {
        assert_eq!(error.text(&own), error.text(&built_in));
    }
}

/// One of each kind, each with another expectation.
fn refusals() -> Vec<InputError> {
    let name = || "page".to_owned();
    let whole = Expected::Whole { min: "0".to_owned(), max: "65535".to_owned() };
    let invalid = |expected| InputError::Invalid { name: name(), value: "\"x\"".to_owned(), expected };
    let reason = || "EOF while parsing at line 1 column 7".to_owned();
    vec![
        InputError::Missing { name: name(), expected: whole },
        InputError::Repeated { name: name() },
        invalid(Expected::Number),
        invalid(Expected::Bool),
        invalid(Expected::Date),
        invalid(Expected::Time),
        invalid(Expected::DateTime),
        invalid(Expected::Choice("a, b or c")),
        invalid(Expected::Choice("a")),
        invalid(Cow::from("a code").into()),
        InputError::NotOffered { name: name(), value: "\"x\"".to_owned() },
        InputError::NotOffered { name: name(), value: String::new() },
        InputError::Invalid { name: name(), value: String::new(), expected: Expected::Number },
        InputError::Incomplete { names: name() },
        InputError::NotUtf8 { name: name() },
        InputError::NotJson { line: 1, column: 7, reason: reason() },
        InputError::MissingMember { name: name() },
        InputError::Unfit { reason: reason() },
        InputError::Field(FieldError::Missing),
    ]
}

/// The texts without numbers.
fn plain(own: &Messages, built_in: &Messages) -> Vec<(&'static str, String, String)> {
    macro_rules! pairs {
        ($($text:ident)* ; $($function:ident)*) => { vec![
            $((stringify!($text), own.$text.to_owned(), built_in.$text.to_owned()),)*
            $((stringify!($function), (own.$function)("x"), (built_in.$function)("x")),)*
        ] };
    }
    pairs!(
        missing repeated not_one_line control_characters not_email not_url not_number not_whole not_date not_time
        not_date_time not_choice expired no_cookie spent conflict to_first_page;
        too_small too_large file_kind expected
    )
}
