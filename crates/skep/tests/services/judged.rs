//! What is judged before and beside the handler: where a request comes from, its JSON, its language, its errors.

use std::collections::HashMap;

use skep::form::Messages;
use skep::mount::{Mount, Mounted, ResponseFuture};
use skep::prelude::*;
use skep::status::{Part, Value};
use skep::test::{Client, TestResponse};
use skep::{Method, StatusCode};

#[derive(Service)]
#[service(GET "/")]
struct Language;

impl Handle for Language {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.language()))
    }
}

#[derive(Service)]
#[service(POST "/")]
struct Change;

impl Handle for Change {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("changed"))
    }
}

#[derive(Service)]
#[service(DELETE "/")]
struct Delete;

impl Handle for Delete {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("deleted"))
    }
}

#[derive(Service)]
#[service(PUT "/numbers")]
struct Numbers {
    #[json]
    numbers: HashMap<String, Vec<u8>>,
}

impl Handle for Numbers {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.numbers.len().to_string()))
    }
}

fn app() -> App {
    App::new().serve(services![Language, Change, Delete, Numbers]).trust_origin("https://partner.example")
}

fn allowed(method: Method, fields: &[(&str, &str)]) -> bool {
    let client = Client::new(app()).without_fetch_metadata();
    let request = client.request(method, "/").header("host", "example.org");
    let answer = fields.iter().fold(request, |request, (name, value)| request.header(name, value)).send();
    assert!([StatusCode::OK, StatusCode::FORBIDDEN].contains(&answer.status()), "{}", answer.status());
    answer.status() == StatusCode::OK
}

#[test]
fn only_the_site_itself_may_change_something() {
    assert!(allowed(Method::POST, &[("sec-fetch-site", "same-origin")]));
    assert!(allowed(Method::POST, &[("sec-fetch-site", "none")]));
    assert!(!allowed(Method::POST, &[("sec-fetch-site", "same-site")]));
    assert!(!allowed(Method::DELETE, &[("sec-fetch-site", "cross-site"), ("origin", "http://evil.example")]));
    assert!(allowed(Method::POST, &[("origin", "http://example.org")]));
    assert!(!allowed(Method::POST, &[("origin", "http://example.org:81")]));
    assert!(!allowed(Method::POST, &[("origin", "null")]));
    assert!(!allowed(Method::POST, &[("origin", "\u{e9}")]));
}

#[test]
fn where_the_base_url_has_tls_a_page_without_is_another_site() {
    let client = Client::new(app().base_url("https://example.org")).without_fetch_metadata();
    for (host, origin, status) in [
        ("example.org", "https://example.org", 200),
        ("example.org", "http://example.org", 403),
        // The same server by another name, perhaps that of a developer's machine.
        ("localhost:8800", "http://localhost:8800", 200),
    ] {
        let answer = client.request(Method::POST, "/").header("host", host).header("origin", origin).send();
        assert_eq!(answer.status(), status, "{origin} at {host}");
    }
}

#[test]
fn reading_and_what_is_no_browser_pass() {
    assert!(allowed(Method::GET, &[("sec-fetch-site", "cross-site")]));
    assert!(allowed(Method::POST, &[]));
    assert!(!allowed(Method::POST, &[("cookie", "a=b")]), "only a token can tell");
}

#[test]
fn a_trusted_origin_passes() {
    assert!(allowed(Method::POST, &[("sec-fetch-site", "cross-site"), ("origin", "https://partner.example")]));
}

fn put(body: &str) -> (TestResponse, serde_json::Value) {
    let client = Client::new(app());
    let request = client.request(Method::PUT, "/numbers").header("accept", "application/json");
    let answer = request.body("application/json", body.to_owned()).send();
    let problem = serde_json::from_str(answer.text()).expect("it is JSON");
    (answer, problem)
}

#[test]
fn what_is_no_json_is_not_understood() {
    let (answer, problem) = put("{\"a\":[1,");
    assert_eq!((answer.status().as_u16(), &problem["errors"]), (400, &serde_json::Value::Null));
    assert_eq!(problem["detail"], "the body is not JSON: EOF while parsing a value at line 1 column 8");
    for body in ["{} 2", ""] {
        assert_eq!(put(body).0.status(), 400, "{body:?}");
    }
}

