//! What must hold for any bytes at all.
//!
//! Each function takes the bytes that a fuzzer made up, and panics if something does not hold. None of them knows the
//! insides of Skep: they send requests to a small application and look at its answers. `cargo fuzz run NAME` runs one
//! for as long as you like, and `crates/skep/tests/fuzzed/main.rs` some hundred times in each test run.
#![allow(unreachable_pub, reason = "as a module of a test nobody reaches it")]
#![allow(clippy::missing_panics_doc, reason = "a property panics where it does not hold; that is what it is for")]

use std::cell::OnceCell;
use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::Frame;
use skep::form::{Date, DateTime, Decimal, Email, Group, Hidden, MultilineText, Text, Time, Upload, Url, Whole};
use skep::param::Pairs;
use skep::prelude::*;
use skep::test::Client;
use skep::{Body, LocalSite, Request, Setup};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Param)]
enum Kind {
    Note,
    Question,
}

#[derive(Debug, Group)]
#[allow(dead_code, reason = "what was read is seen by `Debug`")]
struct Line {
    id: Option<Hidden<u32>>,
    name: Text<1, 10>,
    count: Whole<1, 9>,
    gift: bool,
}

/// The page with every kind of field.
#[derive(Service)]
#[service(GET "/form")]
struct Page;

impl Handle for Page {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Send::form(cx);
        Ok(Response::html(html! {
            form (form) {
                input (Send::a);
                textarea (Send::b);
                input (Send::c);
                input (Send::d);
                input (Send::e);
                input (Send::f);
                input (Send::g);
                input (Send::h);
                input (Send::i);
                input (Send::j);
                select (Send::k);
                fieldset (Send::l) { legend { "l" } }
                input (Send::m.at(0));
                @for row in form.rows(Send::n, 1) {
                    input (Send::n.row(row, Line::id));
                    input (Send::n.row(row, Line::name));
                    input (Send::n.row(row, Line::count));
                    input (Send::n.row(row, Line::gift));
                }
            }
        }))
    }
}

#[derive(Debug, Service)]
#[allow(dead_code, reason = "what was read is seen by `Debug`")]
#[service(POST "/form", page = Page)]
struct Send {
    #[form]
    a: Text<0, 10>,
    #[form]
    b: Option<MultilineText<1, 10>>,
    #[form]
    c: Option<Email>,
    #[form]
    d: Option<Url>,
    #[form]
    e: Option<Whole<-9, 9>>,
    #[form]
    f: Option<Decimal<2>>,
    #[form]
    g: Option<Date>,
    #[form]
    h: Option<Time>,
    #[form]
    i: Option<DateTime>,
    #[form]
    j: bool,
    #[form]
    k: Option<Kind>,
    #[form]
    l: BTreeSet<Kind>,
    #[form]
    m: Vec<f64>,
    #[form]
    n: Vec<Line>,
}

impl Handle for Send {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("{self:?}")))
    }
}

/// Echoes what it was sent.
#[derive(Service)]
#[service(POST "/files")]
struct Files {
    #[form]
    text: Vec<String>,
    #[form]
    file: Vec<Upload>,
}

impl Handle for Files {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let mut lines = vec![format!("{:?}", self.text)];
        for file in &self.file {
            lines.push(format!("{:?}", (file.file_name(), file.content_type(), file.read().await?)));
        }
        Ok(Response::text(lines.join("\n")))
    }
}

#[derive(Service)]
#[service(GET "/segment/{value}")]
struct Segment {
    value: String,
    q: Option<String>,
    list: Vec<String>,
}

#[derive(Service)]
#[service(GET "/rest/{first}/{*rest}")]
struct Tail {
    first: i64,
    rest: String,
    #[query(default = 7)]
    n: u8,
}

impl Handle for Segment {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(answer(&self, &(&self.value, &self.q, &self.list)))
    }
}

impl Handle for Tail {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(answer(&self, &(self.first, &self.rest, self.n)))
    }
}

