//! What becomes of a connection, and what follows on it.

use super::{Case, NEXT, because, group};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = group("Connections and pipelines", "9; 9110, 10.1.1", FIRST.map(with_next));
    because(
        &mut cases,
        ["GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"].map(with_next),
        "A server may omit the 100 if the framing says that there is no content (RFC 9110, 10.1.1).",
    );
    because(
        &mut cases,
        [
            "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
            "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\nhello",
        ]
        .map(with_next),
        "A server may omit the 100 if it has received some of the content (RFC 9110, 10.1.1). To a client that waits it is sent as soon as the handler reads.",
    );
    because(
        &mut cases,
        ["GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n"].map(with_next),
        "A server may respond with 417 to another expectation (RFC 9110, 10.1.1); no other is in use, and the request can be served.",
    );
    cases
}

fn with_next(first: &str) -> String {
    format!("{first}{NEXT}")
}

const FIRST: [&str; 23] = [
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, close\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: \"close\"\r\n\r\n",
    "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
    "GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive, x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\nhello",
    "POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n \r\n",
];
