//! The head of a request: request line and header fields (RFC 9112, 2 to 5).

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, StatusCode, Uri, Version};

use super::{BodyLength, Framing, Rejection, Validated, bad_request, reject};
use crate::config::Limits;

/// Finds the end of a head in bytes that arrive in any number of pieces. Each byte is looked at once.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    /// Where the current line begins.
    line: usize,
    /// How far it has been searched for its end.
    searched: usize,
    /// The request line has been seen, and this many fields.
    in_fields: bool,
    fields: usize,
}

/// A request without its body.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) parts: Parts,
    pub(crate) body: BodyLength,
    pub(crate) framing: Framing,
}

impl Scanner {
    /// The length of the head that `bytes` begin with, once all of it is there. `bytes` begin with those of earlier calls.
    ///
    /// # Errors
    /// If the head can be none, whatever follows.
    pub(crate) fn scan(&mut self, bytes: &[u8], limits: &Limits) -> Validated<Option<usize>> {
        while let Some(end) = line_end(&bytes[self.searched..])? {
            let (line, end) = (&bytes[self.line..self.searched + end], self.searched + end + 2);
            self.check_length(end, limits)?;
            (self.line, self.searched) = (end, end);
            match (self.in_fields, line.is_empty()) {
                // Empty lines before a request are ignored (RFC 9112, 2.2).
                (false, true) => {}
                (false, false) => {
                    request_line(line, limits)?;
                    self.in_fields = true;
                }
                (true, false) => self.field(line, limits)?,
                (true, true) => {
                    *self = Self::default();
                    return Ok(Some(end));
                }
            }
        }
        // A carriage return at the end is looked at again, with what follows.
        self.searched = bytes.len() - usize::from(bytes.last() == Some(&b'\r'));
        self.check_length(bytes.len(), limits)?;
        if !self.in_fields {
            Self::check_beginning(&bytes[self.line..], limits)?;
        }
        Ok(None)
    }

    #[inline]
    fn check_length(&self, length: usize, limits: &Limits) -> Validated {
        match (length <= limits.header_bytes, self.in_fields) {
            (true, _) => Ok(()),
            (false, false) => Err(too_long()),
            (false, true) => Err(reject(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "the header fields are too long")),
        }
    }

    #[inline]
    fn field(&mut self, line: &[u8], limits: &Limits) -> Validated {
        self.fields += 1;
        if self.fields > limits.header_fields {
            return Err(reject(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "there are too many header fields"));
        }
        // Line folding is obsolete (RFC 9112, 5.2).
        if matches!(line[0], b' ' | b'\t') {
            return Err(bad_request("a header field goes on in a second line"));
        }
        Ok(())
    }

    /// Rejects the beginning of a request line that cannot become one: its client need not send the rest.
    fn check_beginning(partial: &[u8], limits: &Limits) -> Validated {
        if partial.first().is_some_and(|first| *first != b'\r' && !first.is_ascii_graphic()) {
            return Err(bad_request("this is not HTTP"));
        }
        // Called for each piece, so the version of one that comes slowly is near its end; that of others is seen with the whole line.
        let tail = &partial[partial.len().saturating_sub(2 * VERSION_1.len())..];
        if let Some(version) = tail.windows(VERSION_MARK.len()).rposition(|part| part == VERSION_MARK) {
            let version = &tail[version..];
            let known = version.len().min(VERSION_1.len());
            if version[..known] != VERSION_1[..known]
                || version.get(VERSION_1.len()).is_some_and(|minor| !minor.is_ascii_digit())
            {
                return Err(unversioned(version));
            }
        }
        // The longest registered method has 17 letters.
        if partial.len() > limits.url + 32 { Err(too_long()) } else { Ok(()) }
    }
}

const VERSION_MARK: &[u8] = b" HTTP/";
const VERSION_1: &[u8] = b" HTTP/1.";

fn too_long() -> Rejection {
    reject(StatusCode::URI_TOO_LONG, "the address is too long")
}

/// The end of the line: the position of its CR, if the LF has arrived.
#[inline]
fn line_end(bytes: &[u8]) -> Validated<Option<usize>> {
    let Some(at) = special(bytes) else { return Ok(None) };
    match (bytes[at], bytes.get(at + 1)) {
        (b'\r', Some(b'\n')) => Ok(Some(at)),
        (b'\r', None) => Ok(None),
        (b'\r', Some(_)) => Err(bad_request("a carriage return stands alone")),
        (b'\n', _) => Err(bad_request("a line does not end in CR LF")),
        _ => Err(bad_request("there is a control character")),
    }
}

