//! The Rust of the article `testing-without-a-socket`.

use skep::Method;
use skep::prelude::*;

#[derive(Service)]
#[service(GET "/")]
struct Door;

impl Handle for Door {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("Ida lives here"))
    }
}

#[derive(Service)]
#[service(GET "/book")]
struct Book;

impl Handle for Book {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let signed = cx.cookie("signed").unwrap_or("nobody").to_owned();
        Ok(Response::html(html! { p { "Jo & Sam" } p { (signed) } }))
    }
}

#[derive(Service)]
#[service(POST "/book")]
struct Sign {
    #[form]
    name: String,
    #[form]
    text: String,
}

impl Handle for Sign {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.set_cookie(&Cookie::new("signed", "yes"));
        Ok(Response::see_other(Book))
    }
}

#[derive(Service)]
#[service(GET "/old-book")]
struct OldBook;

impl Handle for OldBook {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::permanent_redirect(Book))
    }
}

#[derive(Service)]
#[service(GET "/entries/{number}")]
struct Entry {
    number: u32,
}

impl Handle for Entry {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.number.to_string()))
    }
}

#[derive(Service)]
#[service(GET "/broken")]
struct Broken;

impl Handle for Broken {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Err(Error::internal("no such table: visitor"))
    }
}

fn app() -> App {
    App::new().serve(services![Door, Book, Sign, OldBook, Entry, Broken])
}

use skep::test::Client;

#[test]
fn the_door_says_who_lives_here() {
    let client = Client::new(app());
    let answer = client.get("/");
    assert_eq!(answer.status(), 200);
    assert!(answer.text().contains("Ida"));
}

#[test]
fn a_visitor_signs_the_book() {
    let client = Client::new(app());
    let answer = client.post("/book", &[("name", "Jo & Sam"), ("text", "We liked the garden.")]);
    assert_eq!(answer.url(), "/book");
    assert!(answer.text().contains("Jo &amp; Sam"));
    assert_eq!(client.cookie("signed").as_deref(), Some("yes"));
}

#[test]
fn redirects_and_links() {
    let client = Client::new(app());
let answer = client.request(Method::GET, "/old-book").without_redirects().send();
assert_eq!(answer.status(), 308);
assert_eq!(answer.header("location"), Some("/book"));
let page = client.get(&Entry { number: 1 }.url());
assert_eq!(page.text(), "1");
}

#[test]
fn in_development_the_cause_is_shown() {
let mut setup = skep::Setup::default();
setup.development = true;
let client = Client::with_setup(app(), setup).at_address("127.0.0.1");
assert!(client.get("/broken").text().contains("no such table"));
}
