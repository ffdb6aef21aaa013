//! One set of rules for both protocols: each case is sent over HTTP/1 and over HTTP/2, and what comes back is the same.

use std::io::Read;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use skep::body::FileSlice;
use skep::form::{Messages, Upload};
use skep::prelude::*;
use skep_server::Running;
use tokio::net::TcpStream;

use super::http2::{block_on, handshake};
use super::support::{self, Raw, address};

/// Responds with this status, a body of this kind, and these lengths.
#[derive(Service)]
#[service(GET "/content/{status}/{kind}")]
pub(super) struct Content {
    status: u16,
    kind: String,
    length: Vec<String>,
}

impl Handle for Content {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let status = StatusCode::from_u16(self.status)?;
        let pieces =
            || ["abc", "def"].map(|piece| Ok::<_, std::convert::Infallible>(Bytes::from_static(piece.as_bytes())));
        let mut response = match &*self.kind {
            "error" => return Err(Error::new(status)),
            "empty" => Response::empty(status),
            "mistaken" => {
                Response::new(skep::Body::stream(Mistaken(skep::Body::from_stream(Pieces(Vec::from(pieces()))))))
            }
            "stream" => Response::new(skep::Body::from_stream(Pieces(Vec::from(pieces())))),
            "file" => {
                let file = support::file(6)?.into();
                Response::new(skep::Body::file(FileSlice { file, start: 0, len: 6 }))
            }
            _ => Response::text("abcdef"),
        };
        for length in &self.length {
            response.headers_mut().append(CONTENT_LENGTH, HeaderValue::try_from(length)?);
        }
        Ok(response.with_status(status))
    }
}

struct Pieces(Vec<std::result::Result<Bytes, std::convert::Infallible>>);

impl futures_core::Stream for Pieces {
    type Item = std::result::Result<Bytes, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready((!self.0.is_empty()).then(|| self.0.remove(0)))
    }
}

/// A body that says of itself that it has 9 bytes.
struct Mistaken(skep::Body);

impl http_body::Body for Mistaken {
    type Data = Bytes;
    type Error = skep::body::BodyError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<std::result::Result<http_body::Frame<Bytes>, Self::Error>>> {
        std::pin::Pin::new(&mut self.0).poll_frame(cx)
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(9)
    }
}

#[derive(Service)]
#[service(POST "/raw", cross_origin = "tests have no origin")]
pub(super) struct RawBody;

impl Handle for RawBody {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.read_body().await?.len().to_string()))
    }
}

#[derive(Service)]
#[service(POST "/form", cross_origin = "tests have no origin")]
pub(super) struct NameForm {
    #[form]
    name: String,
}

impl Handle for NameForm {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.name))
    }
}

#[derive(Service)]
#[service(POST "/json", cross_origin = "tests have no origin")]
pub(super) struct Json {
    #[json]
    name: String,
}

impl Handle for Json {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.name))
    }
}

#[derive(Service)]
#[service(POST "/files", cross_origin = "tests have no origin")]
pub(super) struct Files {
    #[form]
    file: Upload,
}

impl Handle for Files {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.file.file_name().to_owned()))
    }
}

/// Says what it reads of the fields.
#[derive(Service)]
#[service(GET "/fields")]
pub(super) struct Fields {
    #[header("x-list")]
    list: Vec<String>,
    #[header("x-one")]
    one: Option<String>,
    #[header("x-number")]
    number: Option<u8>,
}

impl Handle for Fields {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let cookies = cx.request_headers().get_all(COOKIE).iter().count();
        let last = cx.cookie("last").unwrap_or_default();
        let Self { list, one, number } = self;
        Ok(Response::text(format!("{list:?} {one:?} {number:?} {} {cookies} {last}", cx.language())))
    }
}

pub(super) type Services = (Content, RawBody, NameForm, Json, Files, Fields);

fn server(settings: &[(&str, &str)]) -> Running {
    let german = Messages { language: "de", ..Messages::ENGLISH };
    let app = move || support::app().serve::<Services>().languages([Messages::ENGLISH, german]);
    support::start_app(app, &[&[("listen", "127.0.0.1:0")], settings].concat())
}

