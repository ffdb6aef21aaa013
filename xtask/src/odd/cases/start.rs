//! Line endings, request lines and methods.

use super::{Case, because, group};

pub(super) fn cases() -> Vec<Case> {
    let lines = group("Line endings", "2.2", LINES);
    let mut request_lines = group("Request lines", "3", REQUEST_LINES.map(with_line));
    because(
        &mut request_lines,
        ["GET /"].map(with_line),
        "A request line has a version; HTTP/0.9, of which a client of today knows nothing, is not served (RFC 9112, 3).",
    );
    let long = "G".repeat(100);
    let methods = METHODS.into_iter().chain([long.as_str()]);
    let methods =
        group("Methods", "3.1; 9110, 5.6.2", methods.map(|method| format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n")));
    [lines, request_lines, methods].into_iter().flatten().collect()
}

fn with_line(line: &str) -> String {
    format!("{line}\r\nHost: a\r\n\r\n")
}

const LINES: [&str; 18] = [
    "GET / HTTP/1.1\nHost: a\n\n",
    "GET / HTTP/1.1\r\nHost: a\n\r\n",
    "GET / HTTP/1.1\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n\n",
    "GET / HTTP/1.1\rHost: a\r\r",
    "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n",
    "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n",
    "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    " \r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n \r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n\r",
    "GET / HTTP/1.1\n\rHost: a\n\r\n\r",
];

const REQUEST_LINES: [&str; 38] = [
    "GET  / HTTP/1.1",
    "GET /  HTTP/1.1",
    " GET / HTTP/1.1",
    "GET / HTTP/1.1 ",
    "GET\t/ HTTP/1.1",
    "GET /\tHTTP/1.1",
    "GET / HTTP/1.1\t",
    "GET /\x0bHTTP/1.1",
    "GET /",
    "GET",
    "GET / ",
    "GET HTTP/1.1",
    "GET / HTTP/1.1 HTTP/1.1",
    "GET / x HTTP/1.1",
    "GET / HTTP/0.9",
    "GET / HTTP/1.0",
    "GET / HTTP/1.2",
    "GET / HTTP/1.9",
    "GET / HTTP/2.0",
    "GET / HTTP/2",
    "GET / HTTP/3.0",
    "GET / HTTP/9.9",
    "GET / HTTP/1",
    "GET / HTTP/1.",
    "GET / HTTP/.1",
    "GET / HTTP/1.10",
    "GET / HTTP/1.01",
    "GET / HTTP/01.1",
    "GET / HTTP/11.1",
    "GET / HTTP/1,1",
    "GET / HTTP/1.1x",
    "GET / HTTP/-1.1",
    "GET / HTTP/1 .1",
    "GET / http/1.1",
    "GET / Http/1.1",
    "GET / HTTPS/1.1",
    "GET / HTTP 1.1",
    "GET / ICY/1.1",
];

const METHODS: [&str; 22] = [
    "get",
    "Get",
    "GETS",
    "G",
    "",
    "G!#$%&'*+-.^_~",
    "G`T",
    "G|T",
    "G(T",
    "G/T",
    "G:T",
    "G\"T",
    "G\\T",
    "G[T",
    "G{T",
    "G,T",
    "G@T",
    "G\x01T",
    "G\x7fT",
    "G\u{e4}T",
    "CONNECT",
    "PRI",
];
