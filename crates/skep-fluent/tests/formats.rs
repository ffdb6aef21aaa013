//! Dates, money, lists, shares, relative times and sorting, as each language has them.

use jiff::civil::{date, time};
use proptest::prelude::*;
use rust_decimal::Decimal;
use skep_fluent::{Argument, DateLength, Language, Locale, Moment, TextFile, Texts};

fn locale(tag: &str) -> Locale {
    Locale::new(tag).unwrap()
}

/// Spaces that do not break as usual ones.
fn plain(text: &str) -> String {
    text.replace(['\u{a0}', '\u{202f}'], " ")
}

#[test]
fn dates_and_times_are_written_as_the_language_writes_them() {
    let day = Moment::Date(date(2026, 12, 31));
    for (tag, length, expected) in [
        ("en", DateLength::Short, "12/31/26"),
        ("en", DateLength::Medium, "Dec 31, 2026"),
        ("en", DateLength::Full, "Thursday, December 31, 2026"),
        ("de", DateLength::Medium, "31.12.2026"),
        ("de", DateLength::Long, "31. Dezember 2026"),
        ("de", DateLength::Full, "Donnerstag, 31. Dezember 2026"),
        ("ja", DateLength::Long, "2026年12月31日"),
        ("en", DateLength::Day, "Thu, Dec 31"),
        ("de", DateLength::Day, "Do., 31. Dez."),
        ("de", DateLength::Weekday, "Donnerstag"),
        ("fr", DateLength::Weekday, "jeudi"),
        ("de", DateLength::Month, "Dezember 2026"),
        ("pt-BR", DateLength::Month, "dez. de 2026"),
    ] {
        assert_eq!(day.text(&locale(tag), length), expected, "{tag}");
    }
    let both = Moment::DateTime(date(2026, 12, 31).at(18, 5, 9, 0));
    assert_eq!(plain(&both.text(&locale("en"), DateLength::Medium)), "Dec 31, 2026, 6:05 PM");
    assert_eq!(both.text(&locale("de"), DateLength::Medium), "31.12.2026, 18:05");
    assert_eq!(both.text(&locale("de"), DateLength::Day), "Do., 31. Dez., 18:05");
    assert_eq!(both.text(&locale("de"), DateLength::Weekday), "Donnerstag");
    assert_eq!(both.text(&locale("de"), DateLength::Month), "Dezember 2026");
    assert_eq!(Moment::Time(time(18, 5, 9, 0)).text(&locale("de"), DateLength::Medium), "18:05");
}

#[test]
fn messages_say_how_long_a_date_is() {
    let text = "x = { DATETIME($day, dateStyle: \"long\") } / { DATETIME($day, timeStyle: \"medium\") } / { $day }";
    let files = [TextFile { path: "de.ftl", text }];
    let texts = Texts::of(&[Language { tag: "de", files: &files }]).unwrap();
    let moment = Argument::Date(Moment::DateTime(date(2026, 12, 31).at(18, 5, 9, 0)));
    assert_eq!(texts.text(0, "x", &[("day", moment)]), "31. Dezember 2026 / 18:05:09 / 31.12.2026, 18:05");
    let files = [TextFile { path: "de.ftl", text: "x = { DATETIME($day, dateStyle: \"tiny\") }" }];
    let problems = Texts::of(&[Language { tag: "de", files: &files }]).unwrap_err();
    assert!(problems[0].to_string().starts_with("de.ftl:1: dateStyle: \"tiny\" is no option; DATETIME takes"));
    for style in ["dateStyle: \"weekday\", timeStyle: \"short\"", "timeStyle: \"short\", dateStyle: \"month\""] {
        let text = format!("x = {{ DATETIME($day, {style}) }}").leak();
        let files = [TextFile { path: "de.ftl", text }];
        let problems = Texts::of(&[Language { tag: "de", files: &files }]).unwrap_err();
        assert!(problems[0].to_string().contains("without timeStyle \"weekday\" or \"month\""), "{}", problems[0]);
    }
}

