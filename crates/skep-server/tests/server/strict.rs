//! What is not beyond doubt is refused: with the right status, on a page of ours, and however it arrives.

use super::support::{Raw, assert_page, server};

const GOOD: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// Broken requests, and the status each gets. What follows the broken one must never be read as a request.
const BROKEN: &[(&str, &str, u16)] = &[
    (
        "both lengths",
        "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    (
        "both lengths, the other way",
        "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        400,
    ),
    ("two lengths", "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400),
    (
        "twice the same length",
        "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        400,
    ),
    ("a list of lengths", "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\nhello", 400),
    ("a length with a sign", "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello", 400),
    ("an empty length", "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\nhello", 400),
    (
        "a length beyond counting",
        "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        400,
    ),
    (
        "the largest length there is",
        "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n",
        400,
    ),
    ("a malformed host", "GET / HTTP/1.1\r\nHost: x\"><b>\r\n\r\n", 400),
    ("a host with a path", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", 400),
    ("a host with a user", "GET / HTTP/1.1\r\nHost: x@y\r\n\r\n", 400),
    ("two words for a host", "GET / HTTP/1.1\r\nHost: x y\r\n\r\n", 400),
    ("no host", "GET / HTTP/1.1\r\n\r\n", 400),
    ("two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400),
    ("a folded field", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400),
    ("a fold first", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400),
    ("white space before the colon", "GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", 400),
    (
        "white space before the colon of a length",
        "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nhello",
        400,
    ),
    ("a field without a colon", "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n", 400),
    ("a bare LF", "GET / HTTP/1.1\nHost: x\n\n", 400),
    ("a bare LF after a field", "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", 400),
    ("a bare CR", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n", 400),
    ("a zero byte in the path", "GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("a zero byte in a field", "GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n", 400),
    ("a control character in the path", "GET /\u{1} HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("chunks in HTTP/1.0", "POST /length HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (
        "two transfer encodings",
        "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    (
        "an unknown transfer encoding",
        "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        501,
    ),
    ("chunks in disguise", "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
    ("a version that does not exist", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505),
    ("the version of 1991", "GET /\r\n\r\n", 400),
    ("no version", "GET / nonsense\r\nHost: x\r\n\r\n", 400),
    ("no path", "GET\r\nHost: x\r\n\r\n", 400),
    ("two paths", "GET / / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("a malformed method", "G@T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("the beginning of TLS", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}", 400),
];

#[test]
fn a_broken_request_gets_a_page_with_the_right_status() {
    let server = server(&[]);
    for (name, request, status) in BROKEN {
        println!("{name}");
        let mut client = Raw::connect(&server);
        assert_page(&client.say(request).answer(), *status);
        client.closed();
    }
}

#[test]
fn a_broken_request_behind_a_good_one_does_not_cost_the_good_one_its_answer() {
    let server = server(&[]);
    for (name, request, status) in BROKEN {
        println!("{name}");
        let mut client = Raw::connect(&server);
        client.say(format!("{GOOD}GET /slow/20 HTTP/1.1\r\nHost: x\r\n\r\n{request}"));
        assert_eq!(client.answer().text(), "Hello, world!");
        assert_eq!(client.answer().text(), "at last");
        assert_page(&client.answer(), *status);
        client.closed();
    }
}

#[test]
fn a_broken_request_behind_many_good_ones_costs_none_of_them_its_answer() {
    let server = server(&[]);
    for (name, request, status) in BROKEN {
        println!("{name}");
        let mut client = Raw::connect(&server);
        client.say(format!("{}{request}", GOOD.repeat(50)));
        for _ in 0..50 {
            assert_eq!(client.answer().text(), "Hello, world!");
        }
        assert_page(&client.answer(), *status);
        client.closed();
    }
}

#[test]
fn what_asks_for_no_path_is_answered_for_what_it_is() {
    let server = server(&[]);
    for (request, status) in [
        ("OPTIONS * HTTP/1.1", 204),
        ("GET * HTTP/1.1", 400),
        ("CONNECT example.org:80 HTTP/1.1", 501),
        ("CONNECT / HTTP/1.1", 501),
        ("POST example.org:80 HTTP/1.1", 400),
        ("GET index.html HTTP/1.1", 400),
        ("GET ftp://x/ HTTP/1.1", 400),
        ("GET https://x/ HTTP/1.1", 200),
    ] {
        let answer = Raw::connect(&server).say(format!("{request}\r\nHost: x\r\nConnection: close\r\n\r\n")).answer();
        assert_eq!((answer.status, answer.field("location")), (status, None), "{request}");
    }
}

#[test]
fn a_broken_request_is_refused_also_when_it_comes_byte_by_byte() {
    let server = server(&[]);
    for (name, request, status) in BROKEN {
        println!("{name}");
        let mut client = Raw::connect(&server);
        assert_page(&client.spell(request).answer(), *status);
    }
}

#[test]
fn good_requests_are_good_however_they_arrive() {
    let server = server(&[]);
    let post = "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    let mut client = Raw::connect(&server);
    client.spell(format!("{GOOD}{post}\r\n{GOOD}"));
    assert_eq!(client.answer().text(), "Hello, world!");
    assert_eq!(client.answer().text(), "5");
    assert_eq!(client.answer().text(), "Hello, world!");
    // A body that looks like a request is a body.
    client.say(format!("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{GOOD}{post}", GOOD.len()));
    assert_eq!(client.answer().text(), GOOD.len().to_string());
    assert_eq!(client.answer().text(), "5");
}

#[test]
fn a_chunked_request_is_followed_by_the_next() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say(format!(
        "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n{GOOD}"
    ));
    let answer = client.answer();
    assert_eq!((answer.text(), answer.field("connection")), ("5", None));
    assert_eq!(client.answer().text(), "Hello, world!");
}

#[test]
fn a_body_that_is_shorter_than_it_said_is_a_400_and_one_in_broken_chunks_too() {
    let server = server(&[]);
    for body in
        ["Transfer-Encoding: chunked\r\n\r\nnonsense\r\n", "Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"]
    {
        let mut client = Raw::connect(&server);
        client.say(format!("POST /length HTTP/1.1\r\nHost: x\r\n{body}"));
        let answer = client.answer();
        assert_eq!((answer.status, answer.field("connection")), (400, Some("close")), "{answer:?}");
        client.closed();
    }
    let mut client = Raw::connect(&server);
    client.say("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhello");
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.answer().status, 400);
    client.closed();
}
