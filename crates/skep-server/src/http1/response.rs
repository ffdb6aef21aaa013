//! The head of a response.

use http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode};

/// How a client learns where the body ends (RFC 9112, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseLength {
    /// There is no body; the fields say what they say.
    None,
    Known(u64),
    Chunked,
    /// With the connection.
    Close,
}

/// The first line of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatusLine {
    /// HTTP/1.1, or else 1.0.
    pub(crate) version_11: bool,
    pub(crate) status: StatusCode,
}

/// Writes status line and fields, and others that are written already. Those that frame the body and the connection are the server's own.
pub(crate) fn write_head(
    out: &mut Vec<u8>,
    line: StatusLine,
    headers: &HeaderMap,
    written: &[u8],
    length: ResponseLength,
    connection: Option<&str>,
    date: &[u8],
) {
    let StatusLine { version_11, status } = line;
    out.reserve(256 + written.len());
    out.extend_from_slice(if version_11 { b"HTTP/1.1 " } else { b"HTTP/1.0 " });
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\r\n");
    let mut has_date = false;
    for (name, value) in headers {
        match *name {
            TRANSFER_ENCODING | CONNECTION => continue,
            CONTENT_LENGTH if length != ResponseLength::None => continue,
            DATE => has_date = true,
            _ => {}
        }
        write_field(out, name.as_str(), value.as_bytes());
    }
    out.extend_from_slice(written);
    match length {
        ResponseLength::Known(length) => write_length(out, length),
        ResponseLength::Chunked => write_field(out, "transfer-encoding", b"chunked"),
        ResponseLength::None | ResponseLength::Close => {}
    }
    if let Some(connection) = connection {
        write_field(out, "connection", connection.as_bytes());
    }
    if !has_date {
        write_field(out, "date", date);
    }
    out.extend_from_slice(b"\r\n");
}

#[inline]
fn write_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.reserve(name.len() + value.len() + 4);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn write_length(out: &mut Vec<u8>, mut length: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(length % 10).expect("a digit");
        length /= 10;
        if length == 0 {
            break;
        }
    }
    write_field(out, "content-length", &digits[at..]);
}

#[cfg(test)]
#[path = "../../tests/unit/http1/response.rs"]
mod tests;
