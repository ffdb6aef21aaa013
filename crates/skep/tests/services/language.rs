//! The language that a user chose, instead of the one that the browser asks for.

use std::time::Duration;

use skep::Method;
use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::error_page::Failure;
use skep::form::{Messages, Text};
use skep::html::Document;
use skep::layer::Next;
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
