//! Where a body ends: `Content-Length`, `Transfer-Encoding` and chunks.

use super::{Case, NEXT, because, group};

pub(super) fn cases() -> Vec<Case> {
    [lengths(), encodings(), chunks()].into_iter().flatten().collect()
}

fn lengths() -> Vec<Case> {
    let request = |field: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{field}\r\n\r\nhello{NEXT}");
    let mut cases = group("Content-Length", "6.2, 6.3", LENGTHS.map(request));
    because(
        &mut cases,
        ["Content_Length: 5", "X: a", "Content-Length: 0"].map(request),
        "The request has no body (RFC 9112, 6.3), so the next one begins with `hello`. `helloGET` is a token, and so a method (RFC 9110, 9.1): the \
         application says that it has none of that name. All agree on where the requests end.",
    );
    cases
}

fn encodings() -> Vec<Case> {
    let request = |line: &str, fields: &str| format!("{line}\r\nHost: a\r\n{fields}\r\n\r\n{BODY}{NEXT}");
    let post = |field: &str| request("POST / HTTP/1.1", field);
    let kept = request("POST / HTTP/1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked");
    let get = request("GET / HTTP/1.1", "Transfer-Encoding: chunked");
    let mut cases = group("Transfer-Encoding", "6.1, 6.3", ENCODINGS.map(post));
    cases.extend(group(
        "Transfer-Encoding",
        "6.1",
        [request("POST / HTTP/1.0", "Transfer-Encoding: chunked"), kept.clone(), get],
    ));
    because(
        &mut cases,
        [kept],
        "A message of HTTP/1.0 with Transfer-Encoding must be treated as if its framing were faulty, and its connection closed (RFC 9112, 6.1).",
    );
    cases
}

fn chunks() -> Vec<Case> {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let request = |body: &str| format!("{head}{body}{NEXT}");
    let mut cases = group("Chunks", "7.1", CHUNKS.map(request));
    because(
        &mut cases,
        ["7fffffffffffffff\r\nhello\r\n0\r\n\r\n"].map(request),
        "A recipient must anticipate large sizes (RFC 9112, 7.1). Nobody sends a chunk of 8 exbibytes, so the server does not wait for it.",
    );
    cases
}

const BODY: &str = "5\r\nhello\r\n0\r\n\r\n";

const LENGTHS: [&str; 34] = [
    "Content-Length: 5",
    "Content-Length: +5",
    "Content-Length: -5",
    "Content-Length: 0x5",
    "Content-Length: 05",
    "Content-Length: 5 ",
    "Content-Length:5",
    "Content-Length:\t5",
    "Content-Length: 5,5",
    "Content-Length: 5, 5",
    "Content-Length: 5, 6",
    "Content-Length: ,5",
    "Content-Length: 5\r\nContent-Length: 5",
    "Content-Length: 5\r\nContent-Length: 6",
    "Content-Length: 6\r\nContent-Length: 5",
    "Content-Length:",
    "Content-Length: 5.0",
    "Content-Length: 5e0",
    "Content-Length: 5;",
    "Content-Length: 5 5",
    "Content-Length: \"5\"",
    "Content-Length: five",
    "Content-Length: 00000000000000000000000000000005",
    "Content-Length: 18446744073709551621",
    "Content-Length: 4294967301",
    "Content-Length: 5\x00",
    "Content-Length: 5\x0b",
    "Content-Length: \u{665}",
    "Content-Length : 5",
    "Content_Length: 5",
    "Content-Length: 5\r\nContent-Length:",
    "content-length: 5",
    "X: a",
    "Content-Length: 0",
];

const ENCODINGS: [&str; 34] = [
    "Transfer-Encoding: chunked",
    "transfer-encoding: Chunked",
    "Transfer-Encoding: CHUNKED",
    "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: chunked, gzip",
    "Transfer-Encoding: gzip",
    "Transfer-Encoding: identity",
    "Transfer-Encoding: identity, chunked",
    "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding: chunkedx",
    "Transfer-Encoding: \"chunked\"",
    "Transfer-Encoding: chunked;a=b",
    "Transfer-Encoding: chunked;",
    "Transfer-Encoding: ,chunked",
    "Transfer-Encoding: chunked,",
    "Transfer-Encoding:\tchunked",
    "Transfer-Encoding: \x0bchunked",
    "Transfer-Encoding: chunked\x00",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding:",
    "Transfer-Encoding: x",
    " Transfer-Encoding: chunked",
    "Transfer-Encoding:\r\n chunked",
    "Transfer_Encoding: chunked",
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Content-Length: 15\r\nTransfer-Encoding: identity",
    "Content-Length: x\r\nTransfer-Encoding: chunked",
    "TE: chunked",
];

const CHUNKS: [&str; 47] = [
    "0\r\n\r\n",
    "000\r\n\r\n",
    "5\r\nhello\r\n00\r\n\r\n",
    "A\r\n0123456789\r\n0\r\n\r\n",
    "a\r\n0123456789\r\n0\r\n\r\n",
    "0000000000000000000005\r\nhello\r\n0\r\n\r\n",
    "0x5\r\nhello\r\n0\r\n\r\n",
    "+5\r\nhello\r\n0\r\n\r\n",
    "-5\r\nhello\r\n0\r\n\r\n",
    " 5\r\nhello\r\n0\r\n\r\n",
    "5 \r\nhello\r\n0\r\n\r\n",
    "5\t\r\nhello\r\n0\r\n\r\n",
    "5 5\r\nhello\r\n0\r\n\r\n",
    "5;\r\nhello\r\n0\r\n\r\n",
    "5;a\r\nhello\r\n0\r\n\r\n",
    "5;a=b\r\nhello\r\n0\r\n\r\n",
    "5 ; a = b\r\nhello\r\n0\r\n\r\n",
    "5;a=\"b;c\"\r\nhello\r\n0\r\n\r\n",
    "5;a=\"b\r\nhello\r\n0\r\n\r\n",
    "5;a\nhello\r\n0\r\n\r\n",
    "5;a\rb\r\nhello\r\n0\r\n\r\n",
    "5;\x00\r\nhello\r\n0\r\n\r\n",
    "5,a\r\nhello\r\n0\r\n\r\n",
    "5x\r\nhello\r\n0\r\n\r\n",
    "5\nhello\r\n0\r\n\r\n",
    "5\rhello\r\n0\r\n\r\n",
    "5\r\nhello\n0\r\n\r\n",
    "5\r\nhello0\r\n\r\n",
    "5\r\nhello\r0\r\n\r\n",
    "5\r\nhelloXX0\r\n\r\n",
    "5\r\nhello\r\n0\n\n",
    "5\r\nhello\r\n0\r\n\n",
    "5\r\nhello\r\n0\r\n\rX",
    "5\r\nhello\r\n\r\n0\r\n\r\n",
    "6\r\nhello\r\n0\r\n\r\n",
    "4\r\nhello\r\n0\r\n\r\n",
    "5\r\nhello\r\n0\r\nX: a\r\n\r\n",
    "5\r\nhello\r\n0\r\nX : a\r\n\r\n",
    "5\r\nhello\r\n0\r\nX\r\n\r\n",
    "5\r\nhello\r\n0\r\n X: a\r\n\r\n",
    "5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n",
    "5\r\nhello\r\n0\r\nHost: b\r\n\r\n",
    "g\r\nhello\r\n0\r\n\r\n",
    "\r\nhello\r\n0\r\n\r\n",
    "10000000000000005\r\nhello\r\n0\r\n\r\n",
    "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
    "7fffffffffffffff\r\nhello\r\n0\r\n\r\n",
];
