//! Cross-Origin Resource Sharing: the rules of Fetch (3.3.3 to 3.3.6, 4.8 to 4.10), as a browser checks them.

use skep::cors::Cors;
use skep::mount::{Mount, Mounted, ResponseFuture};
use skep::prelude::*;
use skep::test::{Client, TestResponse};
use skep::{HeaderName, Method, header};

#[derive(Service)]
#[service(GET "/api/hives/{id}")]
struct Show {
    id: u32,
}

impl Handle for Show {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        if self.id == 0 { Err(Error::not_found()) } else { Ok(Response::text("a hive")) }
    }
}

#[derive(Service)]
#[service(PATCH "/api/hives/{id}")]
struct Change {
    id: u32,
}

impl Handle for Change {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("changed {}", self.id))
            .with_header(header::VARY, skep::HeaderValue::from_static("accept")))
    }
}

#[derive(Service)]
#[service(POST "/form")]
struct Send;

impl Handle for Send {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("sent"))
    }
}

struct Echo;

impl Mount for Echo {
    fn answer(&self, _request: Mounted) -> ResponseFuture {
        Box::pin(async { Ok(Response::text("mounted")) })
    }
}

const APP: &str = "https://app.example";
const TOKEN: HeaderName = HeaderName::from_static("x-token");

fn client<O>(prefix: &str, cors: Cors<O>) -> Client {
    Client::new(App::new().serve(services![Show, Change, Send]).mount("/api/other", Echo).cors(prefix, cors))
}

fn listed() -> Cors {
    Cors::origins([APP, "http://localhost:5173"])
}

fn from(client: &Client, origin: &str, method: Method, url: &str) -> TestResponse {
    client.request(method, url).header("origin", origin).header("sec-fetch-site", "cross-site").send()
}

fn preflight(client: &Client, origin: &str, url: &str) -> TestResponse {
    let request = client.request(Method::OPTIONS, url).header("origin", origin);
    request.header("access-control-request-method", "PATCH").header("sec-fetch-site", "cross-site").send()
}

fn allowed(response: &TestResponse) -> Option<&str> {
    response.header("access-control-allow-origin")
}

fn no_fields(response: &TestResponse) -> bool {
    !response.headers().keys().any(|name| name.as_str().starts_with("access-control-"))
}

#[test]
fn without_cors_no_other_origin_gets_a_header_field() {
    let client = Client::new(App::new().serve(services![Show, Change]));
    let response = from(&client, APP, Method::GET, "/api/hives/1");
    assert!(no_fields(&response) && response.header("vary").is_none_or(|vary| !vary.contains("origin")));
    let response = preflight(&client, APP, "/api/hives/1");
    assert!(no_fields(&response));
    assert_eq!((response.status().as_u16(), response.header("allow")), (204, Some("GET, HEAD, OPTIONS, PATCH")));
}

#[test]
fn a_listed_origin_reads_responses_errors_included() {
    let client = client("/api", listed().expose([header::ETAG, TOKEN]));
    for (url, status) in [("/api/hives/1", 200), ("/api/hives/0", 404), ("/api/nothing", 404), ("/api/other/x", 200)] {
        let response = from(&client, APP, Method::GET, url);
        assert_eq!((response.status().as_u16(), allowed(&response)), (status, Some(APP)), "{url}");
        assert_eq!(response.header("access-control-expose-headers"), Some("etag, x-token"));
        assert_eq!(response.header("access-control-allow-credentials"), None);
    }
}

#[test]
fn an_origin_is_compared_as_a_whole_and_in_its_case() {
    let client = client("/api", listed());
    for origin in [
        "https://app.example.evil.example",
        "https://evil.example",
        "http://app.example",
        "https://app.example:8443",
        "https://sub.app.example",
        "https://App.example",
        "null",
        "https://app.example/",
        "",
    ] {
        let response = from(&client, origin, Method::GET, "/api/hives/1");
        assert!(no_fields(&response), "{origin:?}");
        let response = preflight(&client, origin, "/api/hives/1");
        assert!(no_fields(&response), "{origin:?}");
    }
}