/// What came back. The body is an error if it broke off.
#[derive(Debug)]
struct Got {
    status: u16,
    fields: HeaderMap,
    body: std::result::Result<Vec<u8>, ()>,
}

impl Got {
    fn field(&self, name: &HeaderName) -> Option<&str> {
        let mut values = self.fields.get_all(name).iter();
        let value = values.next().map(|value| value.to_str().unwrap());
        assert!(values.next().is_none(), "{name} twice: {self:?}");
        value
    }

    fn text(&self) -> &str {
        std::str::from_utf8(self.body.as_ref().unwrap()).unwrap()
    }
}

fn over_http1(server: &Running, request: &Request<Bytes>) -> Got {
    let (method, path) = (request.method(), request.uri());
    let mut said = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n").into_bytes();
    for (name, value) in request.headers() {
        said.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    if !request.body().is_empty() {
        said.extend(format!("content-length: {}\r\n", request.body().len()).into_bytes());
    }
    let mut client = Raw::connect(server);
    client.say([&said, &b"\r\n"[..], request.body()].concat());
    let mut all = Vec::new();
    client.stream.read_to_end(&mut all).unwrap();
    let head = all.windows(4).position(|part| part == b"\r\n\r\n").unwrap() + 2;
    let (head, body) = (String::from_utf8(all[..head].to_vec()).unwrap(), all[head + 2..].to_vec());
    let lines = head.lines().skip(1).map(|line| line.split_once(": ").unwrap());
    let lines = lines.map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()));
    let mut got = Got { status: head[9..12].parse().unwrap(), fields: lines.collect(), body: Ok(body) };
    let is_without = *method == Method::HEAD || matches!(got.status, 204 | 304);
    let body = got.body.as_mut().unwrap();
    if is_without {
        return got;
    }
    if let Some(length) = got.fields.get(CONTENT_LENGTH) {
        if length.to_str().unwrap().parse() != Ok(body.len()) {
            got.body = Err(());
        }
    } else if got.fields.get("transfer-encoding").is_some() {
        got.body = unchunked(body).ok_or(());
    }
    got
}

fn unchunked(mut chunks: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = chunks.windows(2).position(|part| part == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&chunks[..end]).ok()?, 16).ok()?;
        let chunk = chunks.get(end + 2..end + 4 + size)?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(&chunk[..size]);
        chunks = &chunks[end + 4 + size..];
    }
}

fn over_http2(server: &Running, request: &Request<Bytes>) -> Got {
    block_on(async {
        let mut sender = handshake(TcpStream::connect(address(server)).await.unwrap()).await;
        let mut sent = Request::new(Full::from(request.body().clone()));
        *sent.method_mut() = request.method().clone();
        *sent.uri_mut() = format!("http://x{}", request.uri()).parse().unwrap();
        *sent.headers_mut() = request.headers().clone();
        // The reset of a stream may overtake the head.
        let Ok(response) = sender.send_request(sent).await else {
            return Got { status: 0, fields: HeaderMap::new(), body: Err(()) };
        };
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map(|body| body.to_bytes().to_vec()).map_err(drop);
        Got { status: parts.status.as_u16(), fields: parts.headers, body }
    })
}

