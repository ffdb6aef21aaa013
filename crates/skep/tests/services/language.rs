//! The language that a user chose, instead of the one that the browser asks for.

use std::time::Duration;

use skep::Method;
use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::error_page::Failure;
use skep::form::{Messages, Text};
use skep::html::Document;
use skep::layer::Next;
use skep::link::Prefix;
use skep::prelude::*;
use skep::test::{Client, TestResponse};

const GERMAN: Messages = Messages { language: "de", missing: "Bitte ausfüllen.", ..Messages::ENGLISH };

#[derive(Clone, Copy, Param)]
enum Level {
    #[param(label(de = "Anfänger"))]
    Beginner,
    #[param(label = "Some years with bees")]
    Keeper,
}

#[derive(Service)]
#[service(GET "/course")]
struct Course;

#[derive(Service)]
#[service(POST "/course", page = Course)]
struct Register {
    #[form]
    name: Text<1, 80>,
    #[form]
    level: Level,
}

#[derive(Service)]
#[service(GET "/")]
struct Public;

impl Handle for Course {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            form (Register::form(cx)) {
                label (Register::name) { "Name" } input (Register::name);
                label (Register::level) { "Level" } select (Register::level);
                button { "Send" }
            }
        }))
    }
}

impl Handle for Register {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("{}: {}", self.name, self.level.label())))
    }
}

impl PublicPage for Public {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Ok(Response::text(cx.language()))
    }
}

async fn by_cookie(cx: &mut Cx<'_>, next: Next<'_>) -> Result {
    if let Some(language) = cx.cookie("language") {
        cx.set_language(language);
    }
    if cx.uri().query() == Some("fail") {
        return Err(Error::conflict("taken"));
    }
    next.run(cx).await
}

fn error_page(failure: &Failure) -> Html<Document> {
    let (language, message) = (failure.language(), failure.own_message().unwrap_or("nothing"));
    html! { (DOCTYPE) html lang=(language) { head { title { (message) } } body {} } }
}

fn client() -> Client {
    let app = App::new().serve(services![Course, Register, Public]).languages([Messages::ENGLISH, GERMAN]);
    Client::new(app.wrap(by_cookie).error_page(error_page))
}

/// By somebody whose browser asks for English, and who chose a language.
fn ask(client: &Client, method: Method, path: &str, chosen: &str) -> TestResponse {
    let request = client.request(method, path).header("accept-language", "en");
    request.header("cookie", &format!("language={chosen}")).form(&[]).send()
}

#[test]
fn messages_and_choices_are_in_the_language_that_was_chosen() {
    let client = client();
    let refused = ask(&client, Method::POST, "/course", "de");
    let page = refused.text();
    assert!(page.contains("Bitte ausfüllen.") && page.contains(">Anfänger</option>"), "{page}");
    // Without a translation, the label is as it is.
    assert!(page.contains(">Some years with bees</option>"), "{page}");
    let page = ask(&client, Method::GET, "/course", "fr");
    assert!(page.text().contains(">Beginner</option>"), "{}", page.text());
}

#[test]
fn error_pages_know_the_language_and_what_the_application_said() {
    let page = ask(&client(), Method::GET, "/course?fail", "de");
    assert!(page.text().contains("<html lang=\"de\">") && page.text().contains("taken"), "{}", page.text());
    let page = ask(&client(), Method::GET, "/nowhere", "de");
    // No layer ran, and nobody chose.
    assert!(page.text().contains("<html lang=\"en\">") && page.text().contains("nothing"), "{}", page.text());
}

#[test]
fn a_page_in_a_chosen_language_is_kept_for_it_and_by_no_proxy() {
    let client = client();
    for _ in 0..2 {
        let german = ask(&client, Method::GET, "/", "de");
        assert_eq!((german.text(), german.header("cache-control")), ("de", Some("private, no-cache")));
        let english = client.request(Method::GET, "/").header("accept-language", "en").send();
        assert_eq!((english.text(), english.header("cache-control")), ("en", Some("public, no-cache")));
    }
}

/// In a language that its path may name.
#[derive(Service)]
#[service(GET "/{language}/about")]
struct About {
    language: String,
}

impl PublicPage for About {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Ok(Response::text(format!("{} {}", self.language, cx.language())))
    }
}

/// The user likes German.
#[derive(Service)]
#[service(GET "/mine")]
struct Mine;

impl Handle for Mine {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.prefer_language("de");
        Ok(Response::text(cx.language()))
    }
}

/// Asked for by everybody, and stored by a careless handler.
#[derive(Service)]
#[service(GET "/careless")]
struct Careless;

impl Handle for Careless {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.language()).with_header("cache-control".parse()?, "public, max-age=60".parse()?))
    }
}

