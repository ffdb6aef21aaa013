//! What the types of fields take, and what they say of the rest.

use skep::form::{
    Control, Date, DateTime, Decimal, Email, FieldError, FieldInfo, MultilineText, Text, Time, Url, complete,
};

#[test]
fn a_number_that_does_not_fit_says_why() {
    assert_eq!(u8::check("256").unwrap_err(), FieldError::TooLarge { max: "255".into() });
    assert_eq!(u8::check("-1").unwrap_err(), FieldError::TooSmall { min: "0".into() });
    assert_eq!(u8::check(&"9".repeat(60)).unwrap_err(), FieldError::TooLarge { max: "255".into() });
    assert_eq!(i32::check("1.5").unwrap_err(), FieldError::NotWhole);
    assert_eq!(i32::check("one").unwrap_err(), FieldError::NotNumber);
    assert_eq!(i32::check(" ").unwrap_err(), FieldError::Missing);
    assert_eq!(u64::check(&u64::MAX.to_string()), Ok(u64::MAX));
    assert_eq!(f64::check("nan").unwrap_err(), FieldError::NotNumber);
}

#[test]
fn decimals_are_exact() {
    assert_eq!(Decimal::<2>::check("-0.01").unwrap().steps(), -1);
    assert_eq!(Decimal::<2>::check("1.500").unwrap().to_string(), "1.50");
    assert_eq!(Decimal::<0>::check("12").unwrap().to_string(), "12");
    assert_eq!(Decimal::<3>::shape().step.as_deref(), Some("0.001"));
    for (text, steps) in
        [(".5", 50), ("1e3", 100_000), ("1250e-3", 125), ("-0", 0), ("0e99999999999999999999", 0), ("007", 700)]
    {
        assert_eq!(Decimal::<2>::check(text).unwrap().steps(), steps, "{text}");
    }
    for wrong in ["", "5.", "1,5", "+1", "--1", "-", ".", "e5", "1e", "1e+", "1e1.5", "1.0.0", "0x1", "∞"] {
        assert!(Decimal::<2>::check(wrong).is_err(), "{wrong}");
    }
    assert_eq!(Decimal::<2>::check("1e-3").unwrap_err(), FieldError::TooPrecise { places: 2 });
    assert!(matches!(Decimal::<2>::check("-1e99999999999999999999"), Err(FieldError::TooSmall { .. })));
    assert_eq!(i32::check("1.0e1"), Ok(10));
    assert_eq!(i32::check("1e-1").unwrap_err(), FieldError::NotWhole);
    assert!(Decimal::<2>::check(&"9".repeat(60)).is_err());
}

#[test]
fn characters_are_counted_as_browsers_count_them() {
    assert!(Text::<1, 2>::check("🐝").is_ok());
    assert_eq!(Text::<1, 2>::check("🐝a").unwrap_err(), FieldError::TooLong { max: 2, length: 3 });
    assert_eq!(Text::<3, 9>::check("ab").unwrap_err(), FieldError::TooShort { min: 3 });
    assert!(MultilineText::<1, 3>::check("a\r\nb").is_ok());
    for (text, control) in
        [("a\u{7}", true), ("a\u{7f}", true), ("é\u{85}b", true), ("\u{9f}é", true), ("é\tb\nc", false)]
    {
        assert_eq!(MultilineText::<1, 9>::check(text).is_err(), control, "{text:?}");
    }
    assert_eq!(Text::<0, 9>::check("").unwrap().as_str(), "");
}

#[test]
fn e_mail_addresses_are_those_that_browsers_take() {
    for good in ["a@b", "first.last+tag@mail.example.org", "o'neil@example.org", "a@1.2"] {
        assert!(Email::check(good).is_ok(), "{good}");
    }
    let long = format!("a@{}.org", "b".repeat(64));
    for bad in ["a", "a@", "@b", "a@b@c", "a b@c", "a@-b", "a@b-", "a@b..c", "é@b", "a@b\n", "\"a\"@b", &long] {
        assert!(Email::check(bad).is_err() || bad.ends_with('\n'), "{bad}");
    }
}

#[test]
fn only_addresses_of_the_web_are_urls() {
    for good in ["https://example.org", "HTTP://example.org:8080/a%20b?c#d", "http://[::1]/", "https://bücher.example/"]
    {
        assert!(Url::check(good).is_ok(), "{good}");
    }
    for bad in [
        "example.org",
        "//example.org",
        "ftp://example.org",
        "https://",
        "https://:80/",
        "https://a@/",
        "https://a b/",
        "https:///a",
    ] {
        assert!(Url::check(bad).is_err(), "{bad}");
    }
}

#[test]
fn only_days_that_exist_are_dates() {
    for good in ["0001-01-01", "9999-12-31", "2000-02-29", "2026-04-30"] {
        assert_eq!(good.parse::<Date>().unwrap().to_string(), good);
    }
    for bad in [
        "0000-01-01",
        "1900-02-29",
        "2026-04-31",
        "2026-13-01",
        "2026-00-01",
        "2026-1-1",
        "26-01-01",
        "+026-01-01",
        "2026-01-01 ",
    ] {
        assert!(bad.parse::<Date>().is_err(), "{bad}");
    }
}

#[test]
fn only_times_that_exist_are_times() {
    for good in ["00:00", "23:59", "23:59:59", "12:00:00.500"] {
        assert_eq!(good.parse::<Time>().unwrap().to_string(), good);
    }
    for bad in ["24:00", "12:60", "12:00:60", "12", "1:00", "12:00:00.", "12:00:00.0000", "-1:00"] {
        assert!(bad.parse::<Time>().is_err(), "{bad}");
    }
    assert_eq!("2026-12-31 18:30".parse::<DateTime>().unwrap().to_string(), "2026-12-31T18:30");
    assert!("2026-12-31".parse::<DateTime>().is_err());
}

const FIELDS: &[FieldInfo] = &[
    FieldInfo { name: "author", required: true, file: false, shape: None, offer: None, group: &[], many: false },
    FieldInfo { name: "site", required: false, file: false, shape: None, offer: None, group: &[], many: false },
];

#[test]
fn a_form_with_all_required_fields_is_complete() {
    complete("Comment", FIELDS, &["author"], &[], &[]);
    complete("Comment", FIELDS, &["site"], &["text", "author"], &[]);
}

#[test]
fn beside_a_misspelt_field_none_is_missed() {
    complete("Comment", FIELDS, &["site", "autho"], &[], &[]);
}

#[test]
#[should_panic(
    expected = "this form has no control for `author`, which `Comment` requires: add `input (Comment::author);`"
)]
fn the_panic_names_the_control_that_a_form_leaves_out() {
    complete("Comment", FIELDS, &["site"], &["autho"], &[]);
}

#[test]
#[should_panic(
    expected = "this form has a control for `author`, which `Comment` requires, and does not always send it"
)]
fn the_panic_says_that_a_branch_has_the_control() {
    complete("Comment", FIELDS, &["site"], &[], &["author"]);
}
