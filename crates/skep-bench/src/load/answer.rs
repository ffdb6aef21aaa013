//! One answer, whole: to see whether a server is there, and whether two give the same.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

use super::parser::Parser;
use super::target::Address;
use super::tls::Tls;
use super::{RequestSpec, Target, Trust, Version, h2};

/// The most that is read, in bytes.
const LARGEST: usize = 256 << 20;

/// An answer, whole.
///
/// See [`fetch`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Names in small letters, and values, as they came.
    pub fields: Vec<(String, String)>,
    /// The body, without chunks.
    pub body: Vec<u8>,
    /// From before the connection was made to the end of the answer.
    pub took: Duration,
}

impl Answer {
    /// The first field of this name (small letters). See [`fetch`].
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
    }
}

/// Asks once, over a connection of its own, and waits.
///
/// ```no_run
/// use std::time::Duration;
/// use skep_bench::load::{RequestSpec, Trust, Version, fetch};
///
/// let target = "http://127.0.0.1:8080/".parse()?;
/// let answer = fetch(&target, &RequestSpec::get("/"), &Trust::System, Version::Http1, Duration::from_secs(5))?;
/// assert_eq!(answer.field("content-type"), Some("text/html"));
/// # Ok::<(), String>(())
/// ```
pub fn fetch(
    target: &Target,
    spec: &RequestSpec,
    trust: &Trust,
    version: Version,
    patience: Duration,
) -> Result<Answer, String> {
    let begun = Instant::now();
    let (status, fields, body) = match version {
        Version::Http1 => over_http1(target, spec, trust, patience),
        Version::Http2 => h2::fetch(target, spec, trust, patience),
    }?;
    Ok(Answer { status, fields, body, took: begun.elapsed() })
}

fn over_http1(target: &Target, spec: &RequestSpec, trust: &Trust, patience: Duration) -> Result<h2::Whole, String> {
    let address = target.resolve()?;
    let tls = Tls::of(target, trust, b"http/1.1")?;
    let wrong = |error: io::Error| format!("{address}: {error}");
    let bytes = spec.written(target, false);
    match &address {
        Address::Tcp(to) => {
            let stream = TcpStream::connect_timeout(to, patience).map_err(wrong)?;
            stream.set_read_timeout(Some(patience)).map_err(wrong)?;
            stream.set_write_timeout(Some(patience)).map_err(wrong)?;
            stream.set_nodelay(true).map_err(wrong)?;
            talk(stream, tls, &bytes, spec.is_head(), patience)
        }
        Address::Unix(path) => {
            let stream = UnixStream::connect(path).map_err(wrong)?;
            stream.set_read_timeout(Some(patience)).map_err(wrong)?;
            stream.set_write_timeout(Some(patience)).map_err(wrong)?;
            talk(stream, tls, &bytes, spec.is_head(), patience)
        }
    }
    .map_err(|text| format!("{address}: {text}"))
}

fn talk(
    mut stream: impl Read + Write,
    tls: Option<Tls>,
    request: &[u8],
    to_head: bool,
    patience: Duration,
) -> Result<h2::Whole, String> {
    let Some(tls) = tls else { return exchange(&mut stream, request, to_head, patience) };
    let connection = ClientConnection::new(Arc::clone(&tls.config), tls.name).map_err(|error| error.to_string())?;
    exchange(&mut StreamOwned::new(connection, stream), request, to_head, patience)
}

fn exchange(
    stream: &mut (impl Read + Write),
    request: &[u8],
    to_head: bool,
    patience: Duration,
) -> Result<h2::Whole, String> {
    let latest = Instant::now() + patience;
    stream.write_all(request).map_err(|error| error.to_string())?;
    let (mut parser, mut raw, mut body) = (Parser::default(), Vec::new(), Vec::new());
    let mut chunk = vec![0; 64 << 10];
    loop {
        let length = match stream.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(format!("no answer in {patience:?}"));
            }
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error.to_string()),
            other => other.unwrap_or(0),
        };
        if body.is_empty() {
            raw.extend_from_slice(&chunk[..length]);
        }
        let fed = parser.feed_body(&chunk[..length], to_head, |bytes| body.extend_from_slice(bytes));
        let (_, answer) = fed.map_err(|error| format!("the answer is malformed: {error}"))?;
        if let Some(answer) = if length == 0 { parser.end() } else { answer } {
            return Ok((answer.status, fields(&raw), body));
        }
        if length == 0 {
            return Err("the server closed the connection before the answer was complete".into());
        }
        let length = body.len().max(raw.len());
        if Instant::now() > latest || length > LARGEST {
            return Err(format!("the answer has no end: {length} bytes so far, and more to come"));
        }
    }
}

/// The fields of the last head in `raw`, which begins with interim ones, if any.
fn fields(raw: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(raw).replace("\r\n", "\n");
    let mut heads = text.split("\n\n").take_while(|head| head.starts_with("HTTP/1."));
    let is_last = |head: &&str| !head.split(' ').nth(1).is_some_and(|status| status.starts_with('1'));
    let head = heads.find(is_last).unwrap_or_default();
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_answer_and_not_of_a_hint() {
        let raw = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type:  text/plain\r\n\r\nHTTP/1.1\n\nx: y";
        assert_eq!(fields(raw), [("content-type".to_owned(), "text/plain".to_owned())]);
    }
}
