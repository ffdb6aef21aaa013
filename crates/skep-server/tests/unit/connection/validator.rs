//! Unit tests of `connection::validator`.

use super::*;

/// Validates a text that arrives in two parts.
fn check(text: &[u8], cut: usize) -> (usize, Option<StatusCode>) {
    let limits = Limits { header_bytes: 1000, header_fields: 10, url: 100, ..Limits::default() };
    let mut validator = Validator::default();
    let (first, refusal) = validator.check(&text[..cut], &limits);
    if let Some(refusal) = refusal {
        return (first, Some(refusal.status));
    }
    let (second, refusal) = validator.check(&text[cut..], &limits);
    (first + second, refusal.map(|refusal| refusal.status))
}

#[test]
fn where_a_message_is_cut_makes_no_difference() {
    let good = b"POST /a HTTP/1.1\r\nHost: x\r\nA:\tb\r\nContent-Length: 4\r\n\r\n\n\r\0\nGET / HTTP/1.0\r\n\r\n";
    for cut in 0..good.len() {
        assert_eq!(check(good, cut), (good.len(), None), "cut at {cut}");
    }
    for bad_request in
        ["GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\n\r\n", "GET / HTTP/1.1\r\n\r\n"]
    {
        for cut in 0..bad_request.len() {
            assert_eq!(
                check(bad_request.as_bytes(), cut).1,
                Some(StatusCode::BAD_REQUEST),
                "{bad_request:?} cut at {cut}"
            );
        }
    }
}

#[test]
fn what_is_good_before_something_bad_may_pass() {
    let good = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let text = format!("{good}{good}GET / HTTP/1.1\n");
    assert_eq!(check(text.as_bytes(), 0), (2 * good.len(), Some(StatusCode::BAD_REQUEST)));
}

#[test]
fn every_special_byte_is_found_wherever_it_stands_and_nothing_else_is() {
    for byte in 0..=u8::MAX {
        for at in 0..20 {
            let mut bytes = [b'\t', 0x80, b'x', 0xff].repeat(5);
            bytes[at] = byte;
            let expected = (byte < 14 && byte != b'\t').then_some(at);
            assert_eq!(special(&bytes), expected, "{byte} at {at}");
        }
    }
}
