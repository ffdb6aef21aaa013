//! The header fields that tell browsers what a page may do.
#![cfg(not(target_family = "wasm"))]

use std::convert::Infallible;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use skep::cache::{EntryPolicy, Fragment, PublicPage, SharedCx};
use skep::html::Metadata;
use skep::prelude::*;
use skep::test::{Client, TestResponse};
use skep::{Method, SecurityHeaders};

macro_rules! pages {
    ($($name:ident $path:literal),*) => { $(
        #[derive(Service)]
        #[service(GET $path)]
        struct $name;
    )* };
}

pages!(Plain "/plain", Scripted "/scripted", InFragment "/fragment", Cached "/cached", Streamed "/streamed", Own "/own", Data "/data");

fn script() -> Html<Metadata> {
    html! { script { "go()" } style { "p { color: red }" } script src="/local.js" {} script src="https://cdn.example/x.js" {} }
}

impl Handle for Plain {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { p { "plain" } }))
    }
}

impl Handle for Scripted {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(script()))
    }
}

#[derive(Hash)]
struct Part;

impl Fragment<Metadata> for Part {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(1))
    }

    async fn make(&self, _cx: &SharedCx<'_>) -> Result<Html<Metadata>> {
        Ok(script())
    }
}

impl Handle for InFragment {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { head { title { "x" } (cx.fragment(&Part).await?) script { "more()" } } }))
    }
}

impl PublicPage for Cached {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Ok(Response::html(html! { head { title { "x" } (cx.fragment(&Part).await?) } }))
    }
}

impl Handle for Streamed {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        // Made after the header block has been sent.
        Ok(Response::html_stream(stream::iter([0, 1]).map(|_| Ok::<_, Infallible>(script()))))
    }
}

impl Handle for Own {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let headers = SecurityHeaders::none().directive("frame-ancestors", "*");
        Response::html(html! { p { "own" } }).with_security_headers(&headers)
    }
}

impl Handle for Data {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Response::json(&1)
    }
}

fn app() -> App {
    App::new().serve(services![Plain, Scripted, InFragment, Cached, Streamed, Own, Data])
}

fn policy(answer: &TestResponse) -> &str {
    answer.header("content-security-policy").expect("a page has a policy")
}

/// The nonce of the policy, after a check that all scripts of the page have it.
fn nonce(answer: &TestResponse) -> String {
    let nonce =
        policy(answer).split_once("'nonce-").expect("there is a nonce").1.split_once('\'').unwrap().0.to_owned();
    let text = answer.text();
    let attribute = format!(" nonce=\"{nonce}\"");
    assert_eq!(text.matches(" nonce=").count(), text.matches(&attribute).count(), "{nonce}: {text}");
    assert!(
        text.contains(&format!("<script{attribute}>go()")) && text.contains(&format!("<style{attribute}>")),
        "{text}"
    );
    assert!(text.contains(&format!("src=\"https://cdn.example/x.js\"{attribute}>")), "{text}");
    assert!(text.contains("<script src=\"/local.js\">"), "{text}");
    nonce
}

#[test]
fn pages_have_a_strict_policy_and_data_is_not_sniffed() {
    let client = Client::new(app());
    let plain = client.get("/plain");
    assert_eq!(
        policy(&plain),
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; \
         base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    );
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "strict-origin-when-cross-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(plain.header(name), Some(value));
    }
    assert!(plain.header("permissions-policy").unwrap().contains("camera=()"));
    assert_eq!(plain.header("strict-transport-security"), None);
    let data = client.get("/data");
    assert_eq!(
        (data.header("x-content-type-options"), data.header("content-security-policy")),
        (Some("nosniff"), None)
    );
    let secure = Client::new(app().base_url("https://example.org")).get("/data");
    assert_eq!(secure.header("strict-transport-security"), Some("max-age=31536000"));
}

#[test]
fn error_pages_have_a_nonce_for_their_style() {
    let answer = Client::new(app()).get("/nowhere");
    let nonce = policy(&answer).split_once("'nonce-").unwrap().1.split_once('\'').unwrap().0.to_owned();
    assert!(answer.text().contains(&format!("<style nonce=\"{nonce}\">")), "{}", answer.text());
}

#[test]
fn scripts_have_the_nonce_of_their_response_also_from_a_cache_and_in_a_stream() {
    let client = Client::new(app());
    for path in ["/scripted", "/fragment", "/streamed"] {
        let (first, second) = (nonce(&client.get(path)), nonce(&client.get(path)));
        assert_ne!(first, second, "{path}");
    }
    // A page for everybody is sent as it was made.
    assert_eq!(nonce(&client.get("/cached")), nonce(&client.get("/cached")));
}

#[test]
fn a_response_has_its_own_headers_or_those_of_the_application() {
    let strict = SecurityHeaders::new().directive("img-src", "").directive("font-src", "'none'").referrer_policy("");
    let client = Client::new(app().security_headers(strict.report_only().no_hsts()).base_url("https://example.org"));
    let plain = client.get("/plain");
    let reported = plain.header("content-security-policy-report-only").unwrap();
    assert!(
        !reported.contains("img-src") && reported.ends_with("frame-ancestors 'none'; font-src 'none'"),
        "{reported}"
    );
    assert_eq!((plain.header("referrer-policy"), plain.header("strict-transport-security")), (None, None));
    let own = client.get("/own");
    assert_eq!((policy(&own), own.header("x-content-type-options")), ("frame-ancestors *", None));
}

#[test]
fn what_is_no_header_keeps_the_application_from_starting() {
    for headers in [
        SecurityHeaders::new().directive("img-src", "'self'; script-src *"),
        SecurityHeaders::new().directive("Img Src", "'self'"),
        SecurityHeaders::new().referrer_policy("a\nb"),
    ] {
        let mut setup = skep::Setup::default();
        setup.temporary_database = true;
        let problem = App::new().security_headers(headers).open(setup).unwrap_err().to_string();
        assert!(problem.contains("SecurityHeaders"), "{problem}");
    }
}

#[test]
fn violations_are_reported_to_the_application() {
    let client = Client::new(app().security_headers(SecurityHeaders::new().report_to("")));
    let plain = client.get("/plain");
    assert!(policy(&plain).ends_with("; report-uri /-/csp-reports; report-to csp"), "{}", policy(&plain));
    assert_eq!(plain.header("reporting-endpoints"), Some("csp=\"/-/csp-reports\""));
    let send = |body: &str| {
        let request = client.request(Method::POST, "/-/csp-reports").header("origin", "null");
        request.body("application/csp-report", body.to_owned()).send().status().as_u16()
    };
    assert_eq!(send(r#"{"csp-report":{"document-uri":"https://example.org/"}}"#), 204);
    assert_eq!(send("what?"), 400);
    assert_eq!(send(&"x".repeat(100_000)), 413);
    assert_eq!(Client::new(app()).request(Method::POST, "/-/csp-reports").send().status(), 404);
}
