//! The bee school without a socket: who reads what, in which language, and what caches keep.

use languages::course::{Course, Courses, Enrol, Free};
use languages::{ChooseLanguage, Index, Language, app};
use skep::Method;
use skep::prelude::*;
use skep::test::{Client, TestResponse};
use skep_language::Languages;

fn get(client: &Client, path: &str, accept: &str) -> TestResponse {
    client.request(Method::GET, path).header("accept-language", accept).send()
}

#[test]
fn a_visitor_is_led_to_pages_in_their_language_and_links_stay_in_it() {
    let client = Client::new(app());
    for (accept, to) in [("de-AT, en;q=0.5", "/de/courses"), ("ar-EG", "/ar/courses"), ("fr", "/en/courses")] {
        assert!(get(&client, "/", accept).url().ends_with(to), "{accept}");
    }
    // The browser asks for English, the address is German.
    let page = get(&client, &Courses { language: Language::De }.url(), "en");
    for text in [
        "<html lang=\"de\" dir=\"ltr\">",
        "Willkommen in der Imkerschule",
        "Es gibt 2 Kurse.",
        "href=\"/de/courses/0\">Swarms, ein freier Platz<",
        "hreflang=\"ar\" href=\"http://localhost/ar/courses\"",
        "hreflang=\"x-default\" href=\"http://localhost/en/courses\"",
    ] {
        assert!(page.text().contains(text), "{text}: {}", page.text());
    }
    assert_eq!(page.header("vary"), None, "the address says all");
}

#[test]
fn arabic_is_written_from_right_to_left_with_its_own_plurals_and_digits() {
    let page = get(&Client::new(app()), &Courses { language: Language::Ar }.url(), "en");
    assert!(
        page.text().contains("<html lang=\"ar\" dir=\"rtl\">") && page.text().contains("توجد دورتان."),
        "{}",
        page.text()
    );
    // A name in Latin letters does not disturb the order of the sentence.
    assert!(page.text().contains("\u{2068}Swarms\u{2069}، مكان شاغر واحد"), "{}", page.text());
}

#[test]
fn labels_choices_and_messages_of_forms_are_translated_and_escaped() {
    let client = Client::new(app());
    let refused =
        client.get(&Course { language: Language::De, number: 1 }.url()).form::<Enrol>().set(Enrol::name, "").submit();
    assert_eq!(refused.status(), 422);
    for text in ["Hier fehlt noch etwas.", ">Anfänger</option>", "placeholder=\"Dieser Name steht auf Ihrer Urkunde.\""]
    {
        assert!(refused.text().contains(text), "{text}: {}", refused.text());
    }
    let enrolled = client.get(&Course { language: Language::De, number: 0 }.url()).form::<Enrol>();
    let enrolled = enrolled.set(Enrol::name, "Ann").set(Enrol::level, "beginner").submit();
    assert!(enrolled.text().contains("Sie sind dabei, Ann."), "{}", enrolled.text());
    let full = refused.form::<Enrol>().set(Enrol::name, "<b>Ann</b>").set(Enrol::level, "keeper").submit();
    assert!(full.text().contains("Honey ist voll, &lt;b&gt;Ann&lt;/b&gt;."), "{}", full.text());
}

#[test]
fn a_chosen_language_is_kept_and_comes_before_what_the_browser_asks_for() {
    let client = Client::new(app());
    let page = client.get(&Courses { language: Language::En }.url());
    let chosen = page.form::<ChooseLanguage>().set(ChooseLanguage::language, "ar").submit();
    assert!(chosen.url().ends_with("/ar/courses"), "{}", chosen.url());
    assert!(get(&client, &Index.url(), "de").url().ends_with("/ar/courses"));
}

#[test]
fn error_pages_and_problem_documents_are_in_the_language_of_the_address() {
    let client = Client::new(app());
    let page = get(&client, "/de/nowhere", "en");
    assert!(
        page.text().contains("<h1>Nicht gefunden</h1><p>Unter dieser Adresse gibt es keine Seite.</p>"),
        "{}",
        page.text()
    );
    let problem = client.request(Method::GET, "/ar/nowhere").header("accept", "application/json").send();
    let problem: serde_json::Value = serde_json::from_str(problem.text()).unwrap();
    assert_eq!(problem["title"], "غير موجود");
}

#[test]
fn a_cached_page_is_shown_to_nobody_in_the_language_of_another() {
    let client = Client::new(app());
    for _ in 0..2 {
        for (accept, text) in [("de", "Honey, 0 freie Plätze"), ("en", "Honey, 0 free places"), ("ar", "لا أماكن شاغرة")]
        {
            let page = get(&client, &Free.url(), accept);
            assert!(page.text().contains(text), "{accept}: {}", page.text());
            assert_eq!(page.header("vary"), Some("accept-language, cookie"));
        }
        let chosen =
            client.request(Method::GET, &Free.url()).header("cookie", "language=de").header("accept-language", "en");
        let chosen = chosen.send();
        assert!(chosen.text().contains("freie Plätze"), "{}", chosen.text());
        assert_eq!(chosen.header("cache-control"), Some("private, no-cache"));
    }
}

#[test]
fn every_text_is_there_in_every_language() {
    assert_eq!(Language::TAGS, ["en", "ar", "de"]);
    assert_eq!(Language::all().map(Languages::direction).collect::<Vec<_>>(), ["ltr", "rtl", "ltr"]);
}