/// The first control character up to CR, except for the tab. Checks eight bytes at a time: this reads every byte of every head, and lines are too
/// short for vector instructions.
#[inline]
fn special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // Sets the high bit of each byte that is less than 14 (the first of them is always right).
        let mut found = word.wrapping_sub(ONES * 14) & !word & HIGH;
        while found != 0 {
            let at = index * 8 + found.trailing_zeros() as usize / 8;
            if is_special(bytes[at]) {
                return Some(at);
            }
            found &= found - 1;
        }
    }
    let rest_at = bytes.len() - rest.len();
    rest.iter().position(|byte| is_special(*byte)).map(|at| rest_at + at)
}

#[inline]
fn is_special(byte: u8) -> bool {
    byte < 14 && byte != b'\t'
}

/// The parts of `GET /path HTTP/1.1`; true for version 1.1 and those after it (RFC 9110, 2.5).
#[inline]
fn request_line<'l>(line: &'l [u8], limits: &Limits) -> Validated<(&'l [u8], &'l [u8], bool)> {
    const VERSION: usize = VERSION_1.len() + 1;
    let method = line.iter().position(|byte| *byte == b' ').ok_or(bad_request("the request line is incomplete"))?;
    let rest = &line[method + 1..];
    let Some(target) = rest.len().checked_sub(VERSION) else { return Err(unversioned(rest)) };
    if target > limits.url {
        return Err(too_long());
    }
    match rest[target..].strip_prefix(VERSION_1) {
        Some(minor) if minor[0].is_ascii_digit() => Ok((&line[..method], &rest[..target], minor[0] > b'0')),
        _ => Err(unversioned(rest)),
    }
}

fn unversioned(rest: &[u8]) -> Rejection {
    let version = rest.iter().rposition(|byte| *byte == b' ').map_or(rest, |space| &rest[space + 1..]);
    match version.strip_prefix(b"HTTP/") {
        Some(number) if number.first().is_some_and(u8::is_ascii_digit) => {
            reject(StatusCode::HTTP_VERSION_NOT_SUPPORTED, "this server speaks HTTP/1.1, HTTP/1.0 and HTTP/2")
        }
        _ => bad_request("the request line does not end in HTTP/1.1"),
    }
}

/// Parses a head of which a [`Scanner`] has found the end. Its fields share one copy of the bytes.
///
/// # Errors
/// If a part is not what it stands for, or the end of the body is doubtful.
pub(crate) fn parse(head: &[u8], limits: &Limits) -> Validated<Head> {
    let start = head.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(0);
    let block = Bytes::copy_from_slice(&head[start..]);
    let mut lines = Lines(&block);
    let (method, target, version_11) = request_line(lines.next().unwrap_or_default(), limits)?;
    let (mut parts, ()) = http::Request::new(()).into_parts();
    parts.method = Method::from_bytes(method).map_err(|_| bad_request("the method is none"))?;
    // A fragment is the client's own (RFC 9110, 7.1), and `Uri` would drop it unseen, whatever it is made of.
    if target.iter().any(|byte| matches!(byte, 0..=b' ' | b'#' | 0x7f)) {
        return Err(bad_request("there is a character in the address that has no place there"));
    }
    parts.uri = Uri::from_maybe_shared(block.slice_ref(target)).map_err(|_| bad_request("the address is none"))?;
    // `Uri` takes other characters for one, and none at all.
    if parts.uri.scheme_str().is_some_and(|scheme| !is_scheme(scheme)) {
        return Err(bad_request("the scheme of the address is none"));
    }
    parts.version = if version_11 { Version::HTTP_11 } else { Version::HTTP_10 };
    let mut framing = Framing::new(version_11);
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = field(line)?;
        framing.note(&name, value)?;
        let value = HeaderValue::from_maybe_shared(block.slice_ref(value));
        let value = value.map_err(|_| bad_request("there is a control character in a header field"))?;
        headers.append(name, value);
    }
    parts.headers = headers;
    Ok(Head { parts, body: framing.body()?, framing })
}

/// RFC 3986, 3.1.
fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Name and value of a field (RFC 9112, 5).
#[inline]
fn field(line: &[u8]) -> Validated<(HeaderName, &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':').ok_or(bad_request("a header field has no colon"))?;
    let name = HeaderName::from_bytes(&line[..colon]).map_err(|_| bad_request("the name of a header field is none"))?;
    Ok((name, trimmed(&line[colon + 1..])))
}

/// Without spaces and tabs around it.
fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// The lines of a head, up to the empty one.
struct Lines<'b>(&'b [u8]);

impl<'b> Iterator for Lines<'b> {
    type Item = &'b [u8];

    #[inline]
    fn next(&mut self) -> Option<&'b [u8]> {
        let end = special(self.0)?;
        let line = &self.0[..end];
        self.0 = self.0.get(end + 2..)?;
        (!line.is_empty()).then_some(line)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/http1/head.rs"]
mod tests;