/// The link to the values on a line, and what they are.
fn answer(service: &impl Service, values: &dyn std::fmt::Debug) -> Response {
    Response::text(format!("{}\n{values:?}", service.url()))
}

struct Site {
    client: Client,
    local: LocalSite,
}

/// One application for each thread.
fn with<R>(work: impl FnOnce(&Site) -> R) -> R {
    thread_local! { static SITE: OnceCell<Site> = const { OnceCell::new() }; }
    SITE.with(|site| {
        work(site.get_or_init(|| {
            let mut setup = Setup::default();
            setup.temporary_database = true;
            setup.data = std::env::temp_dir();
            let app = App::new().serve(services![Page, Send, Files, Segment, Tail]);
            let site = Arc::new(app.open(setup).expect("the application starts"));
            Site { client: Client::of_site(&site), local: site.local() }
        }))
    })
}

const FORM: &str = "application/x-www-form-urlencoded";

/// A form is decoded as the URL standard says, and what is accepted is accepted again as it is shown.
pub fn form(data: &[u8]) {
    decoded(data);
    with(|site| {
        let request = || site.client.request(skep::Method::POST, "/form").header("accept", "text/html");
        let answer = request().body(FORM, data.to_vec()).send();
        match answer.status().as_u16() {
            200 | 413 => {}
            400 => assert!(!is_utf8_form(data), "{}", answer.text()),
            422 => {
                assert!(answer.text().contains("class=\"problem\""), "nothing is said: {}", answer.text());
                let again = answer.form::<Send>().submit();
                assert!(matches!(again.status().as_u16(), 200 | 422), "{}", again.text());
            }
            other => panic!("{other}: {}", answer.text()),
        }
    });
}

fn is_utf8_form(data: &[u8]) -> bool {
    std::str::from_utf8(data).is_ok()
        && data.split(|byte| matches!(byte, b'&' | b'=')).all(|part| std::str::from_utf8(&bytes_of(part)).is_ok())
}

/// What percent signs stand for.
fn bytes_of(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut bytes, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match (text[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).expect("two digits"));
                at += 3;
            }
            (byte, ..) => {
                bytes.push(if byte == b'+' { b' ' } else { byte });
                at += 1;
            }
        }
    }
    bytes
}

/// Against the URL standard's own algorithm, as the crate `url` has it.
fn decoded(data: &[u8]) {
    const MOST: usize = 50;
    let Ok(text) = std::str::from_utf8(data) else { return };
    let expected: Vec<(String, String)> = url::form_urlencoded::parse(data).into_owned().collect();
    match Pairs::decode(text, MOST) {
        Ok(pairs) => {
            for (name, _) in &expected {
                let theirs = expected.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
                assert!(pairs.get(name).eq(theirs), "{name:?} of {text:?}");
            }
        }
        Err(_) => assert!(expected.len() > MOST || !is_utf8_form(data), "{text:?} is refused"),
    }
}

/// A form with files is read the same however it is cut in pieces, and never ends in a failure of ours. The first byte
/// says how long the pieces are.
pub fn multipart(data: &[u8]) {
    let Some((size, body)) = data.split_first() else { return };
    with(|site| {
        let whole = post(site, KIND, Body::from(body.to_vec()));
        let pieces = body.chunks(usize::from(*size) % 64 + 1).map(Bytes::copy_from_slice).collect();
        let cut = post(site, KIND, Body::stream(Pieces(pieces)));
        assert_eq!(whole, cut);
        assert!(matches!(whole.0, 200 | 400 | 413 | 422), "{whole:?}");
    });
}