#[test]
fn a_wrong_value_is_named_by_its_pointer() {
    for (body, detail, pointer) in [
        (r#"{"a/b":[1,300]}"#, "/a~1b/1: invalid value: integer `300`, expected u8", "#/a~1b/1"),
        (r#"{"first name":[300]}"#, "/first name/0: invalid value: integer `300`, expected u8", "#/first%20name/0"),
        ("7", "invalid type: integer `7`, expected a map", "#"),
    ] {
        let (answer, problem) = put(body);
        assert_eq!((answer.status().as_u16(), problem["detail"].as_str()), (422, Some(detail)));
        assert_eq!(problem["errors"][0]["pointer"], pointer);
    }
}

#[test]
fn the_language_is_the_one_liked_best() {
    const GERMAN: Messages = Messages { language: "de", ..Messages::ENGLISH };
    const BRAZILIAN: Messages = Messages { language: "pt-BR", ..Messages::ENGLISH };
    let client = Client::new(app().languages([Messages::ENGLISH, GERMAN, BRAZILIAN]));
    for (accept, expected) in [
        ("de", "de"),
        ("de-AT, en;q=0.5", "de"),
        ("pt, de;q=0.9", "pt-BR"),
        ("fr, de;q=0.3, en;q=0.2", "de"),
        ("en;q=0.2, de;q=0.3", "de"),
        ("de;q=0, *", "en"),
        ("fr", "en"),
        (",;q=x, -, ", "en"),
    ] {
        let answer = client.request(Method::GET, "/").header("accept-language", accept).send();
        assert_eq!(answer.text(), expected, "{accept}");
    }
    assert_eq!(Client::new(app().languages([GERMAN])).get("/").text(), "de");
    assert_eq!(Client::new(app()).get("/").text(), "en");
}

#[test]
fn any_error_is_a_500_whose_text_stays_inside() {
    let error: Error = std::io::Error::other("secret path").into();
    assert_eq!(error.status(), 500);
    assert_eq!(error.message(), None);
    assert_eq!(error.to_string(), "500 Internal Server Error: secret path");
    assert!(error.is_ours());
    assert!(!Error::new(StatusCode::HTTP_VERSION_NOT_SUPPORTED).is_ours());
}

struct Echo;

impl Mount for Echo {
    fn answer(&self, request: Mounted) -> ResponseFuture {
        Box::pin(async move { Ok(Response::text(request.parts.uri.path().to_owned())) })
    }
}

#[test]
fn a_prefix_holds_itself_and_what_is_below() {
    for (prefix, line, inside, outside) in [
        ("/app/", "/app/{*path}", &["/app", "/app/", "/app/a"][..], &["/apple", "/a/app", "/"][..]),
        ("/", "/{*path}", &["/", "/a"], &["*"]),
    ] {
        let app = App::new().mount(prefix, Echo);
        assert!(app.routes().iter().any(|route| route.path == line), "{prefix}");
        let client = Client::new(app);
        let answered = |path: &&str| client.get(path).text() == *path;
        assert!(inside.iter().all(answered) && !outside.iter().any(answered), "{prefix}");
    }
}

#[derive(Service)]
#[service(GET "/cookies/{name}")]
struct Crumb {
    name: String,
}

impl Handle for Crumb {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let value = format!("{:?}", cx.cookie(&self.name));
        cx.set_cookie(&Cookie::new("a", "b"));
        Ok(Response::text(value))
    }
}

#[test]
fn the_defaults_of_a_cookie_are_the_safe_ones() {
    let client = Client::new(App::new().serve(services![Crumb]).base_url("https://example.org"));
    let expected = "a=b; Path=/; SameSite=Lax; HttpOnly; Secure";
    assert_eq!(client.get("/cookies/a").header("set-cookie"), Some(expected));
}

#[test]
fn a_cookie_is_found_among_others_and_one_that_is_no_text_hides_none() {
    for (name, expected) in [
        ("a", "Some(\"2\")"),
        ("c", "Some(\"4\")"),
        ("d", "None"),
        ("theme", "None"),
        ("e", "Some(\"5\")"),
        ("f", "None"),
    ] {
        let client = Client::new(App::new().serve(services![Crumb]));
        let request = client.request(Method::GET, &format!("/cookies/{name}")).header("cookie", "aa=1; a=\"2\";b=3");
        let request = request.header("cookie", "c=4").header("cookie", "theme=d\u{fc}nkel; e=5; f=\u{e9}");
        assert_eq!(request.send().text(), expected, "{name}");
    }
}

#[test]
#[should_panic(expected = "cannot hold the value")]
fn a_cookie_cannot_smuggle_attributes() {
    let _ = Cookie::new("a", "b; Domain=evil");
}

#[test]
fn who_panics_over_its_status_harms_nobody_elses() {
    let app = App::new()
        .on_status(|_| panic!("no orders"))
        .on_status(|_| vec![Part::new("mails").value("sent", true).line("all are sent\nsince noon")]);
    let mut setup = skep::Setup::default();
    setup.temporary_database = true;
    let parts = app.open(setup).unwrap().status();
    assert!(parts[0].to_string().starts_with("status\n  cannot be told: "), "{}", parts[0]);
    assert!(parts[0].to_string().contains("no orders"), "{}", parts[0]);
    assert_eq!(parts[1].to_string(), "mails\n  all are sent\n  since noon\n");
    assert_eq!(parts[1].values().next(), Some(("sent", &Value::Truth(true))));
}
