//! Unit tests of `http1::head`.

use skep::request::Value;

use super::*;

const LIMITS: fn() -> Limits = || Limits { header_bytes: 1000, header_fields: 10, url: 100 };

/// A head that arrives in two parts, and its length.
fn read(text: &[u8], cut: usize) -> Validated<Option<(Head, usize)>> {
    let mut reader = HeadReader::default();
    match reader.read(&text[..cut], &LIMITS(), b"")? {
        None => reader.read(text, &LIMITS(), b""),
        whole => Ok(whole),
    }
}

fn length(text: &[u8], cut: usize) -> Validated<Option<usize>> {
    read(text, cut).map(|head| head.map(|(_, length)| length))
}

fn head(text: &str) -> Validated<Head> {
    read(text.as_bytes(), 0).map(|head| head.expect("a whole head").0)
}

#[test]
fn where_a_head_is_cut_makes_no_difference() {
    let head = b"\r\nPOST /a HTTP/1.1\r\nHost: x\r\nA:\tb\r\nContent-Length: 4\r\n\r\n";
    let text = [&head[..], b"\n\r\0\n"].concat();
    for cut in 0..text.len() {
        assert_eq!(length(&text, cut), Ok(Some(head.len())), "cut at {cut}");
    }
    for bad in [
        "GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: \0\r\n\r\n",
        "GET / FTP/1.1\r\nHost: x\r\n\r\n",
        "\x16\x03\x01\x02\r\n\r\n",
    ] {
        for cut in 0..bad.len() {
            assert_eq!(
                length(bad.as_bytes(), cut).unwrap_err().status,
                StatusCode::BAD_REQUEST,
                "{bad:?} cut at {cut}"
            );
        }
    }
}

#[test]
fn each_limit_has_its_status_and_holds_before_the_end_of_a_line() {
    let status = |text: String| length(text.as_bytes(), 0).unwrap_err().status.as_u16();
    let long = "a".repeat(1000);
    assert_eq!(status(format!("GET /{long}")), 414);
    assert_eq!(status(format!("GET /{} HTTP/1.1\r\n", &long[..100])), 414);
    assert_eq!(status(format!("GET / HTTP/1.1\r\nA: {long}")), 431);
    assert_eq!(status(format!("GET / HTTP/1.1\r\n{}", "a: b\r\n".repeat(11))), 431);
    assert_eq!(status("\r\n".repeat(600)), 414);
}

#[test]
fn a_version_is_judged_as_soon_as_it_is_known() {
    let of = |text: &str| length(text.as_bytes(), 0).map_err(|rejection| rejection.status.as_u16());
    for good in
        ["GET / HTTP", "GET / HTTP/1", "GET / HTTP/1.", "GET / HTTP/1.1", "GET / HTTP/1.9", "GET /a HTTP/ HTTP/1.0"]
    {
        assert_eq!(of(good), Ok(None), "{good}");
    }
    for other in ["GET / HTTP/2", "GET / HTTP/0", "PRI * HTTP/2.0\r\n", "GET / HTTP/3.0\r\n"] {
        assert_eq!(of(other), Err(505), "{other}");
    }
    for bad in ["GET / HTTP/x", "GET /\r\n", "GET\r\n", "GET / HTTP/1.x", "GET / HTTP/1.1 \r\n"] {
        assert!(matches!(of(bad), Err(400 | 505)), "{bad}");
    }
    // RFC 9110, 2.5: a later minor version is understood as the latest that is known.
    assert_eq!(head("GET / HTTP/1.2\r\nHost: x\r\n\r\n").unwrap().parts.version, Version::HTTP_11);
    assert_eq!(head("GET / HTTP/1.0\r\n\r\n").unwrap().parts.version, Version::HTTP_10);
}

#[test]
fn a_head_has_a_method_a_target_and_fields() {
    let Head { parts, body, framing } =
        head("\r\n\r\nPUT /a?b=c HTTP/1.1\r\nHost:x\r\nA: \t b  c\t \r\nempty:\r\na: d\r\nContent-Length: 3\r\n\r\n")
            .unwrap();
    assert_eq!((parts.method, parts.uri.to_string(), body), (Method::PUT, "/a?b=c".to_owned(), BodyLength::Known(3)));
    assert!(framing.keeps_alive());
    let values: Vec<_> = parts.headers.get_all("a").map(Value::as_bytes).collect();
    assert_eq!(values, [&b"b  c"[..], b"d"]);
    assert_eq!(parts.headers.get("Empty").unwrap().as_bytes(), b"");
    for target in ["http://x/a", "*", "x:80"] {
        assert_eq!(
            head(&format!("OPTIONS {target} HTTP/1.1\r\nHost: x\r\n\r\n"))
                .unwrap()
                .parts
                .uri
                .to_string()
                .trim_end_matches('/'),
            target.trim_end_matches('/')
        );
    }
}

#[test]
fn what_is_none_of_that_is_rejected() {
    for bad in [
        "G(T / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a#b c HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET ://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET 1a://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET a~b://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nA: \x7f\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nA: \x0e\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
    ] {
        assert_eq!(head(bad).unwrap_err().status, StatusCode::BAD_REQUEST, "{bad:?}");
    }
}

#[test]
fn every_control_character_is_found_wherever_it_stands_and_nothing_else_is() {
    for byte in 0..=u8::MAX {
        for at in 0..20 {
            let mut bytes = [b'\t', 0x80, b'x', 0xff].repeat(5);
            bytes[at] = byte;
            let expected = (byte.is_ascii_control() && byte != b'\t').then_some(at);
            assert_eq!(control(&bytes), expected, "{byte} at {at}");
        }
    }
}
