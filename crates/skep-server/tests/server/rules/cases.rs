//! One set of rules: each case is sent over HTTP/1 and over HTTP/2, to a native application and to a component, and
//! what comes back is the same. The services are those of `services`, and a server with them is known by its address,
//! such as `127.0.0.1:12345`.

use std::io::{Read, Write};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::{BodyExt, Full};
use tokio::net::TcpStream;

use super::super::http2::{block_on, handshake};

/// What came back. The body is an error if it broke off.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
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

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(self.body.as_ref().unwrap()).unwrap()
    }
}

fn over_http1(address: &str, request: &Request<Bytes>) -> Got {
    let (method, path) = (request.method(), request.uri());
    let mut said = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n").into_bytes();
    for (name, value) in request.headers() {
        said.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    if !request.body().is_empty() {
        said.extend(format!("content-length: {}\r\n", request.body().len()).into_bytes());
    }
    let mut client = std::net::TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    client.write_all(&[&said, &b"\r\n"[..], request.body()].concat()).unwrap();
    let mut all = Vec::new();
    client.read_to_end(&mut all).unwrap();
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

pub(crate) fn over_http2(address: &str, request: &Request<Bytes>) -> Got {
    block_on(async {
        let mut sender = handshake(TcpStream::connect(address).await.unwrap()).await;
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
pub(crate) fn over_both(address: &str, request: &Request<Bytes>) -> [(&'static str, Got); 2] {
    [("HTTP/1", over_http1(address, request)), ("HTTP/2", over_http2(address, request))]
}

fn get(path: &str) -> Request<Bytes> {
    Request::get(path).body(Bytes::new()).unwrap()
}

fn with_method(method: &Method, path: &str) -> Request<Bytes> {
    Request::builder().method(method).uri(path).body(Bytes::new()).unwrap()
}

pub(crate) fn a_status_without_content_has_none_whatever_the_handler_says(address: &str) {
    for method in [Method::GET, Method::HEAD] {
        for status in ["204", "205", "304"] {
            for kind in
                ["text", "stream", "file", "error", "empty", "text?length=6", "empty?length=3", "stream?length=99"]
            {
                for (protocol, got) in over_both(address, &with_method(&method, &format!("/content/{status}/{kind}"))) {
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

pub(crate) fn what_the_server_says_itself_keeps_the_rules_too(address: &str) {
    for (path, status) in [("/-/live", 200), ("/-/ready", 200), ("/%zz", 400), ("/nowhere", 404)] {
        let page = over_http1(address, &get(path));
        assert_eq!((page.status, page.text().is_empty()), (status, false), "{path}");
        for (protocol, got) in over_both(address, &with_method(&Method::HEAD, path)) {
            assert_eq!((got.status, got.text()), (status, ""), "{protocol} {path}");
            assert_eq!(got.field(&CONTENT_LENGTH), page.field(&CONTENT_LENGTH), "{protocol} {path}");
        }
    }
}

/// What the body is: whole, or broken off, and the length that is said of it.
pub(crate) fn a_length_that_is_wrong_is_never_sent(address: &str) {
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
        for (protocol, got) in over_both(address, &get(&format!("/content/200/{kind}"))) {
            let about = format!("{protocol} {kind}: {got:?}");
            match body {
                Some(_) if kind.starts_with("file") => assert_eq!(got.body, Ok(vec![0, 1, 2, 3, 4, 5]), "{about}"),
                Some(body) => assert_eq!(got.text(), body, "{about}"),
                None => assert!(got.body.is_err() || length == Some("0") && got.text().is_empty(), "{about}"),
            }
            if got.status != 0 {
                assert_eq!(got.field(&CONTENT_LENGTH), length, "{about}");
            }
        }
    }
}

pub(crate) fn a_response_to_head_has_the_length_of_the_one_to_get(address: &str) {
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
        for (protocol, got) in over_both(address, &with_method(&Method::HEAD, &format!("/content/200/{kind}"))) {
            let about = format!("{protocol} {kind}: {got:?}");
            assert_eq!((got.status, got.text(), got.field(&CONTENT_LENGTH)), (200, "", length), "{about}");
        }
    }
    for (protocol, got) in over_both(address, &with_method(&Method::HEAD, "/content/409/error")) {
        let page = over_http1(address, &get("/content/409/error"));
        assert_eq!((got.status, got.text()), (409, ""), "{protocol}");
        assert_eq!(got.field(&CONTENT_LENGTH), page.field(&CONTENT_LENGTH), "{protocol}");
    }
}

pub(crate) fn a_body_in_a_coding_is_refused_by_name(address: &str) {
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
            for (protocol, got) in over_both(address, &request.body(body.into()).unwrap()) {
                assert_eq!(got.status, status, "{protocol} {path} {codings:?}: {got:?}");
                let accepted = got.field(&HeaderName::from_static("accept-encoding"));
                assert_eq!(accepted, (status == 415).then_some("identity"), "{protocol} {path} {codings:?}");
            }
        }
    }
}

pub(crate) fn a_list_over_several_lines_is_one_list(address: &str) {
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
        for (protocol, got) in over_both(address, &request.body(Bytes::new()).unwrap()) {
            let seen = if got.status == 200 { got.text().to_owned() } else { got.status.to_string() };
            assert_eq!(seen, expected, "{protocol} {fields:?}");
        }
    }
}
