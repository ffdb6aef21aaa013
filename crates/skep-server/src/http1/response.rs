//! The head of a response.

use http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode};
use skep::HeaderBlock;
use skep::response::Written;

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

/// The fields of a response, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResponseFields<'r> {
    pub(crate) content_type: Option<&'static str>,
    pub(crate) headers: Option<&'r HeaderMap>,
    /// Lines that are written already.
    pub(crate) written: &'r [u8],
}

impl<'r> ResponseFields<'r> {
    pub(crate) fn of(response: &'r Written) -> Self {
        let written = response.block.as_ref().map_or(&[][..], HeaderBlock::as_bytes);
        Self { content_type: response.content_type, headers: response.headers.as_deref(), written }
    }
}

/// Writes status line and fields. Those that frame the body and the connection are the server's own. `date` is a line.
pub(crate) fn write_head(
    out: &mut Vec<u8>,
    line: StatusLine,
    fields: ResponseFields<'_>,
    length: ResponseLength,
    connection: Option<&str>,
    date: &[u8; DATE_LINE],
) {
    let StatusLine { version_11, status } = line;
    out.reserve(256 + fields.written.len());
    if version_11 && status == StatusCode::OK {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
    } else {
        let reason = status.canonical_reason().unwrap_or_default();
        let version = if version_11 { "HTTP/1.1 " } else { "HTTP/1.0 " };
        for part in [version, status.as_str(), " ", reason, "\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    if let Some(content_type) = fields.content_type {
        write_value(out, b"content-type: ", content_type.as_bytes());
    }
    let mut has_date = false;
    for (name, value) in fields.headers.into_iter().flatten() {
        match *name {
            TRANSFER_ENCODING | CONNECTION => continue,
            CONTENT_LENGTH if length != ResponseLength::None => continue,
            DATE => has_date = true,
            _ => {}
        }
        out.extend_from_slice(name.as_str().as_bytes());
        write_value(out, b": ", value.as_bytes());
    }
    out.extend_from_slice(fields.written);
    match length {
        ResponseLength::Known(length) => write_length(out, length),
        ResponseLength::Chunked => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
        ResponseLength::None | ResponseLength::Close => {}
    }
    if let Some(connection) = connection {
        write_value(out, b"connection: ", connection.as_bytes());
    }
    if !has_date {
        out.extend_from_slice(date);
    }
    out.extend_from_slice(b"\r\n");
}

/// A line of a length that is known when this is compiled takes few instructions.
pub(crate) const DATE_LINE: usize = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n".len();

/// Writes a value between what stands before it and the end of its line.
#[inline]
fn write_value<const N: usize>(out: &mut Vec<u8>, before: &[u8; N], value: &[u8]) {
    out.extend_from_slice(before);
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
    write_value(out, b"content-length: ", &digits[at..]);
}

#[cfg(test)]
#[path = "../../tests/unit/http1/response.rs"]
mod tests;
