//! What a service promises, seen from the outside: matching, parameters, answers, failures.

use skep::prelude::*;
use skep::test::Client;
use skep::{Method, header};

#[derive(Service)]
#[service(GET "/")]
struct Index {
    tag: Option<String>,
    #[query(default = 1)]
    page: u32,
}

impl Handle for Index {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("index {:?} {}", self.tag, self.page)))
    }
}

#[derive(Service)]
#[service(GET "/")]
struct Search {
    q: String,
}

impl Handle for Search {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("search {}", self.q)))
    }
}

#[derive(Service)]
#[service(GET "/writings/{page}")]
struct Article {
    page: Slug,
}

impl Handle for Article {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.set_cookie(&Cookie::new("seen", self.page.to_string()));
        Ok(Response::text(format!("article {}, before: {:?}", self.page, cx.cookie("seen"))))
    }
}

#[derive(Service)]
#[service(POST "/writings/{page}/comments", body = 100)]
struct Comment {
    page: Slug,
    #[form]
    author: String,
    #[form]
    tags: Vec<String>,
}

impl Handle for Comment {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.set_cookie(&Cookie::new("tags", self.tags.join("+")));
        if self.author == "nobody" {
            return Err(Error::forbidden("nobody may not write"));
        }
        Ok(Response::see_other(Article { page: self.page }))
    }
}

#[derive(Service)]
#[service(GET "/files/{*path}")]
struct File {
    path: String,
}

impl Handle for File {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.path))
    }
}

#[derive(serde::Deserialize, serde::Serialize)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Service)]
#[service(PUT "/points/{id}")]
struct Store {
    id: u32,
    #[json]
    point: Point,
    #[header("x-unit")]
    unit: Option<String>,
}

impl Handle for Store {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Response::json(&(self.id, self.point.x + self.point.y, self.unit))
    }
}

#[derive(Service)]
#[service(GET "/panic")]
struct Panics;

impl Handle for Panics {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let empty: Vec<u8> = Vec::new();
        let position = std::hint::black_box(42);
        Ok(Response::text(empty[position].to_string()))
    }
}

#[derive(Service)]
#[service(GET "/fails")]
struct Fails;

impl Handle for Fails {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Err(std::io::Error::other("the secret is 42").into())
    }
}

#[derive(Service)]
#[service(POST "/hook", body = 10, cross_origin = "the payment provider calls it")]
struct Hook;

impl Handle for Hook {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let body = cx.read_body().await?;
        Ok(Response::text(body.to_vec()))
    }
}

fn client() -> Client {
    const ALL: skep::Services = services![Index, Search, Article, Comment, File, Store, Panics, Fails, Hook];
    Client::new(App::new().serve(ALL))
}

#[test]
fn fields_are_read_from_path_and_query() {
    let client = client();
    assert_eq!(client.get("/").text(), "index None 1");
    assert_eq!(client.get("/?page=2&tag=a+b&utm_source=x").text(), "index Some(\"a b\") 2");
    assert_eq!(client.get("/?q=bees").text(), "search bees");
    assert_eq!(client.get("/files/a/b%20c/d").text(), "a/b c/d");
    let wrong = client.get("/?page=x");
    assert_eq!(wrong.status(), 400);
    assert!(wrong.text().contains("page"), "{}", wrong.text());
}

#[test]
fn a_path_that_does_not_parse_is_no_page() {
    let client = client();
    assert_eq!(client.get("/writings/NOT%20A%20SLUG").status(), 404);
    assert_eq!(client.get("/writings/%ff").status(), 400);
    assert_eq!(client.get("/nowhere").status(), 404);
}

#[test]
fn a_link_leads_back_to_its_value() {
    assert_eq!(Index { tag: None, page: 1 }.url(), "/");
    assert_eq!(Index { tag: Some("a&b".into()), page: 2 }.url(), "/?tag=a%26b&page=2");
    assert_eq!(File { path: "a/b c/?".into() }.url(), "/files/a/b%20c/%3F");
    let client = client();
    assert_eq!(client.get(&Index { tag: Some("é & +".into()), page: 3 }.url()).text(), "index Some(\"é & +\") 3");
}

#[test]
fn a_form_leads_to_its_service_and_a_redirect_back() {
    let client = client();
    let action = "/writings/a-day/comments";
    let answer = client.post(action, &[("author", "Ann"), ("tags", "a"), ("tags", "b")]);
    assert_eq!(answer.url(), "/writings/a-day");
    assert_eq!(client.cookie("tags").as_deref(), Some("a+b"));
    assert_eq!(answer.text(), "article a-day, before: None");
    assert_eq!(client.get("/writings/a-day").text(), "article a-day, before: Some(\"a-day\")");
    let missing = client.post(action, &[]);
    assert_eq!(missing.status(), 422);
    assert!(missing.text().contains("author: Please fill this in."), "{}", missing.text());
}

#[test]
fn a_body_over_its_limit_or_of_another_type_is_refused() {
    let client = client();
    let long = "x".repeat(200);
    assert_eq!(client.post("/writings/a/comments", &[("author", &long)]).status(), 413);
    let json = client.request(Method::POST, "/writings/a/comments").json(&1).send();
    assert_eq!(json.status(), 415);
    assert_eq!(client.request(Method::POST, "/hook").body("text/plain", "12345678901").send().status(), 413);
}

