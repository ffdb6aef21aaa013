//! What the fuzz targets begin with.

const FORMS: &[&str] = &[
    "a=x&b=one%0D%0Atwo&c=ann%40example.org&d=https%3A%2F%2Fexample.org&e=-3&f=1.25&g=2026-11-21&h=18:30&i=2026-11-21T18:30",
    "a=&j=on&k=note&l=note&l=question&m=1.5&m=&m=-2e3",
    "n.0.name=x&n.0.count=1&n.7.name=y&n.7.count=9&n.7.gift=on&n.7.id=3&n.2.name=",
    "a=%00&a=%ff&%=&=&&a&+=+&n.x.name=1&n.00.count=2&n.4294967295.name=z",
];

const ADDRESSES: &[&str] =
    &["a%20b?q=%C3%A9&list=1&list=2", "-7/one/two%2Fthree?n=3", "%2e%2e/%2E?q=+&q", "~../a//b/?list=&n=07", "form?x#y"];

const LINKS: &[&str] =
    &["..\u{1}a/../b\u{1}+ &=?#%\u{1}one\u{1}", "\u{1}\u{1}", "é/\\\u{1}//x\u{1}javascript:", "~.%2e\u{0}"];

const HEADS: &[&str] = &[
    "Content-Disposition: form-data; name=\"text\"",
    "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain",
    "content-disposition: form-data; name=file; filename*=UTF-8''%e2%82%ac.png",
    "Content-Disposition: form-data; name=\"file\"; filename=\"\"\r\nContent-Type: application/octet-stream",
];

const COOKIES: &[&str] = &[
    "mine=1",
    "a=\"x\"; mine=\"2\"; mine=3",
    " mine = 4;mine=",
    "mine;=;;mine=\";\"",
    "mine=\"",
    "other=\u{e9}; mine=5",
];

/// The first letter of each line says which field it is: `d` is `Forwarded`, `e` to `g` are `X-Forwarded-For`,
/// `-Proto`, `-Host`.
const FORWARDED: &[&str] = &[
    "dfor=192.0.2.1;proto=https;host=example.org, for=\"[2001:db8::1]:80\"",
    "e192.0.2.1, 10.0.0.2\nfhttps\ngexample.org:8443\nh8443, ",
    "e\u{e9}, unknown\ne[::1]:1, ::ffff:10.0.0.3",
    "dfor=\"10.0.0.2\\\"\nfhttp\ndFor=_hidden ; by=x;;",
    "d, ,for=\"10.0.0.2, for=6.6.6.6\"\ne10.0.0.2",
];

const PROXY_HEADERS: &[&[u8]] = &[
    b"PROXY TCP4 192.0.2.1 10.0.0.1 4711 80\r\nGET /",
    b"PROXY TCP6 2001:db8::1 ::1 4711 80\r\n",
    b"PROXY UNKNOWN\r\n",
    b"PROXY UNKNOWN and whatever else there is\r\n",
    b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\x0a\0\0\x01\x12\x67\0\x50GET",
    b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x14\xc0\0\x02\x01\x0a\0\0\x01\x12\x67\0\x50\x20\0\x05\x01\0\0\0\0",
    b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
];

const SEALED: &[&str] = &["reset\0ann@example.org", "\0", "a text", "\u{1}\u{2}\0\u{e9}\"\\"];

/// How it asks, the number of values, and each with its type: null, integer, real, text, bytes.
const PACKED: &[&[u8]] = &[
    b"\0\x02\0\0\0\0\x01\x07\0\0\0\0\0\0\0",
    b"\x04\x02\0\0\0\x02\0\0\0\0\0\0\xf8\x7f\x03\x02\0\0\0\xc3\xa9",
    b"\x08\x02\0\0\0\x04\x03\0\0\0\0\xff\x01\x03\0\0\0\0",
    b"\x01\x01\0\0\0\0",
    b"\0\xff\xff\xff\xff",
    b"\0",
];

