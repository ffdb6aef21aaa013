//! Compression of responses: for whom, of what, and never where its length would tell a secret.

use std::io::Read;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::compression::{Coding, Private};
use skep::header::{CACHE_CONTROL, CONTENT_ENCODING, ETAG};
use skep::mount::{Mount, Mounted, ResponseFuture};
use skep::prelude::*;
use skep::session::Key;
use skep::test::{Client, TestResponse};
use skep::wire::Hint;
use skep::{HeaderValue, Method, Setup, StatusCode};

const LINE: &str = "The bees know the way home, and so does this line. ";

fn text() -> String {
    LINE.repeat(100)
}

#[derive(Service)]
#[service(GET "/text/{kind}")]
struct Text {
    kind: String,
}

impl Handle for Text {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let value = HeaderValue::from_static;
        Ok(match &*self.kind {
            "small" => Response::text("small"),
            "picture" => Response::with_content_type("image/png", text()),
            "events" => Response::with_content_type("text/event-stream", text()),
            "encoded" => Response::text(text()).with_header(CONTENT_ENCODING, value("br")),
            "untouched" => Response::text(text()).with_header(CACHE_CONTROL, value("public, No-Transform")),
            "part" => Response::text(text()).with_status(StatusCode::PARTIAL_CONTENT),
            "noise" => Response::text(noise()),
            "large" => Response::text(LINE.repeat(20_000)),
            "tagged" => Response::text(text()).with_header(ETAG, value("\"tag\"")),
            "unchanged" => Response::empty(StatusCode::NOT_MODIFIED).with_header(ETAG, value("\"tag\"")),
            "mine" => {
                cx.session().get(&Key::<String>::new("user")).await?;
                Response::text(text())
            }
            "mine, safe" => {
                let _ = cx.cookie("user");
                Response::text(text()).with_compression(true)
            }
            "secret" => Response::text(text()).with_compression(false),
            _ => Response::text(text()),
        })
    }
}

/// Bytes that no coding makes smaller.
fn noise() -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..2000).map(|_| next()).collect()
}

static MADE: AtomicU32 = AtomicU32::new(0);

#[derive(Service)]
#[service(GET "/page")]
struct CachedPage;

impl PublicPage for CachedPage {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(1))
    }

    async fn page(&self, _cx: &SharedCx<'_>) -> Result {
        MADE.fetch_add(1, Ordering::Relaxed);
        Ok(Response::text(LINE.repeat(1000)))
    }
}

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.compression.codings = vec![Coding::Brotli, Coding::Gzip];
    setup
}

fn client_with(change: impl FnOnce(&mut Setup)) -> Client {
    let mut setup = setup();
    change(&mut setup);
    Client::with_setup(App::new().serve(services![Text, CachedPage]), setup)
}

fn client() -> Client {
    client_with(|_| {})
}

fn get(client: &Client, url: &str, accepts: &str) -> TestResponse {
    client.request(Method::GET, url).header("accept-encoding", accepts).send()
}

/// The body as it was before.
fn decoded(response: &TestResponse) -> String {
    let (body, mut text) = (&response.body()[..], String::new());
    match response.header("content-encoding") {
        Some("br") => brotli::Decompressor::new(body, 4096).read_to_string(&mut text).unwrap(),
        Some("gzip") => flate2::read::GzDecoder::new(body).read_to_string(&mut text).unwrap(),
        #[cfg(feature = "zstd")]
        Some("zstd") => zstd::stream::read::Decoder::new(body).unwrap().read_to_string(&mut text).unwrap(),
        coding => panic!("{coding:?}"),
    };
    text
}

