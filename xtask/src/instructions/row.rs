//! What is asked of which server, and asking it.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What is counted.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// A program that is built.
    pub(super) server: &'static str,
    pub(super) flags: &'static [&'static str],
    /// Method and path.
    target: &'static str,
    /// Beside `Host`.
    fields: &'static str,
    /// Repeated behind the beginning of the form that is sent, if one is.
    form: Option<&'static str>,
    /// How many requests are sent at once.
    at_once: u64,
    /// The number of requests of the first run; the second has twice as many.
    pub(super) requests: u64,
    /// What is in the response.
    says: &'static str,
}

const PATIENCE: Duration = Duration::from_mins(1);

const FEW: &str = "User-Agent: wrk/4.1\r\nAccept: */*\r\n";

/// What a browser sends when somebody enters an address.
const BROWSER: &str = "Connection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"140\", \"Not=A?Brand\";v=\"24\"\r\n\
    sec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Linux\"\r\nUpgrade-Insecure-Requests: 1\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n\
    Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\nSec-Fetch-Dest: document\r\n\
    Accept-Language: en-US,en;q=0.9\r\n";

const NO_LOG: &[&str] = &["--set", "log.access=false"];

/// Nothing is kept of a page, so that each request makes it.
const NO_PAGES: &[&str] = &["--set", "log.access=false", "--cache", "pages=null"];

const HELLO: Row = Row {
    name: "hello",
    server: "hello",
    flags: NO_LOG,
    target: "GET /",
    fields: FEW,
    form: None,
    at_once: 1,
    requests: 800,
    says: "Hello, world!",
};

const BLOG: Row = Row { server: "blog", flags: NO_PAGES, requests: 200, ..HELLO };

const TASKS: Row = Row { server: "skep-tasks", ..HELLO };

/// All of them, in the order in which they are counted.
pub(super) const ROWS: [Row; 9] = [
    HELLO,
    Row { name: "hello, 16 pipelined", at_once: 16, ..HELLO },
    Row { name: "hello, the fields of a browser", fields: BROWSER, ..HELLO },
    Row { name: "hello, with the access log", flags: &[], ..HELLO },
    Row { name: "list", says: "<h1>The Skep blog</h1>", ..BLOG },
    Row { name: "article", target: "GET /writings/measure-first", says: "<h2", ..BLOG },
    Row { name: "json", target: "GET /json", says: "\"slug\":", ..TASKS },
    Row { name: "form", target: "POST /form", form: Some("so+it+was+"), says: "980 bytes from Anna Bee", ..TASKS },
    Row { name: "session", target: "GET /session", says: "<h1>Welcome back, Anna</h1>", ..TASKS },
];

impl Row {
    /// Sends requests over one connection. The first one brings a cookie, perhaps; all responses are as long as the
    /// second one.
    pub(super) fn ask(&self, address: &str, requests: u64) -> io::Result<()> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(self.request(address, "").as_bytes())?;
        let first = response(&mut stream)?;
        let request = self.request(address, &cookie(&first));
        stream.write_all(request.as_bytes())?;
        let expected = response(&mut stream)?;
        let is_right = |response: &[u8]| String::from_utf8_lossy(response).contains(self.says);
        let at_once = usize::try_from(self.at_once).unwrap_or(1);
        let (heads, mut responses) = (request.repeat(at_once), expected.repeat(at_once));
        for _ in 0..requests / self.at_once {
            stream.write_all(heads.as_bytes())?;
            stream.read_exact(&mut responses)?;
        }
        let last = &responses[responses.len() - expected.len()..];
        if is_right(&expected) && is_right(last) { Ok(()) } else { Err(invalid(last)) }
    }

    fn request(&self, address: &str, cookie: &str) -> String {
        let Self { target, fields, .. } = self;
        let head = format!("{target} HTTP/1.1\r\nHost: {address}\r\n{fields}{cookie}");
        let Some(words) = self.form else { return head + "\r\n" };
        let form = format!("name=Anna+Bee&email=anna%40example.org&text={}so+it+was.", words.repeat(97));
        let of_form = "Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded";
        format!("{head}{of_form}\r\nContent-Length: {}\r\n\r\n{form}", form.len())
    }
}

/// Reads a response with a length.
fn response(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut response = Vec::new();
    while !response.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        response.push(byte[0]);
    }
    let length = field(&response, "content-length").and_then(|length| length.parse().ok());
    let head = response.len();
    response.resize(head + length.unwrap_or(0), 0);
    stream.read_exact(&mut response[head..])?;
    Ok(response)
}

/// The field that sends back the cookie of a response, if it has one.
fn cookie(response: &[u8]) -> String {
    let cookie = field(response, "set-cookie");
    cookie.and_then(|cookie| cookie.split(';').next()).map_or_else(String::new, |pair| format!("Cookie: {pair}\r\n"))
}

/// The value of a field of a response.
fn field<'r>(response: &'r [u8], name: &str) -> Option<&'r str> {
    let lines = response.split(|byte| *byte == b'\n').take_while(|line| *line != b"\r");
    let mut fields = lines.filter_map(|line| std::str::from_utf8(line).ok()?.trim_end().split_once(": "));
    fields.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn invalid(response: &[u8]) -> io::Error {
    let text = format!("this was not expected: {}", String::from_utf8_lossy(&response[..response.len().min(2000)]));
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_sent_back_and_a_form_has_a_kilobyte() {
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nset-cookie: a=b; Path=/\r\n\r\nset-cookie: c=d\r\n";
        assert_eq!((cookie(response), field(response, "content-length")), ("Cookie: a=b\r\n".to_owned(), Some("2")));
        assert_eq!(field(b"HTTP/1.1 200 OK\r\n\r\nset-cookie: c=d\r\n", "set-cookie"), None);
        let form = ROWS.iter().find(|row| row.name == "form").unwrap().request("localhost", "");
        let (head, body) = form.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())) && body.len() > 1000, "{form}");
    }
}