/// What a browser would send of these texts and files arrives as they are, if no text of theirs is the boundary.
pub fn sent_and_received(texts: &[String], files: &[(String, Vec<u8>)]) {
    let mut body = Vec::new();
    for text in texts {
        body.extend_from_slice(b"--b\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n");
        body.extend_from_slice(text.as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    for (name, content) in files {
        // HTML, 4.10.22.8: a browser writes these three as percent signs.
        let name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--b--\r\n");
    // A list has no empty values.
    let texts: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
    let mut expected = vec![format!("{texts:?}")];
    for (name, content) in files.iter().filter(|(name, content)| !name.is_empty() || !content.is_empty()) {
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        expected.push(format!("{:?}", (name, "", Bytes::copy_from_slice(content))));
    }
    assert_eq!(with(|site| post(site, KIND, Body::from(body))), (200, expected.join("\n")));
}

const KIND: &str = "multipart/form-data; boundary=b";

/// Status and text of the answer to a form of this content type.
pub(crate) fn post_files(kind: &str, body: Vec<u8>) -> (u16, String) {
    with(|site| post(site, kind, body.into()))
}

fn post(site: &Site, kind: &str, body: Body) -> (u16, String) {
    let request = http_request("POST", "/files").header("content-type", kind);
    let (parts, ()) = request.body(()).expect("it is a request").into_parts();
    let response = at_once(site.local.answer(Request::new(parts, body)));
    let status = response.status().as_u16();
    let body = at_once(text(response.into_body()));
    // An error page has an id of its own.
    (status, if status == 200 { String::from_utf8(body).expect("the answer is text") } else { String::new() })
}

pub(crate) fn http_request(method: &str, uri: &str) -> http::request::Builder {
    http::Request::builder().method(method).uri(uri).header("host", "localhost")
}

pub(crate) async fn text(body: Body) -> Vec<u8> {
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| http_body::Body::poll_frame(body.as_mut(), cx)).await {
        bytes.extend(frame.expect("the answer is whole").into_data().expect("it has no trailers"));
    }
    bytes
}

/// Nothing here waits for anything.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the application waits"),
    }
}

/// A body in pieces.
struct Pieces(VecDeque<Bytes>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Whatever an address says, it is answered; and the link to the values that were read leads to the same answer.
pub fn address(data: &[u8]) {
    let Ok(rest) = std::str::from_utf8(data) else { return };
    with(|site| {
        for prefix in ["/segment/", "/rest/", "/"] {
            let address = format!("{prefix}{rest}");
            if address.parse::<http::Uri>().is_err() || address.starts_with("//") {
                continue;
            }
            let request = site.client.request(skep::Method::GET, &address).without_redirects();
            let answer = request.send();
            assert!(answer.status().as_u16() < 500, "{address}: {}", answer.text());
            let Some(link) = answer.text().lines().next().filter(|_| answer.status() == 200 && prefix != "/") else {
                continue;
            };
            let again = site.client.request(skep::Method::GET, link).without_redirects().send();
            assert_eq!(again.text(), answer.text(), "{address} and {link}");
        }
    });
}

/// The link to any values leads back to them, also by way of a browser.
pub fn link(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.split('\u{1}').map(ToOwned::to_owned);
    let mut next = || parts.next().unwrap_or_default();
    let (value, rest, q) = (next(), next(), next());
    // An empty value in a query counts as missing.
    let q = Some(q).filter(|q| !q.is_empty());
    let n = *data.first().unwrap_or(&7);
    let list: Vec<String> = parts.collect();
    let first = data.iter().take(9).fold(0_i64, |number, byte| number.wrapping_mul(256) + i64::from(*byte));
    let expected = format!("{:?}", (&value, &q, &list));
    leads_to(&Segment { value, q, list }.url(), &expected);
    let expected = format!("{:?}", (first, &rest, n));
    leads_to(&Tail { first, rest, n }.url(), &expected);
}

fn leads_to(link: &str, expected: &str) {
    let base = url::Url::parse("http://localhost/").expect("it is a URL");
    let seen = base.join(link).expect("a link is a URL");
    assert_eq!(seen.host_str(), Some("localhost"), "{link}");
    let path = &seen[url::Position::BeforePath..];
    with(|site| {
        for address in [link, path] {
            let answer = site.client.request(skep::Method::GET, address).without_redirects().send();
            let got = answer.text().split_once('\n').map(|(_, values)| values);
            assert_eq!(got, Some(expected), "{link} is {address} to a browser: {}", answer.status());
        }
    });
}