#[test]
fn json_and_header_fields() {
    let client = client();
    let answer = client.request(Method::PUT, "/points/7").header("x-unit", "mm").json(&Point { x: 1, y: 2 }).send();
    assert_eq!(answer.text(), "[7,3,\"mm\"]");
    let wrong = client.request(Method::PUT, "/points/7").body("application/json", "{\"x\":1}").send();
    assert_eq!(wrong.status(), 422);
    assert!(wrong.text().contains("missing field `y`"), "{}", wrong.text());
    assert_eq!(client.request(Method::PUT, "/points/7").body("application/json", "{\"x\":").send().status(), 400);
    assert_eq!(client.request(Method::PUT, "/points/-1").json(&1).send().status(), 404);
}

#[test]
fn head_and_options_come_with_get() {
    let client = client();
    let head = client.request(Method::HEAD, "/").send();
    assert_eq!((head.status().as_u16(), head.header("content-length"), head.body().len()), (200, Some("12"), 0));
    let options = client.request(Method::OPTIONS, "/").send();
    assert_eq!((options.status().as_u16(), options.header("allow")), (204, Some("GET, HEAD, OPTIONS")));
    let wrong = client.request(Method::DELETE, "/").send();
    assert_eq!((wrong.status().as_u16(), wrong.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    assert_eq!(client.get("/hook").status(), 405);
}

#[test]
fn a_page_has_one_address() {
    let client = client();
    let answer = client.request(Method::GET, "/writings/a/?x=1").without_redirects().send();
    assert_eq!((answer.status().as_u16(), answer.header("location")), (308, Some("/writings/a?x=1")));
    for out in ["//evil.example/..", "//evil.example/", "///", "/\\evil.example/"] {
        let answer = client.request(Method::GET, &format!("http://localhost{out}")).without_redirects().send();
        assert_eq!(answer.status(), 404, "{out}");
    }
}

#[test]
fn a_panic_or_failure_costs_its_request_and_tells_no_insides() {
    let client = client();
    for path in ["/panic", "/fails"] {
        let answer = client.get(path);
        assert_eq!(answer.status(), 500);
        // Not the number alone: the id may have it, too.
        for inside in ["index", "secret", "contract.rs"] {
            assert!(!answer.text().contains(inside), "{}", answer.text());
        }
    }
    assert_eq!(client.get("/").status(), 200);
}

#[test]
fn in_development_the_page_shows_all() {
    let mut setup = skep::Setup::default();
    setup.development = true;
    let client = Client::with_setup(App::new().serve(services![Panics, Fails]), setup).at_address("127.0.0.1");
    let text = client.get("/panic").text().to_owned();
    assert!(text.contains("index is 42") && text.contains("contract.rs"), "{text}");
    assert!(client.get("/fails").text().contains("the secret is 42"));
}

#[test]
fn the_error_page_is_json_for_who_wants_it() {
    let client = client();
    let answer = client.request(Method::GET, "/nowhere").header("accept", "application/json").send();
    let json: serde_json::Value = serde_json::from_str(answer.text()).unwrap();
    assert_eq!((json["status"].as_u64(), json["title"].as_str()), (Some(404), Some("Not Found")));
    assert_eq!(json["id"].as_str().map(str::len), Some(16));
    assert!(client.get("/nowhere").header("content-type").unwrap().starts_with("text/html"));
}

#[test]
fn an_error_page_that_panics_gives_way_to_ours() {
    let app = App::new().error_page(|_| panic!("on purpose"));
    let answer = Client::new(app).get("/nowhere");
    assert_eq!(answer.status(), 404);
    assert!(answer.text().contains("There is no page at this address."), "{}", answer.text());
}

#[test]
fn another_site_cannot_send_our_forms() {
    let client = client();
    let forged = |path: &str| {
        client.request(Method::POST, path).header("sec-fetch-site", "cross-site").form(&[("author", "Evelyn")]).send()
    };
    assert_eq!(forged("/writings/a/comments").status(), 403);
    assert_eq!(forged("/hook").status(), 413, "it is open to others, and this body is too long for it");
}

#[test]
fn the_answers_own_header_fields_win() {
    #[derive(Service)]
    #[service(GET "/")]
    struct Both;
    impl Handle for Both {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            cx.set_header(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
            cx.set_header(header::CONTENT_TYPE, header::HeaderValue::from_static("text/html"));
            cx.set_cookie(&Cookie::new("a", "1"));
            cx.set_cookie(&Cookie::new("b", "2"));
            Ok(Response::text("x"))
        }
    }
    let client = Client::new(App::new().serve(services![Both]));
    let answer = client.get("/");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!((client.cookie("a"), client.cookie("b")), (Some("1".into()), Some("2".into())));
}

#[test]
fn what_is_wrong_is_named_at_the_start() {
    #[derive(Service)]
    #[service(GET "/")]
    struct Other;
    impl Handle for Other {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text(""))
        }
    }
    let app = App::new().serve(services![Index]).serve(services![Other]).state(1u8).state(2u8);
    let error = app.open(skep::Setup::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("Index (GET /) and Other (GET /) cannot be distinguished"), "{text}");
    assert!(text.contains("two values of type `u8`"), "{text}");
}

/// A server allocates and copies it for each request, and has as many as there are requests in progress. What few
/// requests need is boxed.
#[test]
fn the_future_of_a_request_is_small() {
    let mut setup = skep::Setup::default();
    setup.temporary_database = true;
    let site = std::sync::Arc::new(App::new().serve(services![Index]).open(setup).unwrap());
    let (parts, ()) = http::Request::get("/").body(()).unwrap().into_parts();
    let future = site.local().answer(skep::Request::new(parts, skep::Body::empty()));
    let bytes = size_of_val(&future);
    assert!(bytes <= 2 << 10, "{bytes} bytes");
}
