//! The requests. Each group is about one part of a message.

use std::fmt::Write;

/// One request, or several on one connection.
pub(super) struct Case {
    pub(super) group: &'static str,
    /// The section that decides: of RFC 9112, unless it says another.
    pub(super) section: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// What follows on the connection where the end of a body is in question.
const NEXT: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

impl Case {
    /// The request as a cell of a table: its end is left out if it is the usual one.
    pub(super) fn shown(&self) -> String {
        let mut bytes = &self.bytes[..];
        let mut more = "";
        if let Some(first) = bytes.strip_suffix(NEXT.as_bytes()).filter(|first| !first.is_empty()) {
            (bytes, more) = (first, " + GET");
        }
        let mut text = String::new();
        for byte in bytes {
            match byte {
                b'\r' => text.push_str("\\r"),
                b'\n' => text.push_str("\\n"),
                b'\t' => text.push_str("\\t"),
                b'|' => text.push_str("\\|"),
                b'`' => text.push_str("\\x60"),
                b' '..=b'~' => text.push(char::from(*byte)),
                other => {
                    let _ = write!(text, "\\x{other:02x}");
                }
            }
        }
        if text.len() > 130 {
            text = format!("{} ... ({} bytes)", &text[..90], bytes.len());
        }
        format!("`{text}`{more}")
    }
}

/// All requests.
pub(super) fn all() -> Vec<Case> {
    [lines(), request_lines(), methods(), targets(), hosts(), fields(), lengths(), encodings(), chunks(), connections()]
        .into_iter()
        .flatten()
        .collect()
}

fn group<B: AsRef<[u8]>>(
    group: &'static str,
    section: &'static str,
    requests: impl IntoIterator<Item = B>,
) -> Vec<Case> {
    requests.into_iter().map(|bytes| Case { group, section, bytes: bytes.as_ref().to_vec() }).collect()
}

fn lines() -> Vec<Case> {
    group(
        "Line endings",
        "2.2",
        [
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
        ],
    )
}

fn request_lines() -> Vec<Case> {
    let lines = [
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
    group("Request lines", "3", lines.map(|line| format!("{line}\r\nHost: a\r\n\r\n")))
}

fn methods() -> Vec<Case> {
    let methods = [
        "get",
        "Get",
        "GETS",
        "G",
        "",
        "PROPFIND",
        "M-SEARCH",
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
        "TRACE",
        "OPTIONS",
        "CONNECT",
        "PRI",
    ];
    let long = "G".repeat(100);
    let all = methods.into_iter().chain([long.as_str()]);
    group("Methods", "3.1; 9110, 5.6.2", all.map(|method| format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n")))
}

fn targets() -> Vec<Case> {
    let targets = [
        "http://a/",
        "http://a",
        "HTTP://a/",
        "https://a/",
        "ftp://a/",
        "http:///",
        "http://b/",
        "http://u:p@a/",
        "http://a:80/",
        "http://a:/",
        "http://a:99999/",
        "//a/",
        "///",
        "a",
        "a:80",
        "*",
        "?",
        "?a=b",
        "/?",
        "/#",
        "/#a",
        "/?#",
        "/a/../",
        "/../",
        "/./",
        "/%2e%2e/",
        "/%2E",
        "/%00",
        "/%0a",
        "/%0d%0a",
        "/%",
        "/%2",
        "/%zz",
        "/%u0041",
        "/%ff",
        "/\u{e4}",
        "/\x00",
        "/\x01",
        "/\x7f",
        "/a\x0bb",
        "/\"",
        "/<>",
        "/\\",
        "/a\\..\\b",
        "/^",
        "/`",
        "/{}",
        "/|",
        "/[]",
        "/;a",
        "/a;b=c",
        "/:",
        "/@",
        "/!$&'()*+,;=",
        "/%41",
        "/a%2fb",
        "/a%5cb",
        "/.",
        "/..",
    ];
    let long = format!("/{}", "a".repeat(9000));
    let all = targets.into_iter().chain([long.as_str()]);
    group("Targets", "3.2", all.map(|target| format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")))
}

fn hosts() -> Vec<Case> {
    let fields = [
        "",
        "Host:\r\n",
        "Host: \r\n",
        "Host: a\r\nHost: a\r\n",
        "Host: a\r\nHost: b\r\n",
        "Host: a, b\r\n",
        "Host: a b\r\n",
        "Host: a:80\r\n",
        "Host: a:\r\n",
        "Host: a:b\r\n",
        "Host: a:99999\r\n",
        "Host: :80\r\n",
        "Host: u@a\r\n",
        "Host: a/b\r\n",
        "Host: a?b\r\n",
        "Host: a#b\r\n",
        "Host: [::1]\r\n",
        "Host: [::1]:80\r\n",
        "Host: [::1\r\n",
        "Host: ::1\r\n",
        "Host: [a]\r\n",
        "Host: a_b\r\n",
        "Host: %61\r\n",
        "Host: a\\b\r\n",
        "Host: a\"b\r\n",
        "Host: \u{e4}\r\n",
        "Host: a\x00b\r\n",
        "Host : a\r\n",
        "host: a\r\n",
        "HOST: a\r\n",
        "Host: http://a\r\n",
        "Host: a.\r\n",
        "Host: .a\r\n",
        "Host: -\r\n",
        "Host: 1.2.3\r\n",
        "Host:\ta\t\r\n",
    ];
    let mut all = group("Host", "3.2; 9110, 7.2", fields.map(|field| format!("GET / HTTP/1.1\r\n{field}\r\n")));
    all.extend(group("Host", "3.2", ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"]));
    all.extend(group(
        "Host",
        "3.2.2",
        ["GET http://b/ HTTP/1.1\r\n\r\n", "GET http://b/ HTTP/1.1\r\nHost: a/b\r\n\r\n"],
    ));
    all
}

fn fields() -> Vec<Case> {
    let fields = [
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
    let mut all =
        group("Header fields", "5", fields.map(|field| format!("GET / HTTP/1.1\r\nHost: a\r\n{field}\r\n\r\n")));
    let many = |count: usize| "X: a\r\n".repeat(count);
    let large = |count: usize| format!("X: {}\r\n", "a".repeat(count));
    all.extend(group(
        "Header fields",
        "9110, 5.4",
        [many(90), many(200), large(4000), large(9000), large(70_000)]
            .map(|field| format!("GET / HTTP/1.1\r\nHost: a\r\n{field}\r\n")),
    ));
    all
}

fn lengths() -> Vec<Case> {
    let fields = [
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
    group(
        "Content-Length",
        "6.2, 6.3",
        fields.map(|field| format!("POST / HTTP/1.1\r\nHost: a\r\n{field}\r\n\r\nhello{NEXT}")),
    )
}

fn encodings() -> Vec<Case> {
    let fields = [
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
    let body = "5\r\nhello\r\n0\r\n\r\n";
    let mut all = group(
        "Transfer-Encoding",
        "6.1, 6.3",
        fields.map(|field| format!("POST / HTTP/1.1\r\nHost: a\r\n{field}\r\n\r\n{body}{NEXT}")),
    );
    all.extend(group(
        "Transfer-Encoding",
        "6.1",
        [
            format!("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}{NEXT}"),
            format!(
                "POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n{body}{NEXT}"
            ),
            format!("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}{NEXT}"),
        ],
    ));
    all
}

fn chunks() -> Vec<Case> {
    let bodies = [
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
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    group("Chunks", "7.1", bodies.map(|body| format!("{head}{body}{NEXT}")))
}

fn connections() -> Vec<Case> {
    let heads = [
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
    group("Connections and pipelines", "9; 9110, 10.1.1", heads.map(|head| format!("{head}{NEXT}")))
}