/// The numbers in a text, in the digits of whatever script.
fn numbers(text: &str) -> Vec<u32> {
    let zeros = ['0', '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}'];
    let digit =
        |c: char| zeros.iter().find_map(|zero| (c as u32).checked_sub(*zero as u32).filter(|digit| *digit < 10));
    let ascii: String =
        text.chars().map(|c| digit(c).and_then(|digit| char::from_digit(digit, 10)).unwrap_or(' ')).collect();
    ascii.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

const TAGS: [&str; 30] = [
    "ar", "ar-EG", "bg", "bn", "cs", "da", "de", "de-AT", "de-CH", "el", "en", "en-IN", "es", "et", "fa", "fi", "fr",
    "he", "hi", "hu", "it", "ja", "ko", "nb", "pl", "pt-BR", "ru", "sv", "tr", "zh-Hant",
];

#[test]
fn money_is_read_as_it_is_written_in_thirty_languages() {
    for tag in TAGS {
        let locale = locale(tag);
        for currency in ["EUR", "USD", "CHF", "DKK", "CZK"] {
            for text in ["0.00", "12.50", "-12.50", "1234.56", "9876543.21"] {
                let shown = locale.money(&text.parse().unwrap(), currency);
                assert_eq!(locale.parse_money(&shown, currency), Some(text.parse().unwrap()), "{tag}: {shown:?}");
            }
        }
        assert_eq!(locale.parse_money("twelve", "EUR"), None, "{tag}");
    }
    for wrong in ["1€50", "€1€", "1EUR50", "5-€", "--5 €"] {
        assert_eq!(locale("de").parse_money(wrong, "EUR"), None, "{wrong}");
    }
    for right in ["-€5", "€-5", "- 5 EUR", "-5€", "EUR -5", "€ -5"] {
        assert_eq!(locale("en").parse_money(right, "EUR"), Some((-5).into()), "{right}");
    }
    assert_eq!(plain(&locale("de").money(&"1234.5".parse().unwrap(), "EUR")), "1.234,50 €");
    assert_eq!(locale("en").money(&"1234.5".parse().unwrap(), "USD"), "$1,234.50");
    assert_eq!(locale("de").parse_money("1234,5 EUR", "EUR"), Some("1234.5".parse().unwrap()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// In each language, also without the spaces and separators that nobody types.
    #[test]
    fn numbers_are_read_as_they_are_written_in_thirty_languages(
        which in 0..TAGS.len(), digits in -999_999_999_999_i64..=999_999_999_999, scale in 0u32..=6,
    ) {
        let (locale, number) = (locale(TAGS[which]), Decimal::new(digits, scale));
        let exact = number.to_string().parse().unwrap();
        for is_grouped in [true, false] {
            let shown = locale.number(&exact, is_grouped);
            prop_assert_eq!(locale.parse_number(&shown), Some(number), "{}: {:?}", TAGS[which], shown);
        }
    }

    #[test]
    fn money_is_read_as_it_is_written(which in 0..TAGS.len(), cents in -99_999_999_999_i64..=99_999_999_999) {
        let (locale, amount) = (locale(TAGS[which]), Decimal::new(cents, 2));
        for currency in ["EUR", "USD", "CHF", "CZK"] {
            let shown = locale.money(&amount.to_string().parse().unwrap(), currency);
            prop_assert_eq!(locale.parse_money(&shown, currency), Some(amount), "{}: {:?}", TAGS[which], shown);
        }
    }

    #[test]
    fn shares_are_read_as_they_are_written(which in 0..TAGS.len(), share in -99_999_999_i64..=99_999_999, scale in 2u32..=6) {
        let (locale, share) = (locale(TAGS[which]), Decimal::new(share, scale));
        let shown = locale.percent(&share.to_string().parse().unwrap());
        prop_assert_eq!(locale.parse_percent(&shown), Some(share), "{}: {:?}", TAGS[which], shown);
    }

    /// A day, a weekday and a month are never empty, and say the day of the month.
    #[test]
    fn each_day_has_a_text_in_thirty_languages(which in 0..TAGS.len(), days in 0i64..200_000) {
        let day = date(1700, 1, 1).checked_add(jiff::Span::new().days(days)).unwrap();
        let locale = locale(TAGS[which]);
        for length in [DateLength::Short, DateLength::Full, DateLength::Day, DateLength::Weekday, DateLength::Month] {
            let text = Moment::Date(day).text(&locale, length);
            prop_assert!(!text.is_empty(), "{}", TAGS[which]);
            if !matches!(length, DateLength::Weekday | DateLength::Month) {
                // Persian has a calendar of its own.
                let says = |numbers: Vec<u32>| match TAGS[which] {
                    "fa" => numbers.iter().any(|number| (1..32).contains(number)),
                    _ => numbers.contains(&day.day().unsigned_abs().into()),
                };
                prop_assert!(says(numbers(&text)), "{}: {text}", TAGS[which]);
            }
        }
    }
}

#[test]
fn lists_shares_and_relative_times_are_those_of_the_language() {
    assert_eq!(locale("en").list(&["Ann", "Ben", "Cleo"]), "Ann, Ben, and Cleo");
    assert_eq!(locale("de").list(&["Ann", "Ben", "Cleo"]), "Ann, Ben und Cleo");
    assert_eq!(plain(&locale("de").percent(&"0.125".parse().unwrap())), "12,5 %");
    assert_eq!(locale("en").percent(&"0.125".parse().unwrap()), "12.5%");
    for (tag, seconds, expected) in [
        ("en", -86_400, "1 day ago"),
        ("en", -30 * 3_600, "1 day ago"),
        ("en", 7_200, "in 2 hours"),
        ("de", -86_400, "vor 1 Tag"),
        ("de", -90, "vor 1 Minute"),
        ("de", 60 * 86_400, "in 2 Monaten"),
    ] {
        assert_eq!(locale(tag).relative(seconds), expected, "{tag} {seconds}");
    }
}

#[test]
fn texts_are_sorted_as_the_language_sorts_them() {
    let sorted = |tag: &str| {
        let mut names = ["Zebra", "Äpfel", "apple", "Öl"];
        let order = locale(tag).collator();
        names.sort_by(|one, other| order(one, other));
        names
    };
    assert_eq!(sorted("de"), ["Äpfel", "apple", "Öl", "Zebra"]);
    assert_eq!(sorted("sv"), ["apple", "Zebra", "Äpfel", "Öl"]);
}
