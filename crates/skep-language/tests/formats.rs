//! Dates and numbers in texts, from the macro to the text.

use jiff::civil::date;
use skep_language::t;

skep_language::languages!("tests/texts/formats", default = "en");

#[test]
fn a_text_has_dates_and_plurals_of_its_language() {
    let day = date(2026, 12, 31);
    assert_eq!(t!(Language::En, due, day, days = 1), "Due on December 31, 2026, in a day.");
    assert_eq!(t!(Language::De, due, day = &day, days = 1200), "Fällig am 31. Dezember 2026, in 1.200 Tagen.");
}

#[test]
fn a_text_may_be_named_by_a_word_of_rust() {
    assert_eq!((t!(Language::De, continue), t!(Language::En, r#continue)), ("Weiter", "Continue"));
    let r#type = "large";
    assert_eq!(t!(Language::De, continue.type, type = "kleiner"), "ein Knopf: kleiner");
    assert_eq!(t!(Language::En, r#continue.r#type, type), "a large button");
}