#[test]
fn what_depends_on_the_origin_varies_by_it_for_everybody() {
    let client = client("/api", listed());
    assert_eq!(client.get("/api/hives/1").header("vary"), Some("origin"), "a cache may have this one for others");
    let vary: Vec<_> =
        from(&client, APP, Method::PATCH, "/api/hives/1").headers().get_all("vary").iter().cloned().collect();
    assert_eq!(vary, ["accept", "origin"]);
    let public = Client::new(App::new().serve(services![Show]).cors("/", Cors::any_origin()));
    let response = public.get("/api/hives/1");
    assert_eq!((allowed(&response), response.header("vary")), (Some("*"), None), "it is the same for all");
}

#[test]
fn a_preflight_says_which_methods_and_headers_are_allowed() {
    let client = client("/api", listed().headers([header::AUTHORIZATION]));
    let response = preflight(&client, APP, "/api/hives/1");
    assert_eq!((response.status().as_u16(), allowed(&response)), (204, Some(APP)));
    assert_eq!(response.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS, PATCH"));
    assert_eq!(response.header("access-control-allow-headers"), Some("content-type, authorization"));
    assert_eq!(response.header("access-control-max-age"), Some("600"));
    let mounted = preflight(&client, APP, "/api/other/x");
    assert_eq!(mounted.header("access-control-allow-methods"), Some("GET, HEAD, POST, PUT, PATCH, DELETE"));
    assert_eq!(preflight(&client, APP, "/api/nothing").status(), 404, "only an ok status lets a browser go on");
    let plain = client.request(Method::OPTIONS, "/api/hives/1").header("origin", APP).send();
    assert_eq!(plain.header("access-control-allow-methods"), None, "not every OPTIONS is a preflight");
}

#[test]
fn only_what_is_below_the_prefix_is_shared_and_the_longest_prefix_counts() {
    let app = App::new().serve(services![Show, Change, Send]);
    let client = Client::new(app.cors("/api", Cors::any_origin()).cors("/api/hives/1", listed()));
    assert_eq!(allowed(&from(&client, APP, Method::GET, "/api/hives/2")), Some("*"));
    assert_eq!(allowed(&from(&client, APP, Method::GET, "/api/hives/1")), Some(APP));
    assert!(no_fields(&from(&client, APP, Method::POST, "/form")));
}

#[test]
fn a_listed_origin_may_send_what_other_origins_may_not() {
    let client = client("/", listed());
    let status = |origin, method, url| from(&client, origin, method, url).status().as_u16();
    assert_eq!(status(APP, Method::PATCH, "/api/hives/1"), 200);
    assert_eq!(status(APP, Method::POST, "/form"), 200);
    assert_eq!(status("https://evil.example", Method::POST, "/form"), 403);
    let request = client.request(Method::POST, "/form").header("origin", APP).header("sec-fetch-site", "cross-site");
    assert_eq!(request.header("cookie", "a=b").send().status(), 403, "credentials are not allowed");
}

#[test]
fn with_credentials_a_listed_origin_may_send_cookies() {
    let client = client("/", listed().credentials());
    let send = |origin: &str| {
        let request = client.request(Method::POST, "/form").header("origin", origin).header("cookie", "a=b");
        request.header("sec-fetch-site", "cross-site").send()
    };
    let response = send(APP);
    assert_eq!((response.status().as_u16(), allowed(&response)), (200, Some(APP)));
    assert_eq!(response.header("access-control-allow-credentials"), Some("true"));
    assert_eq!(preflight(&client, APP, "/form").header("access-control-allow-credentials"), Some("true"));
    let response = send("https://evil.example");
    assert!(response.status() == 403 && no_fields(&response));
}

#[test]
fn any_origin_may_send_what_has_no_cookies() {
    let client = client("/", Cors::any_origin());
    assert_eq!(from(&client, "null", Method::POST, "/form").status(), 200);
    let request = client.request(Method::POST, "/form").header("origin", APP).header("sec-fetch-site", "cross-site");
    assert_eq!(request.header("cookie", "a=b").send().status(), 403);
}

#[test]
fn what_is_no_origin_is_found_at_the_start() {
    for origin in [
        "app.example",
        "https://app.example/",
        "https://App.example",
        "*",
        "null",
        "https://*.example",
        "https://a.example:443",
    ] {
        let error = App::new()
            .serve(services![Show])
            .cors("/", Cors::origins([origin]))
            .open(skep::Setup::default())
            .unwrap_err();
        assert!(error.to_string().contains("is no origin"), "{error}");
    }
}
