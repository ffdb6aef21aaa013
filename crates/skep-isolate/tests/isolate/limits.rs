//! The rules of every Skep server hold for components that know nothing of it: bodies, targets, responses without
//! content, compression.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hyper::Method;

use super::Test;
use super::guests;
use super::http2::{self, Pieces};
use super::server::Server;

pub(crate) const TESTS: &[Test] = &[
    ("a_body_beyond_its_limit_is_a_413_for_any_component", bodies),
    ("a_body_that_breaks_off_has_the_servers_status", broken_bodies),
    ("a_target_without_a_path_never_reaches_a_guest", targets),
    ("a_response_without_content_has_none_in_both_protocols", without_content),
    ("responses_of_any_component_are_compressed_unless_it_leaks", compression),
    ("a_body_that_is_dropped_unfinished_is_logged_with_its_request", unfinished),
];

const LIMIT: usize = 100_000;

fn serve(more: &[&str]) -> Server {
    let guest = guests::plain();
    Server::start(&[&[guest.to_str().unwrap(), "--set", "workers=1"], more].concat())
}

fn head(method: &str, path: &str, fields: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{fields}\r\n")
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

fn chunked(bytes: usize) -> String {
    let mut body = String::new();
    for piece in vec!['x'; bytes].chunks(8192) {
        body.extend([format!("{:x}\r\n", piece.len()), piece.iter().collect(), "\r\n".to_owned()]);
    }
    body + "0\r\n\r\n"
}

fn bodies() {
    let server = serve(&["--set", &format!("limits.body={LIMIT}")]);
    let sizes = [(0, 200), (1, 200), (20_000, 200), (LIMIT, 200), (LIMIT + 1, 413), (20 * LIMIT, 413)];
    for (bytes, expected) in sizes {
        let declared = head("POST", "/consume", &format!("Content-Length: {bytes}\r\n")) + &"x".repeat(bytes);
        let grown = head("POST", "/consume", "Transfer-Encoding: chunked\r\n") + &chunked(bytes);
        for (what, request) in [("declared", declared), ("in chunks", grown)] {
            let answer = server.raw(request);
            assert_eq!(status(&answer), expected, "{bytes} bytes, {what}: {answer}");
            assert_eq!(answer.contains(&format!("read {bytes}")), expected == 200, "{bytes} bytes, {what}: {answer}");
        }
        for is_declared in [true, false] {
            let body = Pieces::of(bytes, is_declared);
            let (status, ..) = http2::ask(&server, Method::POST, "/consume", body).unwrap();
            assert_eq!(status, expected, "{bytes} bytes over HTTP/2, declared: {is_declared}");
        }
    }
    // A client that waits for `100 Continue` is refused at once, whether the guest would read or not.
    for path in ["/consume", "/"] {
        let fields = format!("Expect: 100-continue\r\nContent-Length: {}\r\n", LIMIT + 1);
        let answer = server.raw(head("POST", path, &fields));
        assert!(answer.starts_with("HTTP/1.1 413 "), "{path}: {answer}");
    }
    let fields = format!("Expect: 100-continue\r\nContent-Length: {LIMIT}\r\n");
    let answer = server.raw(head("POST", "/consume", &fields) + &"x".repeat(LIMIT));
    assert!(status(&answer) == 200 || answer.starts_with("HTTP/1.1 100 "), "{answer}");
}

/// The server says what is wrong with a request, whatever its guest makes of it; and its log does not show the guest
/// the host's insides.
fn broken_bodies() {
    let server = serve(&["--set", "limits.body_idle=100ms"]);
    let chunks = "Transfer-Encoding: chunked\r\n";
    let cases = [
        ("no size of a chunk", 400, chunks, "5\r\nhello\r\nZZ\r\nmore\r\n"),
        ("a chunk that is longer", 400, chunks, "5\r\nhello there\r\n0\r\n\r\n"),
        ("silence in a body", 408, "Content-Length: 10\r\n", "hello"),
        ("silence in a chunk", 408, chunks, "9\r\nhello"),
    ];
    for (what, expected, fields, body) in cases {
        let answer = server.raw(head("POST", "/consume", fields) + body);
        assert_eq!(status(&answer), expected, "{what}: {answer}");
    }
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all((head("POST", "/consume", "Content-Length: 10\r\n") + "hello").as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert_eq!(status(&answer), 400, "the end of a connection: {answer}");
    server.wait_for("read 5: ");
    let log = server.log();
    let told: Vec<&str> = log.lines().filter(|line| line.contains("read 5: ")).collect();
    assert!(told.iter().all(|line| line.contains("read 5: HTTP protocol error. ")), "one line each: {told:?}");
    assert!(!log.contains("Stack backtrace") && !log.contains("wasmtime_wasi"), "{log}");
}

fn targets() {
    let server = serve(&[]);
    let cases = [
        ("CONNECT example.org:443", 501),
        ("CONNECT host:80", 501),
        ("CONNECT /", 501),
        ("GET host:80", 400),
        ("HEAD host:80", 400),
        ("POST host:80", 400),
        ("GET index.html", 400),
        ("GET localhost", 400),
        ("GET mailto:a", 400),
        ("GET ftp://x/meta", 400),
        ("GET gopher://x/", 400),
        ("GET *", 400),
        ("GET ?x", 400),
        ("GET /a%2", 400),
        ("OPTIONS *", 204),
        ("GET http://x/", 200),
        ("GET https://x/", 200),
        ("GET /", 200),
    ];
    for (line, expected) in cases {
        let answer = server.raw(format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
        assert_eq!(status(&answer), expected, "{line}: {answer}");
        assert_eq!(answer.contains("\none"), expected == 200, "{line}: {answer}");
    }
}

fn without_content() {
    let server = serve(&[]);
    for (status_asked, method, bytes) in [200, 204, 205, 304, 404]
        .into_iter()
        .flat_map(|status| ["GET", "HEAD"].map(|method| (status, method)))
        .flat_map(|(status, method)| [0, 5].map(|bytes| (status, method, bytes)))
    {
        let has_content = method == "GET" && matches!(status_asked, 200 | 404);
        for length in ["", "5"] {
            let path = format!("/claims?{status_asked}:{length}:{bytes}");
            let what = format!("{method} {path}");
            // A length that is not that of the body is a failure, unless no body is due.
            let is_wrong = length == "5" && bytes == 0 && has_content;
            let answer = server.raw(head(method, &path, ""));
            let (fields, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
            let over_http2 = http2::ask(&server, method.parse().unwrap(), &path, Pieces::of(0, false));
            if is_wrong {
                // A guest that gave way to others has begun its response, which is cut then.
                assert!(status(&answer) == 500 || body.is_empty(), "{what}: {answer}");
                assert!(over_http2.map_or(500, |(status, ..)| status) == 500, "{what} over HTTP/2");
                continue;
            }
            let (two, headers, content) = over_http2.unwrap();
            assert_eq!((status(&answer), two), (status_asked, status_asked), "{what}: {answer}");
            let wanted = if has_content { bytes } else { 0 };
            assert_eq!((body.len(), content.len()), (wanted, wanted), "{what}: {answer}");
            let said = fields.lines().find_map(|line| line.strip_prefix("content-length: "));
            assert!(!has_content || said == Some(wanted.to_string().as_str()), "{what}: {answer}");
            let said_there = headers.get("content-length").map(|length| length.to_str().unwrap());
            for said in [said, said_there] {
                match status_asked {
                    204 => assert_eq!(said, None, "{what}: {answer}"),
                    205 => assert!(matches!(said, None | Some("0")), "{what}: {answer} {headers:?}"),
                    304 => assert!(said.is_none() || said == Some(length), "{what}: {answer}"),
                    _ => assert!(
                        said.is_none() || said == Some(length) || said == Some(bytes.to_string().as_str()),
                        "{what}: {answer} {headers:?}"
                    ),
                }
            }
        }
    }
}

fn compression() {
    let server = serve(&["--allow-out", "nowhere.example"]);
    let both = "Accept-Encoding: gzip, br\r\n";
    let with = |more: &str| format!("{both}{more}");
    let cases: &[(&str, String, Option<&str>)] = &[
        ("", both.into(), Some("br")),
        ("", "Accept-Encoding: gzip\r\n".into(), Some("gzip")),
        ("", "Accept-Encoding: br;q=0\r\nAccept-Encoding: gzip;q=0.5\r\n".into(), Some("gzip")),
        ("", "Accept-Encoding: identity\r\n".into(), None),
        ("", String::new(), None),
        // BREACH: what another site may have caused, and what is one user's.
        ("", with("Cookie: a=b\r\n"), None),
        ("", with("Cookie: a=b\r\nSec-Fetch-Site: cross-site\r\n"), None),
        ("", with("Cookie: a=b\r\nSec-Fetch-Site: same-site\r\n"), None),
        ("", with("Cookie: a=b\r\nSec-Fetch-Site: same-origin\r\n"), Some("br")),
        ("", with("Cookie: a=b\r\nSec-Fetch-Site: none\r\n"), Some("br")),
        ("", with("Authorization: Bearer x\r\n"), None),
        ("", with("Authorization: Bearer x\r\nSec-Fetch-Site: cross-site\r\n"), None),
        ("", with("Sec-Fetch-Site: cross-site\r\n"), Some("br")),
        ("set-cookie=a", both.into(), None),
        // What gains nothing, or must stay as it is.
        ("bytes=500", both.into(), None),
        ("content-type=image/png", both.into(), None),
        ("content-type=text/event-stream", both.into(), None),
        ("content-type=application/problem+json", both.into(), Some("br")),
        ("content-type=application/json", both.into(), Some("br")),
        ("cache-control=no-transform", both.into(), None),
        ("content-encoding=br", both.into(), Some("br")),
        ("status=206&content-range=bytes 0-2999/9000", both.into(), None),
        ("bytes=300000", both.into(), Some("br")),
        ("content-length=3000", both.into(), Some("br")),
        ("status=404", both.into(), Some("br")),
    ];
    for (query, fields, expected) in cases {
        let path = format!("/page?{}", query.replace(' ', "%20"));
        for method in ["GET", "HEAD"] {
            let answer = server.raw(head(method, &path, fields));
            let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
            let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            let what = format!("{method} {path} with {fields:?}: {head}");
            assert_eq!(field("content-encoding"), *expected, "{what}");
            let is_left = query.contains("content-encoding") || expected.is_none();
            assert!(is_left || field("vary") == Some("accept-encoding"), "{what}");
            assert!(method == "GET" || body.is_empty(), "{what}");
            assert!(is_left || method == "GET" || field("content-length").is_none(), "{what}");
            assert!(is_left || field("content-length").is_none_or(|length| length != "3000"), "{what}");
        }
    }
    // The tag of a page that was compressed is that of a 304.
    let tagged = server.raw(head("GET", "/page?tag=x", both));
    assert!(tagged.contains("etag: W/\"x\"\r\n"), "{tagged}");
    let asked = with("If-None-Match: W/\"x\"\r\n");
    let unchanged = server.raw(head("GET", "/page?status=304&tag=x", &asked));
    assert!(unchanged.contains("etag: W/\"x\"\r\n"), "{unchanged}");
    let plain = server.raw(head("GET", "/page?status=304&tag=x", "If-None-Match: \"x\"\r\n"));
    assert!(plain.contains("etag: \"x\"\r\n"), "{plain}");
}

fn unfinished() {
    let server = serve(&[]);
    let answer = server.get("/nofinish");
    assert!(answer.status == 200 && !answer.is_whole, "{answer:?}");
    server.wait_for("did not finish its response");
    let log = server.log();
    let line = log.lines().find(|line| line.contains("did not finish its response")).unwrap();
    assert!(line.contains("guest (") && line.contains("id="), "{line}");
}
