//! One set of rules for both protocols: each case is sent over HTTP/1 and over HTTP/2, and what comes back is the same.
//! Those of `cases` are sent to components, too, by the tests of `skep-isolate`.

mod cases;
mod services;

use std::io::Read;

use bytes::Bytes;
use http::Request;
use http::header::COOKIE;
use skep::body::FileSlice;
use skep::form::Messages;
use skep_server::Running;

use super::support::{self, Raw, address};
use cases::{over_both, over_http2};
pub(super) use services::SERVICES;

fn server(settings: &[(&str, &str)]) -> Running {
    let german = Messages { language: "de", ..Messages::ENGLISH };
    let app = move || support::app().serve(SERVICES).languages([Messages::ENGLISH, german]);
    support::start_app(app, &[&[("listen", "127.0.0.1:0")], settings].concat())
}

/// A body of 6 bytes from a file.
fn file() -> skep::Body {
    let file = support::file(6).unwrap().into();
    skep::Body::file(FileSlice { file, start: 0, len: 6 })
}

fn native(case: fn(&str)) {
    let server = server(&[]);
    case(&address(&server));
}

#[test]
fn a_status_without_content_has_none_whatever_the_handler_says() {
    native(cases::a_status_without_content_has_none_whatever_the_handler_says);
}

#[test]
fn what_the_server_says_itself_keeps_the_rules_too() {
    native(cases::what_the_server_says_itself_keeps_the_rules_too);
}

#[test]
fn a_length_that_is_wrong_is_never_sent() {
    native(cases::a_length_that_is_wrong_is_never_sent);
}

#[test]
fn a_response_to_head_has_the_length_of_the_one_to_get() {
    native(cases::a_response_to_head_has_the_length_of_the_one_to_get);
}

#[test]
fn a_body_in_a_coding_is_refused_by_name() {
    native(cases::a_body_in_a_coding_is_refused_by_name);
}

#[test]
fn a_list_over_several_lines_is_one_list() {
    native(cases::a_list_over_several_lines_is_one_list);
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
    let address = address(&server);
    let with = |fields: usize, crumbs: &[String]| {
        let mut request = Request::get("/fields");
        for number in 0..fields {
            request = request.header(format!("x-{number}"), "y");
        }
        crumbs.iter().fold(request, |request, crumb| request.header(COOKIE, crumb)).body(Bytes::new()).unwrap()
    };
    let got = over_http2(&address, &with(8, &crumbs));
    assert_eq!((got.status, got.text()), (200, "[] None None en 1 2"), "one field, which the handler sees whole");
    assert_eq!(over_http2(&address, &with(10, &crumbs)).status, 431, "the others still count");
    let large: Vec<String> = (0..100).map(|number| format!("k{number}={}", "v".repeat(300))).collect();
    assert_eq!(over_http2(&address, &with(0, &large)).status, 431, "and so do the bytes");
    let joined = [crumbs.join("; ")];
    for (protocol, got) in over_both(&address, &with(0, &joined)) {
        assert_eq!((got.status, got.text()), (200, "[] None None en 1 2"), "{protocol}");
    }
}