/// Both answers, with the name of their protocol.
fn over_both(server: &Running, request: &Request<Bytes>) -> [(&'static str, Got); 2] {
    [("HTTP/1", over_http1(server, request)), ("HTTP/2", over_http2(server, request))]
}

fn get(path: &str) -> Request<Bytes> {
    Request::get(path).body(Bytes::new()).unwrap()
}

fn with_method(method: &Method, path: &str) -> Request<Bytes> {
    Request::builder().method(method).uri(path).body(Bytes::new()).unwrap()
}

#[test]
fn a_status_without_content_has_none_whatever_the_handler_says() {
    let server = server(&[]);
    for method in [Method::GET, Method::HEAD] {
        for status in ["204", "205", "304"] {
            for kind in
                ["text", "stream", "file", "error", "empty", "text?length=6", "empty?length=3", "stream?length=99"]
            {
                for (protocol, got) in over_both(&server, &with_method(&method, &format!("/content/{status}/{kind}"))) {
                    let about = format!("{protocol} {method} {status} {kind}: {got:?}");
                    assert_eq!((got.status.to_string(), got.text()), (status.to_owned(), ""), "{about}");
                    let length = got.field(&CONTENT_LENGTH);
                    assert!(length.is_none() || status == "205" && length == Some("0"), "{about}");
                    assert_eq!(got.field(&CONTENT_TYPE), None, "{about}");
                }
            }
        }
    }
}

#[test]
fn what_the_server_says_itself_keeps_the_rules_too() {
    let server = server(&[]);
    for (path, status) in [("/-/live", 200), ("/-/ready", 200), ("/%zz", 400), ("/nowhere", 404)] {
        let page = over_http1(&server, &get(path));
        assert_eq!((page.status, page.text().is_empty()), (status, false), "{path}");
        for (protocol, got) in over_both(&server, &with_method(&Method::HEAD, path)) {
            assert_eq!((got.status, got.text()), (status, ""), "{protocol} {path}");
            assert_eq!(got.field(&CONTENT_LENGTH), page.field(&CONTENT_LENGTH), "{protocol} {path}");
        }
    }
}

/// What the body is: whole, or broken off, and the length that is said of it.
#[test]
fn a_length_that_is_wrong_is_never_sent() {
    let server = server(&[]);
    let whole = Some("abcdef");
    for (kind, body, length) in [
        ("text", whole, Some("6")),
        ("text?length=6", whole, Some("6")),
        ("text?length=3", whole, Some("6")),
        ("text?length=999", whole, Some("6")),
        ("text?length=0", whole, Some("6")),
        ("text?length=abc", whole, Some("6")),
        ("text?length=-6", whole, Some("6")),
        ("text?length=%2b6", whole, Some("6")),
        ("text?length=", whole, Some("6")),
        ("text?length=6&length=6", whole, Some("6")),
        ("text?length=6&length=7", whole, Some("6")),
        ("text?length=6,6", whole, Some("6")),
        ("text?length=99999999999999999999999", whole, Some("6")),
        ("file?length=3", whole, Some("6")),
        ("file?length=7&length=8", whole, Some("6")),
        ("stream", whole, None),
        ("stream?length=6", whole, Some("6")),
        ("stream?length=abc", whole, None),
        ("stream?length=6&length=6", whole, None),
        ("stream?length=999", None, Some("999")),
        ("stream?length=4", None, Some("4")),
        ("stream?length=0", None, Some("0")),
        ("mistaken", None, Some("9")),
        ("mistaken?length=6", None, Some("9")),
        ("empty?length=9", Some(""), Some("0")),
    ] {
        for (protocol, got) in over_both(&server, &get(&format!("/content/200/{kind}"))) {
            let about = format!("{protocol} {kind}: {got:?}");
            match body {
                Some(_) if kind.starts_with("file") => assert_eq!(got.body, Ok(support::pattern(6)), "{about}"),
                Some(body) => assert_eq!(got.text(), body, "{about}"),
                None => assert!(got.body.is_err() || length == Some("0") && got.text().is_empty(), "{about}"),
            }
            if got.status != 0 {
                assert_eq!(got.field(&CONTENT_LENGTH), length, "{about}");
            }
        }
    }
}

#[test]
fn a_response_to_head_has_the_length_of_the_one_to_get() {
    let server = server(&[]);
    for (kind, length) in [
        ("text", Some("6")),
        ("text?length=999", Some("6")),
        ("text?length=6&length=6", Some("6")),
        ("file", Some("6")),
        ("file?length=abc", Some("6")),
        ("stream", None),
        ("stream?length=6", Some("6")),
        ("stream?length=abc", None),
        ("empty", Some("0")),
        ("empty?length=1234", Some("1234")),
        ("empty?length=x", Some("0")),
        ("empty?length=1&length=1", Some("0")),
    ] {
        for (protocol, got) in over_both(&server, &with_method(&Method::HEAD, &format!("/content/200/{kind}"))) {
            let about = format!("{protocol} {kind}: {got:?}");
            assert_eq!((got.status, got.text(), got.field(&CONTENT_LENGTH)), (200, "", length), "{about}");
        }
    }
    for (protocol, got) in over_both(&server, &with_method(&Method::HEAD, "/content/409/error")) {
        let page = over_http1(&server, &get("/content/409/error"));
        assert_eq!((got.status, got.text()), (409, ""), "{protocol}");
        assert_eq!(got.field(&CONTENT_LENGTH), page.field(&CONTENT_LENGTH), "{protocol}");
    }
}

#[test]
fn a_body_in_a_coding_is_refused_by_name() {
    let server = server(&[]);
    let multipart = "multipart/form-data; boundary=x";
    let file = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nb\r\n--x--";
    for (path, kind, body) in [
        ("/raw", "text/plain", "hello"),
        ("/form", "application/x-www-form-urlencoded", "name=a"),
        ("/json", "application/json", "\"a\""),
        ("/files", multipart, file),
    ] {
        for (codings, status) in [
            (&[][..], 200),
            (&["identity"], 200),
            (&["Identity, identity"], 200),
            (&[""], 200),
            (&["gzip"], 415),
            (&["br"], 415),
            (&["x-unknown"], 415),
            (&["identity, gzip"], 415),
            (&["identity", "deflate"], 415),
            (&["\u{e4}"], 415),
        ] {
            let request = Request::post(path).header(CONTENT_TYPE, kind);
            let value = |coding: &&str| HeaderValue::from_bytes(coding.as_bytes()).unwrap();
            let request =
                codings.iter().fold(request, |request, coding| request.header("content-encoding", value(coding)));
            for (protocol, got) in over_both(&server, &request.body(body.into()).unwrap()) {
                assert_eq!(got.status, status, "{protocol} {path} {codings:?}: {got:?}");
                let accepted = got.field(&HeaderName::from_static("accept-encoding"));
                assert_eq!(accepted, (status == 415).then_some("identity"), "{protocol} {path} {codings:?}");
            }
        }
    }
}

#[test]
fn a_list_over_several_lines_is_one_list() {
    let server = server(&[]);
    let none = "[] None None en 0 ";
    for (fields, expected) in [
        (&[][..], none),
        (&[("x-list", "a"), ("x-list", "b")], r#"["a", "b"] None None en 0 "#),
        (&[("x-list", "a, b"), ("x-list", "c")], r#"["a", "b", "c"] None None en 0 "#),
        (&[("x-list", " a ,, b\t,")], r#"["a", "b"] None None en 0 "#),
        (&[("x-list", r#""a, b", c"#)], r#"["\"a, b\"", "c"] None None en 0 "#),
        (&[("x-list", r#""a\", b", c"#)], r#"["\"a\\\", b\"", "c"] None None en 0 "#),
        (&[("x-list", "")], none),
        (&[("x-one", "a")], r#"[] Some("a") None en 0 "#),
        (&[("x-one", "a"), ("x-one", "b")], r#"[] Some("a, b") None en 0 "#),
        (&[("x-number", "7")], "[] None Some(7) en 0 "),
        (&[("x-number", "7"), ("x-number", "8")], "400"),
        (&[("x-number", "seven")], "400"),
        (&[("x-one", "\u{e4}")], "400"),
        (&[("x-list", "a"), ("x-list", "\u{e4}")], "400"),
        (&[("x-number", "\u{e4}")], "400"),
        (&[("accept-language", "fr"), ("accept-language", "de")], "[] None None de 0 "),
        (&[("cookie", "a=1; last=2")], "[] None None en 1 2"),
    ] {
        let value = |text: &str| HeaderValue::from_bytes(text.trim_matches(' ').as_bytes()).unwrap();
        let request =
            fields.iter().fold(Request::get("/fields"), |request, (name, text)| request.header(*name, value(text)));
        for (protocol, got) in over_both(&server, &request.body(Bytes::new()).unwrap()) {
            let seen = if got.status == 200 { got.text().to_owned() } else { got.status.to_string() };
            assert_eq!(seen, expected, "{protocol} {fields:?}");
        }
    }
}

#[test]
fn a_host_is_encoded_as_uris_are() {
    let server = server(&[]);
    for (host, status) in [
        ("local%41host", 200),
        ("%e4%C3", 200),
        ("local%zzhost", 400),
        ("local%4", 400),
        ("local%", 400),
        ("%%41", 400),
        ("a%4g:80", 400),
    ] {
        let mut client = Raw::connect(&server);
        let answer = client.say(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).answer();
        assert_eq!(answer.status, status, "HTTP/1 {host}");
        let mut client = Frames::connect(&server);
        assert_eq!(
            // The library takes no percent signs in `:authority`.
            client.ask(&[&request("/")[..3], &[("host", host)]].concat(), None),
            status.to_string(),
            "{host}"
        );
    }
}

/// A client that sends its own header blocks over HTTP/2.
struct Frames {
    raw: Raw,
    stream: u32,
}

/// The usual pseudo-header fields, but for the authority.
fn request(path: &str) -> Vec<(&str, &str)> {
    vec![(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "x")]
}

impl Frames {
    fn connect(server: &Running) -> Self {
        let mut raw = Raw::connect(server);
        raw.say(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
        Self { raw, stream: 0 }
    }

    /// Sends a request, with trailers if there are some: the status, or the error that its stream ends with.
    fn ask(&mut self, fields: &[(&str, &str)], trailers: Option<&[(&str, &str)]>) -> String {
        self.stream = if self.stream == 0 { 1 } else { self.stream + 2 };
        let mut said = self.headers(fields, trailers.is_none());
        if let Some(trailers) = trailers {
            said.extend([&[0, 0, 2, 0, 0], &self.stream.to_be_bytes()[..], b"hi"].concat());
            said.extend(self.headers(trailers, true));
        }
        self.raw.say(said);
        loop {
            let mut head = [0; 9];
            self.raw.stream.read_exact(&mut head).expect("a frame before the end");
            let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
            self.raw.stream.read_exact(&mut payload).unwrap();
            let is_ours = head[5..9] == self.stream.to_be_bytes();
            match (head[3], payload.first()) {
                // `:status` comes first, as an index or with a value of three digits.
                (1, Some(index @ 0x88..=0x8e)) if is_ours => {
                    return [200, 204, 206, 304, 400, 404, 500][usize::from(index - 0x88)].to_string();
                }
                (1, Some(_)) if is_ours => {
                    let digits = payload.iter().position(|byte| byte.is_ascii_digit() && *byte != 0).unwrap();
                    return String::from_utf8_lossy(&payload[digits..digits + 3]).into_owned();
                }
                (3, _) if is_ours => return format!("reset {}", payload[3]),
                (7, _) => return format!("connection {}", payload[7]),
                _ => {}
            }
        }
    }

    /// HEADERS whose fields enter the table, so that later blocks may refer to them by their places there.
    fn headers(&self, fields: &[(&str, &str)], is_end: bool) -> Vec<u8> {
        let mut block = Vec::new();
        for (name, value) in fields {
            block.push(0x40);
            for text in [name, value] {
                let length = text.len();
                // With a prefix of 7 bits; longer texts than 254 bytes are not needed.
                let byte = |length: usize| u8::try_from(length).expect("a short text");
                block.extend(if length < 127 { vec![byte(length)] } else { vec![127, byte(length - 127)] });
                block.extend(text.as_bytes());
            }
        }
        let length = u32::try_from(block.len()).unwrap().to_be_bytes();
        let flags = 4 | u8::from(is_end);
        [&length[1..], &[1, flags], &self.stream.to_be_bytes(), &block].concat()
    }
}

const RESET: &str = "reset 1";

#[test]
fn a_fragment_in_a_target_is_malformed() {
    let server = server(&[]);
    for path in ["/#x", "/#", "/?a=b#c", "/?#", "/slow/1#", "#", "/a#b#c", "/%23#"] {
        let answer = Raw::connect(&server).say(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).answer();
        assert_eq!(answer.status, 400, "HTTP/1 {path}");
        let mut client = Frames::connect(&server);
        assert_eq!(client.ask(&request(path), None), RESET, "HTTP/2 {path}");
        // The connection is as good as before.
        assert_eq!(client.ask(&request("/"), None), "200", "HTTP/2 {path}");
    }
    assert_eq!(Frames::connect(&server).ask(&request("/?a=%23"), None), "200");
}

#[test]
fn trailers_with_pseudo_fields_are_malformed() {
    let server = server(&[]);
    let post = || [&[(":method", "POST"), (":path", "/length")], &request("")[1..2], &request("")[3..]].concat();
    for (trailers, expected) in [
        (&[("x-sum", "1")][..], "200"),
        (&[("x-a", "1"), ("x-b", "#")], "200"),
        (&[], "200"),
        (&[(":method", "GET")], RESET),
        (&[(":method", "POST")], RESET),
        (&[(":status", "200")], RESET),
        (&[(":path", "/length")], RESET),
        (&[(":path", "/")], RESET),
        (&[(":authority", "x")], RESET),
        (&[(":scheme", "http")], RESET),
        (&[(":protocol", "websocket")], RESET),
        (&[("x-sum", "1"), (":status", "200")], RESET),
        (&[(":status", "200"), ("x-sum", "1")], RESET),
    ] {
        let mut client = Frames::connect(&server);
        for round in 0..3 {
            assert_eq!(client.ask(&post(), Some(trailers)), expected, "{trailers:?} {round}");
            assert_eq!(client.ask(&request("/"), None), "200", "{trailers:?} {round}");
        }
    }
}

#[test]
fn spaces_around_a_value_are_no_part_of_it() {
    let server = server(&[]);
    for value in [" a", "a ", "\ta", "a\t", " ", "\t", "  a  "] {
        let mut client = Raw::connect(&server);
        let said = format!("GET /fields HTTP/1.1\r\nHost: x\r\nX-One:{value}\r\nConnection: close\r\n\r\n");
        let one = if value.trim().is_empty() { "None" } else { r#"Some("a")"# };
        assert_eq!(client.say(said).answer().text(), format!("[] {one} None en 0 "), "{value:?}");
        let mut client = Frames::connect(&server);
        let fields = [&request("/fields")[..], &[("x-one", value)]].concat();
        assert_eq!(client.ask(&fields, None), "400", "{value:?}");
        let crumbs = [&request("/fields")[..], &[("cookie", "a=b"), ("cookie", value), ("cookie", "c=d")]].concat();
        assert_eq!(client.ask(&crumbs, None), "400", "{value:?}");
    }
}

#[test]
fn the_crumbs_of_a_cookie_are_one_field() {
    let server = server(&[("limits.header_fields", "10"), ("limits.header_bytes", "16KiB")]);
    let crumbs: Vec<String> = (0..90).map(|number| format!("k{number}=v")).chain(["last=2".to_owned()]).collect();
    let with = |fields: usize, crumbs: &[String]| {
        let mut request = Request::get("/fields");
        for number in 0..fields {
            request = request.header(format!("x-{number}"), "y");
        }
        crumbs.iter().fold(request, |request, crumb| request.header(COOKIE, crumb)).body(Bytes::new()).unwrap()
    };
    let got = over_http2(&server, &with(8, &crumbs));
    assert_eq!((got.status, got.text()), (200, "[] None None en 1 2"), "one field, which the handler sees whole");
    assert_eq!(over_http2(&server, &with(10, &crumbs)).status, 431, "the others still count");
    let large: Vec<String> = (0..100).map(|number| format!("k{number}={}", "v".repeat(300))).collect();
    assert_eq!(over_http2(&server, &with(0, &large)).status, 431, "and so do the bytes");
    let joined = [crumbs.join("; ")];
    for (protocol, got) in over_both(&server, &with(0, &joined)) {
        assert_eq!((got.status, got.text()), (200, "[] None None en 1 2"), "{protocol}");
    }
}