/// The first two bytes say where it is cut.
const REQUESTS: &[&[u8]] = &[
    b"\x07\x00GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
    b"\x20\x00\r\nPOST http://x:80/a?b HTTP/1.2\r\nhost:\ty \r\nTransfer-Encoding: chunked\r\nConnection: a, Close\r\n\r\n",
    b"\x00\x00OPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"\x10\x00GET / HTTP/1.1\nHost: x\n\n",
    b"\x10\x00GET /#\xff x HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x10\x00GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
];

const MESSAGES: &[&[u8]] = &[
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\nPOST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET",
    b"GET http://x:80/a?b HTTP/1.1\r\nHost: y\r\nPragma: no-cache\r\n\r\nCONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\nOPTIONS * HTTP/1.1\r\nHost:\r\n\r\n",
    b"HEAD /%41 HTTP/1.0\r\nConnection: x, Keep-Alive\r\nExpect: 100-continue\r\n\r\n\r\n\r\nGET / HTTP/1.2\r\nhost:\tx \r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nTrailer: A\r\nTE: trailers\r\nTransfer-Encoding: Chunked\r\n\r\n000A ;a=\"b\r\n0123456789\r\n00\r\n\r\nGET",
    b"PUT /\xc3\xa4 HTTP/1.1\r\nHost: [::1]:80\r\nExpect: 100-Continue\r\nContent-Length: 05\r\nA: \xff\r\nA:\r\n\r\nhello\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, close\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
];

const CHUNKS: &[&[u8]] = &[
    b"\x05\x005\r\nhello\r\n0\r\n\r\n",
    b"\x02\x00a;b=\"c\"\r\n0123456789\r\n000\r\nTrailer: x\r\n\r\nGET",
    b"\x00\x00ffffffffffffffff\r\n",
    b"\x00\x000\r\nabc\r\n0\r\n\r\n",
    b"\x03\x001\na\n0\n\n",
];

/// Decisions, one in each byte.
const DECISIONS: &[&[u8]] = &[
    b"",
    b"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19",
    b"one decision after another, until none is left for this seed of a target",
    b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7\xf6\xf5\xf4\xf3\xf2\xf1\xf0\xef\xee\xed\xec\xeb\xea",
];

/// How long the pieces are, and frames.
const FRAMES: &[&[u8]] = &[
    b"\x06\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84",
    b"\x01\0\0\x06\x01\x04\0\0\0\x01\x82\x86\x44\x02/#\0\0\x01\x01\x05\0\0\0\x01\x88",
    b"\x40\0\0\x01\x01\0\0\0\0\x05\x82\0\0\x02\x09\x04\0\0\0\x05\x86\x84\0\0",
];

/// The seeds of each target.
#[must_use]
pub fn all() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let texts = |list: &[&str]| list.iter().map(|text| text.as_bytes().to_vec()).collect();
    let bytes = |list: &[&[u8]]| list.iter().map(|bytes| bytes.to_vec()).collect();
    vec![
        ("form", texts(FORMS)),
        ("address", texts(ADDRESSES)),
        ("link", texts(LINKS)),
        ("multipart", HEADS.iter().enumerate().map(|(at, head)| body(at, head)).collect()),
        ("cookies", texts(COOKIES)),
        ("forwarded", texts(FORWARDED)),
        ("proxy_header", bytes(PROXY_HEADERS)),
        ("sealed", texts(SEALED)),
        ("packed", bytes(PACKED)),
        ("head", bytes(REQUESTS)),
        ("framing", bytes(MESSAGES)),
        ("messages", bytes(MESSAGES)),
        ("chunks", bytes(CHUNKS)),
        ("frames", bytes(FRAMES)),
        ("header_blocks", bytes(DECISIONS)),
        ("languages", bytes(DECISIONS)),
        ("part_heads", bytes(DECISIONS)),
    ]
}

/// A form with three parts of this head, and how it is cut in pieces.
fn body(at: usize, head: &str) -> Vec<u8> {
    let mut body = vec![u8::try_from(at * 5).unwrap_or_default()];
    for content in ["", "text\r\n--", "\r\n--bb\r\n--b \u{e9}"] {
        body.extend_from_slice(format!("--b\r\n{head}\r\n\r\n{content}\r\n").as_bytes());
    }
    body.extend_from_slice(b"--b--\r\n");
    body
}
