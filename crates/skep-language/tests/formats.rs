//! Dates and numbers in texts, from the macro to the text.

use jiff::civil::date;
use serde::Deserialize;
use skep::form::{Hidden, Password, Text, Whole};
use skep::prelude::*;
use skep::test::{Client, RequestBuilder};
use skep_language::{LanguageApp as _, Languages as _, t};

skep_language::languages!("tests/texts/formats", default = "en");

#[test]
fn a_text_has_dates_and_plurals_of_its_language() {
    let day = date(2026, 12, 31);
    assert_eq!(t!(Language::En, due, day, days = 1), "Due on December 31, 2026, in a day.");
    assert_eq!(t!(Language::De, due, day = &day, days = 1200), "Fällig am 31. Dezember 2026, in 1.200 Tagen.");
}

#[test]
fn sizes_of_files_are_read_as_they_are_written() {
    for language in [Language::En, Language::De] {
        for bytes in [0, 1, 2, 9_999, 12_000, 999_000, 12_000_000, 999_000_000, 12_000_000_000] {
            let shown = language.file_size(bytes);
            assert_eq!(language.parse_file_size(&shown), Some(bytes), "{shown}");
        }
        for wrong in ["", "MB", "-1 MB", "12 XB", "a lot"] {
            assert_eq!(language.parse_file_size(wrong), None, "{wrong}");
        }
    }
    assert_eq!(Language::De.parse_file_size("1,5 MB"), Some(1_500_000));
    assert_eq!(Language::En.parse_file_size("1.5kB"), Some(1_500));
    assert_eq!(Language::En.parse_file_size("1,500"), Some(1_500));
    for (typed, bytes) in [("1.5 KB", 1_500), ("10 mb", 10_000_000), ("1 byte", 1), ("One Byte", 1), ("7 BYTES", 7)] {
        assert_eq!(Language::En.parse_file_size(typed), Some(bytes), "{typed}");
    }
    assert_eq!(Language::De.parse_file_size("1 byte"), Some(1));
}

#[test]
fn a_text_may_be_named_by_a_word_of_rust() {
    assert_eq!((t!(Language::De, continue), t!(Language::En, r#continue)), ("Weiter", "Continue"));
    let r#type = "large";
    assert_eq!(t!(Language::De, continue.type, type = "kleiner"), "ein Knopf: kleiner");
    assert_eq!(t!(Language::En, r#continue.r#type, type), "a large button");
}

#[derive(Clone, Copy, Debug, Param)]
enum Order {
    Newest,
    Oldest,
}

#[derive(Debug, Deserialize)]
struct Course {
    title: Text<1, 5>,
    places: Whole<1, 9>,
    key: Option<Password<8, 64>>,
}

#[derive(Service)]
#[service(GET "/courses/{number}")]
struct Courses {
    number: u8,
    #[query]
    order: Option<Order>,
    #[query]
    full: bool,
    #[query]
    places: Option<Hidden<Whole<1, 9>>>,
    #[query]
    key: Option<Hidden<Password<8, 64>>>,
}

impl Handle for Courses {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let Self { number, order, full, places, key } = self;
        Ok(Response::text(format!("{number} {order:?} {full} {places:?} {key:?}")))
    }
}

#[derive(Service)]
#[service(POST "/courses")]
struct AddCourse {
    #[json]
    course: Course,
}

impl Handle for AddCourse {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("{} {} {:?}", self.course.title, self.course.places, self.course.key)))
    }
}

/// What the problem document says, and the pointer to it.
fn told(request: RequestBuilder<'_>) -> (String, String) {
    let answer = request.header("accept-language", "de").header("accept", "application/json").send();
    let problem: serde_json::Value = serde_json::from_str(answer.text()).unwrap();
    let pointer = problem["errors"][0]["pointer"].as_str().unwrap_or_default().to_owned();
    (problem["detail"].as_str().unwrap().to_owned(), pointer)
}

#[test]
fn refusals_of_parameters_and_json_are_in_the_readers_language() {
    let app = App::new().serve(services![Courses, AddCourse]).languages_of::<Language>();
    let client = Client::new(app);
    let of = |path: &str| told(client.request(skep::Method::GET, path)).0;
    assert_eq!(of("/courses/300?full=1"), "number: \"300\" passt nicht. Erwartet wird: eine ganze Zahl von 0 bis 255");
    assert_eq!(of("/courses/3"), "full fehlt. Erwartet wird: true oder false");
    assert_eq!(of("/courses/3?full=1&full=0"), "full ist mehr als einmal angegeben");
    assert_eq!(of("/courses/3?full=perhaps"), "full: \"perhaps\" passt nicht. Erwartet wird: true oder false");
    let order = "order: \"best\" passt nicht. Erwartet wird: newest oder oldest";
    assert_eq!(of("/courses/3?full=1&order=best"), order);
    let places = "places: \"77\" passt nicht. Erwartet wird: eine ganze Zahl von 1 bis 9";
    assert_eq!(of("/courses/3?full=1&places=77"), places);
    let key = "key: Dieser Wert passt nicht. Erwartet wird: a password of 8 to 64 characters";
    assert_eq!(of("/courses/3?full=1&key=short"), key);

    let json =
        |body: &str| told(client.request(skep::Method::POST, "/courses").body("application/json", body.to_owned()));
    let at = |pointer: &str, text: &str| (format!("{}: {text}", &pointer[1..]), pointer.to_owned());
    assert_eq!(json(r#"{"title": "#), ("Der Inhalt ist kein JSON (Zeile 1, Spalte 10)".to_owned(), String::new()));
    assert_eq!(json(r#"{"title":"Bees"}"#), ("Das Feld „places“ fehlt.".to_owned(), "#".to_owned()));
    assert_eq!(json(r#"{"title":"","places":3}"#), at("#/title", "Bitte ausfüllen."));
    assert_eq!(json(r#"{"title":"Bees","places":10}"#), at("#/places", "Das ist zu viel: höchstens 9."));
    let (secret, _) = json(r#"{"title":"Bees","places":3,"key":123456789}"#);
    assert!(secret.contains("expected a string") && !secret.contains("123456789"), "{secret}");
    let (long, _) = json(&format!(r#"{{"title":"Bees","places":"{}"}}"#, "ü".repeat(5_000)));
    assert!((200..400).contains(&long.len()), "{long}");
}

#[test]
fn the_page_of_an_error_is_in_the_readers_language_and_the_log_in_english() {
    let client = Client::new(App::new().serve(services![Courses]).languages_of::<Language>());
    let page = |language: &str| {
        let request = client.request(skep::Method::GET, "/courses/3?full=perhaps").header("accept", "text/html");
        request.header("accept-language", language).send().text().to_owned()
    };
    assert!(page("de").contains("passt nicht. Erwartet wird: true oder false"), "{}", page("de"));
    assert!(page("en").contains("is not true or false"), "{}", page("en"));
}
