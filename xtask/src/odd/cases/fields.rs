//! Header fields.

use super::{Case, because, group};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = group("Header fields", "5", FIELDS.map(|field| with_fields(&format!("{field}\r\n"))));
    let many = |count: usize| with_fields(&"X: a\r\n".repeat(count));
    let large = |count: usize| with_fields(&format!("X: {}\r\n", "a".repeat(count)));
    cases.extend(group("Header fields", "9110, 5.4", [many(90), many(200), large(4000), large(9000), large(70_000)]));
    because(
        &mut cases,
        [many(200)],
        "A server that gets more fields than it wishes to process must respond with a 4xx (RFC 9110, 5.4; the 431 is RFC 6585's, 5). \
         `limits.header_fields` is 100; nginx, Go and Node bound the bytes only.",
    );
    cases
}

fn with_fields(fields: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

const FIELDS: [&str; 46] = [
    "X : a",
    "X\t: a",
    " X: a",
    "\tX: a",
    "X",
    ":",
    ": a",
    "X:",
    "X: ",
    "X:a",
    "X:\ta\t",
    "X: a\r\n b",
    "X: a\r\n\tb",
    "X: a\r\n \r\n b",
    "X(: a",
    "X@: a",
    "X\": a",
    "X/: a",
    "X[: a",
    "X\\: a",
    "X\u{e4}: a",
    "X\x00: a",
    "X\x7f: a",
    "X Y: a",
    "X: a\x00b",
    "X: a\x01b",
    "X: a\x0bb",
    "X: a\x0cb",
    "X: a\x1fb",
    "X: a\x7fb",
    "X: \u{e4}",
    "X: \u{ff}",
    "X: a: b",
    "X: \"a",
    "X: (a",
    "X_Y: a",
    "1: a",
    "-: a",
    "!#$%&'*+-.^_`|~: a",
    "Content-Type: a",
    "Accept: ,",
    "Range: bytes=0-0",
    "Range: bytes=1-0",
    "Range: x",
    "If-Modified-Since: x",
    "Cookie: \x01",
];
