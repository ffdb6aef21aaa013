//! One request and its response, over a connection that blocks.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use crate::parser::Parser;

/// The most that is read of one response, in bytes.
const LARGEST: usize = 256 << 20;

/// A response, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Names in small letters, and values, as they came.
    pub fields: Vec<(String, String)>,
    /// The body, without chunks.
    pub body: Vec<u8>,
    /// Whether the connection may carry another request.
    pub keeps: bool,
}

/// The bytes of a GET request. With `last`, it asks the server to close the connection.
///
/// ```
/// let request = skep_client::get("/", "localhost", true);
/// assert_eq!(request, b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
/// ```
#[must_use]
pub fn get(path: &str, host: &str, last: bool) -> Vec<u8> {
    let connection = if last { "connection: close\r\n" } else { "" };
    format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{connection}\r\n").into_bytes()
}

/// Sends `request` and reads the response. `to_head`: the request is a HEAD, so the response has no body.
///
/// Set a read timeout of `timeout` on the stream; a response that comes in pieces must end within it too. Errors: what
/// the stream says; `UnexpectedEof` if the server closes the connection too early; `TimedOut`; `InvalidData` if the
/// response is malformed or larger than 256 MiB.
///
/// ```no_run
/// use std::time::Duration;
///
/// let mut stream = std::net::TcpStream::connect("127.0.0.1:8800")?;
/// let request = skep_client::get("/", "localhost", true);
/// assert_eq!(skep_client::exchange(&mut stream, &request, false, Duration::from_secs(5))?.status, 200);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn exchange(
    stream: &mut (impl Read + Write),
    request: &[u8],
    to_head: bool,
    timeout: Duration,
) -> io::Result<Response> {
    let latest = Instant::now() + timeout;
    stream.write_all(request)?;
    let (mut parser, mut raw, mut body) = (Parser::default(), Vec::new(), Vec::new());
    let mut chunk = vec![0; 16 << 10];
    loop {
        let length = match stream.read(&mut chunk) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no response in {timeout:?}")));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // TLS says so of a connection that ends without a farewell.
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
            other => other.unwrap_or(0),
        };
        if body.is_empty() {
            raw.extend_from_slice(&chunk[..length]);
        }
        let (taken, complete) = parser
            .feed_body(&chunk[..length], to_head, |bytes| body.extend_from_slice(bytes))
            .map_err(|error| invalid(format!("the response is malformed: {error}")))?;
        if let Some(complete) = if length == 0 { parser.end() } else { complete } {
            // Bytes behind the response belong to no request.
            let keeps = complete.keeps && taken == length;
            return Ok(Response { status: complete.status, fields: fields(&raw), body, keeps });
        }
        let so_far = body.len().max(raw.len());
        if length == 0 {
            let text = format!("the server closed the connection after {so_far} bytes of the response");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        if Instant::now() > latest || so_far > LARGEST {
            return Err(invalid(format!("the response has no end: {so_far} bytes so far, and more to come")));
        }
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
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

    /// A server whose responses are these pieces, one for each read.
    struct Scripted(Vec<&'static str>);

    impl Read for Scripted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0).as_bytes();
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    impl Write for Scripted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn response(pieces: &[&'static str]) -> io::Result<Response> {
        exchange(&mut Scripted(pieces.to_vec()), b"", false, Duration::from_mins(1))
    }

    #[test]
    fn a_response_in_pieces_is_put_together() {
        let whole = response(&["HTTP/1.1 200 OK\r\nContent-", "Length: 5\r\nX: y\r\n\r\nHe", "llo"]).unwrap();
        assert_eq!((whole.status, whole.body.as_slice(), whole.keeps), (200, &b"Hello"[..], true));
        assert_eq!(whole.fields, [("content-length".into(), "5".into()), ("x".into(), "y".into())]);
    }

    #[test]
    fn a_connection_is_not_kept_after_close_or_with_bytes_behind_the_response() {
        assert!(!response(&["HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"]).unwrap().keeps);
        assert!(!response(&["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nmore"]).unwrap().keeps);
        let until_the_end = response(&["HTTP/1.1 200 OK\r\n\r\n", "all of it"]).unwrap();
        assert_eq!((until_the_end.body.as_slice(), until_the_end.keeps), (&b"all of it"[..], false));
    }

    #[test]
    fn a_response_that_is_none_says_why() {
        let kind = |pieces: &[&'static str]| response(pieces).unwrap_err().kind();
        assert_eq!(kind(&["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nHe"]), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind(&["SSH-2.0-OpenSSH\r\n\r\n"]), io::ErrorKind::InvalidData);
    }

    #[test]
    fn fields_are_those_of_the_response_and_not_of_a_hint() {
        let raw = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type:  text/plain\r\n\r\nHTTP/1.1\n\nx: y";
        assert_eq!(fields(raw), [("content-type".to_owned(), "text/plain".to_owned())]);
    }
}