#[test]
fn the_coding_is_the_best_that_the_client_accepts() {
    let client = client();
    let cases = [
        ("gzip, br", Some("br")),
        ("br;q=0.5, gzip", Some("gzip")),
        ("gzip;q=0.5, br;q=0.5", Some("br")),
        ("*", Some("br")),
        ("*;q=0.1, br;q=0", Some("gzip")),
        ("X-GZIP", Some("gzip")),
        ("identity, gzip;q=0.5", None),
        ("gzip;q=0", None),
        ("deflate, zstd", None),
        ("", None),
        ("identity;q=0", None),
    ];
    for (accepts, coding) in cases {
        let response = get(&client, "/text/plain", accepts);
        assert_eq!(response.header("content-encoding"), coding, "{accepts}");
        assert_eq!(response.header("vary"), Some("accept-encoding"), "{accepts}");
        match coding {
            Some(_) => assert_eq!((decoded(&response), response.body().len() < 500), (text(), true), "{accepts}"),
            None => assert_eq!(response.text(), text()),
        }
    }
    assert_eq!(client.get("/text/plain").header("content-encoding"), None);
}

/// A host of components, whose application says of its response what this hint says.
struct Hinted(Hint);

impl Mount for Hinted {
    fn answer(&self, _: Mounted) -> ResponseFuture {
        let mut response = Response::text(text());
        for (name, value) in [("x-first", "1"), ("x-behind", "2"), ("x-last", "3")] {
            response.headers_mut().append(name, HeaderValue::from_static(value));
        }
        response.set_hint(self.0);
        Box::pin(std::future::ready(Ok(response)))
    }
}

