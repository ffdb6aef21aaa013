//! The smallest client that can check an answer: one GET, read to its end.
//!
//! It is strict where the bench would go wrong otherwise, and knows no redirects, no compression and no trailers.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Longest wait for one read.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most that an answer may hold: bytes.
const LIMIT: usize = 16 << 20;

/// An answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// From the status line to the blank line, with it.
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// Whether the head says how long the body is.
    pub(crate) sized: bool,
}

/// The request that every load sends, byte by byte.
pub(crate) fn request(port: u16, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")
}

/// The same, of a client that wants no more than this one answer.
pub(crate) fn closing_request(port: u16, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")
}

/// An answer to [`closing_request`], of which only so much is known.
pub(crate) struct Closed {
    pub(crate) status: u16,
    /// Bytes, from the first to the end of the connection.
    pub(crate) length: usize,
}

/// Asks once, over a connection that the server closes.
pub(crate) fn get_and_close(port: u16, path: &str) -> io::Result<Closed> {
    let mut stream = connect(port)?;
    stream.write_all(closing_request(port, path).as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let answer = parse(&bytes)?.ok_or_else(|| invalid("the answer has no end"))?;
    Ok(Closed { status: answer.status, length: bytes.len() })
}

/// Asks once, over a connection of its own.
pub(crate) fn get(port: u16, path: &str) -> io::Result<Answer> {
    let mut stream = connect(port)?;
    stream.write_all(request(port, path).as_bytes())?;
    read(&mut stream)
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn read(stream: &mut impl Read) -> io::Result<Answer> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        let length = stream.read(&mut chunk)?;
        bytes.extend_from_slice(&chunk[..length]);
        if let Some(answer) = parse(&bytes)? {
            return Ok(answer);
        }
        if length == 0 || bytes.len() > LIMIT {
            return Err(invalid("the answer has no end"));
        }
    }
}

/// The answer, once it is all there.
fn parse(bytes: &[u8]) -> io::Result<Option<Answer>> {
    let Some(end) = find(bytes, b"\r\n\r\n") else { return Ok(None) };
    let (head, rest) = bytes.split_at(end + 4);
    let text = std::str::from_utf8(head).map_err(|_| invalid("the head is not text"))?;
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| invalid("no status"))?;
    let length = field(text, "content-length").map(|length| length.parse::<usize>().map_err(|_| invalid("no length")));
    let length = length.transpose()?;
    let body = match length {
        Some(length) => rest.get(..length).map(<[u8]>::to_vec),
        None if field(text, "transfer-encoding").is_some_and(|coding| coding == "chunked") => chunks(rest)?,
        None => return Err(invalid("neither a length nor chunks")),
    };
    Ok(body.map(|body| Answer { status, head: head.to_vec(), body, sized: length.is_some() }))
}

/// A field's value, by its name in small letters.
fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.filter(|(its, _)| its.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

/// A chunked body without its chunks, once the last one is there (RFC 9112, 7.1).
fn chunks(mut rest: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let Some(end) = find(rest, b"\r\n") else { return Ok(None) };
        let size = std::str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.ok_or_else(|| invalid("no chunk size"))?;
        let Some(chunk) = rest.get(end + 2..end + 2 + size + 2) else { return Ok(None) };
        if size == 0 {
            return Ok(Some(body));
        }
        body.extend_from_slice(&chunk[..size]);
        rest = &rest[end + 2 + size + 2..];
    }
}

/// Where a piece begins.
pub(crate) fn find(bytes: &[u8], piece: &[u8]) -> Option<usize> {
    bytes.windows(piece.len()).position(|window| window == piece)
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_ends_where_its_length_says() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(parse(&bytes[..bytes.len() - 1]).unwrap(), None);
        let answer = parse(bytes).unwrap().unwrap();
        assert_eq!((answer.status, &answer.body[..], answer.sized), (200, &b"hello"[..], true));
        assert_eq!(answer.head.len() + answer.body.len(), bytes.len());
    }

    #[test]
    fn chunks_are_put_together() {
        let bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n";
        for cut in 0..bytes.len() {
            assert_eq!(parse(&bytes[..cut]).unwrap(), None, "cut at {cut}");
        }
        assert_eq!(parse(bytes).unwrap().unwrap().body, b"hello!");
    }

    #[test]
    fn an_answer_that_never_ends_is_an_error() {
        assert!(read(&mut &b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort"[..]).is_err());
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