/// Says part of what it depends on, and how long its user's browser may keep it.
#[derive(Service)]
#[service(GET "/kept")]
struct Kept;

impl Handle for Kept {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let response = Response::text(cx.language()).with_header("vary".parse()?, "Accept-Language".parse()?);
        Ok(response.with_header("cache-control".parse()?, "private, max-age=600".parse()?))
    }
}

fn with_all_sources() -> Client {
    const FRENCH: Messages = Messages { language: "fr", ..Messages::ENGLISH };
    let app = App::new().serve(services![About, Careless, Kept, Mine, Public]);
    let app = app.languages([Messages::ENGLISH, GERMAN, FRENCH]);
    Client::new(app.error_page(error_page).language_in_path(Prefix::NONE).language_cookie("language"))
}

fn get(client: &Client, path: &str, cookie: &str, accept: &str) -> TestResponse {
    let request = client.request(Method::GET, path).header("accept-language", accept);
    request.header("cookie", &format!("language={cookie}")).send()
}

#[test]
fn the_path_comes_before_the_cookie_the_cookie_before_the_user_and_the_user_before_the_browser() {
    let client = with_all_sources();
    for (path, cookie, accept, expected) in [
        ("/fr/about", "de", "en", "fr fr"),
        ("/xx/about", "de", "fr", "xx de"),
        ("/xx/about", "xx", "fr", "xx fr"),
        ("/FR/about", "", "de", "FR de"),
        ("/mine", "fr", "en", "fr"),
        ("/mine", "", "en", "de"),
        ("/", "", "de-AT", "de"),
    ] {
        assert_eq!(get(&client, path, cookie, accept).text(), expected, "{path} {cookie} {accept}");
    }
    let lost = get(&client, "/fr/nowhere", "de", "en");
    assert!(lost.text().contains("<html lang=\"fr\">"), "{}", lost.text());
}

#[test]
fn caches_know_what_the_language_of_a_page_was_taken_from() {
    let client = with_all_sources();
    let told = |path: &str, cookie: &str, accept: &str| {
        let page = get(&client, path, cookie, accept);
        let field = |name| page.header(name).map(str::to_owned);
        (page.text().to_owned(), field("cache-control"), field("vary"))
    };
    let (public, private) = (Some("public, no-cache".to_owned()), Some("private, no-cache".to_owned()));
    let vary = Some("accept-language, cookie".to_owned());
    for _ in 0..2 {
        assert_eq!(told("/de/about", "fr", "en"), ("de de".into(), public.clone(), None), "the address says it");
        assert_eq!(told("/", "", "de"), ("de".into(), public.clone(), vary.clone()));
        assert_eq!(told("/", "fr", "de").0, "fr");
        assert_eq!(told("/", "fr", "de").1, private);
    }
    assert_eq!(told("/careless", "", "de"), ("de".into(), Some("public, max-age=60".into()), vary));
    assert_eq!(told("/careless", "fr", "de"), ("fr".into(), private, Some("cookie".into())));
    for (cookie, expected) in [("", "de"), ("fr", "fr")] {
        let page = get(&client, "/kept", cookie, "de");
        let vary: Vec<_> = page.headers().get_all("vary").iter().collect();
        assert_eq!((page.text(), page.header("cache-control")), (expected, Some("private, max-age=600")));
        assert_eq!(vary, ["Accept-Language", "cookie"], "what the handler says, and what it does not");
    }
}

#[test]
fn error_pages_and_problem_documents_of_the_framework_are_translated() {
    const GERMAN: Messages = Messages {
        error: |status| match status {
            404 => ("Nicht gefunden".into(), "Unter dieser Adresse gibt es keine Seite.".into()),
            _ => ("Fehler".into(), "Es ging nicht.".into()),
        },
        to_first_page: "Zur ersten Seite",
        ..GERMAN_FORMS
    };
    const GERMAN_FORMS: Messages = self::GERMAN;
    let client = Client::new(App::new().languages([Messages::ENGLISH, GERMAN]));
    let get = |accept| client.request(Method::GET, "/nowhere").header("accept-language", "de").header("accept", accept);
    let page = get("text/html").send();
    for text in ["<html lang=\"de\" dir=\"auto\">", "<h1>Nicht gefunden</h1>", "keine Seite.", ">Zur ersten Seite<"] {
        assert!(page.text().contains(text), "{text}: {}", page.text());
    }
    let problem: serde_json::Value = serde_json::from_str(get("application/json").send().text()).unwrap();
    let texts = (problem["title"].as_str(), problem["detail"].as_str());
    assert_eq!(texts, (Some("Nicht gefunden"), Some("Unter dieser Adresse gibt es keine Seite.")));
}