#[test]
fn what_an_application_in_a_component_says_of_its_response_holds() {
    let cookie: &[(&'static str, &str)] = &[("cookie", "a=b")];
    let own: &[(&'static str, &str)] = &[("cookie", "a=b"), ("sec-fetch-site", "same-origin")];
    for (is_private, wish, fields, coding) in [
        (false, None, cookie, Some("br")),
        (true, None, cookie, None),
        (true, None, own, Some("br")),
        (false, Some(false), cookie, None),
        (true, Some(true), cookie, Some("br")),
        (false, None, &[("authorization", "x")], None),
    ] {
        let hint = Hint { before: 2, is_private, wish };
        assert_eq!(Hint::read(hint.text().as_bytes(), 2).text(), hint.text());
        let client = Client::with_setup(App::new().mount("/", Hinted(hint)), setup()).without_fetch_metadata();
        let request = client.request(Method::GET, "/").header("accept-encoding", "br");
        let answer = fields.iter().fold(request, |request, (name, value)| request.header(name, value)).send();
        assert_eq!(answer.header("content-encoding"), coding, "{hint:?} {fields:?}");
        let names: Vec<&str> = answer.headers().keys().map(skep::HeaderName::as_str).collect();
        let expected: &[&str] = match (coding, wish) {
            (Some(_), _) => &["content-type", "x-first", "vary", "content-encoding", "x-behind", "x-last"],
            (None, Some(_)) => &["content-type", "x-first", "x-behind", "x-last"],
            (None, None) => &["content-type", "x-first", "vary", "x-behind", "x-last"],
        };
        assert_eq!(names, expected, "where `Vary` stands natively");
    }
}

#[test]
fn what_gains_nothing_or_must_not_change_is_left_as_it_is() {
    let client = client();
    for kind in ["small", "picture", "events", "encoded", "untouched", "part"] {
        let (plain, asked) = (client.get(&format!("/text/{kind}")), get(&client, &format!("/text/{kind}"), "br, gzip"));
        assert_eq!(plain.body(), asked.body(), "{kind}");
        assert_eq!((plain.header("content-encoding"), None), (asked.header("content-encoding"), asked.header("vary")));
    }
    let noisy = get(&client, "/text/noise", "br");
    assert_eq!((noisy.header("content-encoding"), noisy.body().len()), (None, 2000));
}

#[test]
fn a_large_body_is_compressed_in_pieces_up_to_a_limit_and_loses_nothing() {
    for accepts in ["br", "gzip"] {
        let response = get(&client(), "/text/large", accepts);
        assert_eq!((decoded(&response), response.header("content-length")), (LINE.repeat(20_000), None));
        assert!(response.body().len() < 50_000);
    }
    let full = client_with(|setup| setup.compression.concurrent = 0);
    assert_eq!(get(&full, "/text/large", "br").header("content-encoding"), None);
    assert_eq!(get(&full, "/text/plain", "br").header("content-encoding"), Some("br"), "small ones hold no encoder");
}

#[test]
fn a_tag_becomes_weak_and_head_says_what_get_says() {
    let client = client();
    let response = get(&client, "/text/tagged", "gzip");
    assert_eq!(response.header("etag"), Some("W/\"tag\""));
    assert_eq!(get(&client, "/text/tagged", "identity").header("etag"), Some("\"tag\""));
    let head = client.request(Method::HEAD, "/text/tagged").header("accept-encoding", "gzip").send();
    let fields = |response: &TestResponse| {
        ["content-encoding", "etag", "vary", "content-length"].map(|name| response.header(name).map(str::to_owned))
    };
    assert_eq!((fields(&head), head.body().len()), (fields(&response), 0));
    let has = |tag| client.request(Method::GET, "/text/unchanged").header("if-none-match", tag).send();
    assert_eq!(has("\"x\", W/\"tag\"").header("etag"), Some("W/\"tag\""), "the client has the compressed one");
    assert_eq!(has("\"tag\"").header("etag"), Some("\"tag\""));
}

#[test]
fn what_is_one_users_is_compressed_only_if_no_other_site_can_have_asked_for_it() {
    let coding = |private, site: &str, url: &str| {
        let client = client_with(|setup| setup.compression.private = private).without_fetch_metadata();
        let mut request = client.request(Method::GET, url).header("accept-encoding", "br");
        if !site.is_empty() {
            request = request.header("sec-fetch-site", site);
        }
        request.send().header("content-encoding") == Some("br")
    };
    for site in ["cross-site", "same-site", ""] {
        assert!(!coding(Private::SameOrigin, site, "/text/mine"), "{site}");
        assert!(coding(Private::SameOrigin, site, "/text/plain"), "{site}");
        assert!(coding(Private::Always, site, "/text/mine"), "{site}");
        assert!(coding(Private::Never, site, "/text/mine,%20safe"), "{site}");
    }
    for site in ["same-origin", "none"] {
        assert!(coding(Private::SameOrigin, site, "/text/mine"), "{site}");
        assert!(!coding(Private::Never, site, "/text/mine"), "{site}");
        assert!(!coding(Private::Always, site, "/text/secret"), "{site}");
    }
    let client = client().without_fetch_metadata();
    let request = client.request(Method::GET, "/text/plain").header("accept-encoding", "br");
    assert_eq!(request.header("authorization", "Basic eDp5").send().header("content-encoding"), None);
}

#[test]
fn a_page_in_the_cache_is_compressed_once_and_sent_so_with_each_hit() {
    let client = client();
    let plain = client.get("/page");
    assert_eq!(plain.text(), LINE.repeat(1000));
    let made = MADE.load(Ordering::Relaxed);
    let tag = plain.header("etag").unwrap();
    for coding in ["br", "gzip"] {
        let first = get(&client, "/page", coding);
        assert_eq!((decoded(&first), first.header("content-encoding")), (LINE.repeat(1000), Some(coding)));
        assert_eq!(first.header("etag"), Some(&*format!("W/{tag}")));
        assert_eq!((first.header("vary"), first.body().len() < 2000), (Some("accept-encoding"), true));
        // Above 32 KiB it would be a stream, of which nobody knows the length.
        assert_eq!(first.body(), get(&client, "/page", coding).body());
    }
    let again = client.request(Method::GET, "/page").header("if-none-match", &format!("W/{tag}"));
    let again = again.header("accept-encoding", "br").send();
    assert_eq!((again.status().as_u16(), again.header("etag")), (304, Some(&*format!("W/{tag}"))));
    assert_eq!(MADE.load(Ordering::Relaxed), made);
}

/// What a cache updates its copy by, and keys it by, is the same in each of them (RFC 9110, 15.3.7 and 15.4.5).
#[test]
fn a_304_and_a_206_have_the_fields_of_the_200() {
    let app = || {
        let files = skep::files::Files::dir("tests/site");
        App::new()
            .name("bees", "1.0.0")
            .serve(services![Text, CachedPage, Described])
            .files("/site", files)
            .openapi("/api.json")
    };
    for codings in [vec![Coding::Brotli, Coding::Gzip], Vec::new()] {
        let mut setup = setup();
        (setup.compression.codings, setup.compression.min_size) = (codings.clone(), 8);
        let client = Client::with_setup(app(), setup);
        for (url, varies) in [
            ("/page", true),
            ("/text/tagged", true),
            ("/described/text", true),
            ("/described/picture", false),
            ("/described/encoded", false),
            ("/described/untouched", false),
            ("/site/hello.txt", true),
            ("/site/style.css", true),
            ("/site/dot.png", false),
            ("/api.json", true),
        ] {
            for accepts in ["br", "identity"] {
                let whole = get(&client, url, accepts);
                let tag = whole.header("etag").unwrap_or_else(|| panic!("{url}: {:?}", whole.headers()));
                let request = |name, value| {
                    client.request(Method::GET, url).header("accept-encoding", accepts).header(name, value)
                };
                let unchanged = request("if-none-match", tag).send();
                assert_eq!(unchanged.status(), 304, "{url} {accepts}");
                assert_eq!((unchanged.text(), unchanged.header("content-type")), ("", None), "{url} {accepts}");
                let partial = request("range", "bytes=0-3").send();
                let others = [Some(&unchanged), Some(&partial).filter(|partial| partial.status() == 206)];
                for other in others.into_iter().flatten() {
                    for name in ["vary", "cache-control", "content-location", "expires"] {
                        let value = |response: &TestResponse| {
                            let values = response.headers().get_all(name);
                            values.iter().map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
                        };
                        assert_eq!(value(other), value(&whole), "{name} of {url} {accepts}, {}", other.status());
                    }
                }
                assert_eq!(unchanged.header("etag"), Some(tag), "{url} {accepts}");
                let has_vary = whole.headers().get_all("vary").iter().any(|vary| vary == "accept-encoding");
                assert_eq!(has_vary, varies && !codings.is_empty(), "{url} {accepts}");
            }
        }
    }
}

/// A text with fields of its own.
#[derive(Service)]
#[service(GET "/described/{kind}")]
struct Described {
    kind: String,
}

impl Handle for Described {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let fields = [
            ("etag", "\"a, b\""),
            ("content-location", "/elsewhere"),
            ("expires", "Thu, 01 Jan 2099 00:00:00 GMT"),
            ("vary", "cookie, accept-language"),
        ];
        for (name, value) in fields {
            cx.set_header(skep::header::HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let kind = if self.kind == "picture" { "image/png" } else { "text/plain" };
        let mut response = Response::with_content_type(kind, text());
        if self.kind == "encoded" {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("deflate"));
        }
        for line in ["max-age=9", "No-Transform"].into_iter().filter(|_| self.kind == "untouched") {
            response.headers_mut().append(CACHE_CONTROL, HeaderValue::from_static(line));
        }
        Ok(response)
    }
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_is_one_of_the_codings_that_a_client_weighs() {
    let codings = |list: &[Coding]| {
        let codings = list.to_vec();
        client_with(|setup| setup.compression.codings = codings)
    };
    let first = codings(&[Coding::Zstd, Coding::Brotli, Coding::Gzip]);
    let last = codings(&[Coding::Brotli, Coding::Gzip, Coding::Zstd]);
    for (client, accepts, coding) in [
        (&first, "gzip, br, zstd", Some("zstd")),
        (&last, "gzip, br, zstd", Some("br")),
        (&last, "gzip;q=0.8, zstd;q=0.9", Some("zstd")),
        (&last, "zstd", Some("zstd")),
        (&first, "zstd;q=0.5, br", Some("br")),
        (&first, "zstd;q=0, *", Some("br")),
        (&first, "zstd;q=0.5, identity", None),
        (&first, "*;q=0.1", Some("zstd")),
    ] {
        // At once, and in pieces.
        for (url, whole) in [("/text/plain", text()), ("/text/large", LINE.repeat(20_000))] {
            let response = get(client, url, accepts);
            assert_eq!(response.header("content-encoding"), coding, "{url} {accepts}");
            if coding.is_some() {
                assert!(decoded(&response) == whole && response.body().len() < whole.len() / 5, "{url} {accepts}");
            }
        }
    }
}
