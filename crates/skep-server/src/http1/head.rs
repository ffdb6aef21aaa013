//! The head of a request: request line and header fields (RFC 9112, 2 to 5).
//!
//! It is read once, line by line as they arrive, and stays as it is: of a field, its place is noted. What frames the
//! message is noted on the way.
//!
//! The limits of a head (`limits.header_bytes`, `header_fields`, `url`) are enforced here; for HTTP/2 by hyper
//! (`connection/http2.rs`), `check_http2` (`connection/recipient.rs`) and `connection/exchange.rs`.
//!
//! Start reading at [`HeadReader::read`].

use bytes::Bytes;
use http::{Extensions, Method, StatusCode, Uri, Version};
use skep::request::{FieldPositions, Fields, Parts};

use super::{BodyLength, Framing, Limits, Rejection, Validated, bad_request, reject};

/// Reads a head in bytes that arrive in any number of pieces.
#[derive(Debug, Default)]
pub(crate) struct HeadReader {
    /// Where the current line begins.
    line: usize,
    /// How far it has been searched for its end.
    searched: usize,
    /// The request line, once it is there, and where the fields are from its beginning.
    request: Option<(RequestLine, FieldPositions)>,
    framing: Framing,
}

/// Where the parts of `GET /path HTTP/1.1` are.
#[derive(Clone, Copy, Debug)]
struct RequestLine {
    /// Empty lines before it do not belong to the head.
    start: usize,
    method: usize,
    target: usize,
}

/// A request without its body.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) parts: Box<Parts>,
    pub(crate) body: BodyLength,
    pub(crate) framing: Framing,
}

impl HeadReader {
    /// The head that `bytes` begin with, and its length, once all of it is there. `bytes` begin with those of earlier
    /// calls. A `Host` that is `known_host` is not judged again.
    ///
    /// # Errors
    /// If the head is malformed, whatever follows.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        limits: &Limits,
        known_host: &[u8],
    ) -> Validated<Option<(Head, usize)>> {
        while let Some(end) = line_end(&bytes[self.searched..])? {
            let (start, end) = (self.line, self.searched + end);
            let next = end + 2;
            self.check_length(next, limits)?;
            (self.line, self.searched) = (next, next);
            match &mut self.request {
                // Empty lines before a request are ignored (RFC 9112, 2.2).
                None if start == end => {}
                None => self.request_line(&bytes[start..end], start, limits)?,
                Some((request, fields)) if start < end => {
                    let line = Line { bytes: &bytes[start..end], at: start - request.start };
                    line.note(fields, &mut self.framing, limits, known_host)?;
                }
                Some(_) => {
                    let Some((request, fields)) = self.request.take() else { return Ok(None) };
                    (self.line, self.searched) = (0, 0);
                    return Ok(Some((head(&bytes[request.start..next], request, &self.framing, fields)?, next)));
                }
            }
        }
        // A carriage return at the end is looked at again, with what follows.
        self.searched = bytes.len() - usize::from(bytes.last() == Some(&b'\r'));
        self.check_length(bytes.len(), limits)?;
        if self.request.is_none() {
            Self::check_beginning(&bytes[self.line..], limits)?;
        }
        Ok(None)
    }

    #[inline]
    fn check_length(&self, length: usize, limits: &Limits) -> Validated {
        match (length <= limits.header_bytes, &self.request) {
            (true, _) => Ok(()),
            (false, None) => Err(too_long()),
            (false, Some(_)) => {
                Err(reject(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "the header fields are too long"))
            }
        }
    }

    /// Notes the request line; version 1.1 stands for those after it, too (RFC 9110, 2.5).
    fn request_line(&mut self, line: &[u8], start: usize, limits: &Limits) -> Validated {
        const VERSION: usize = VERSION_1.len() + 1;
        let method = line.iter().position(|byte| *byte == b' ').ok_or(bad_request("the request line is incomplete"))?;
        let rest = &line[method + 1..];
        let Some(target) = rest.len().checked_sub(VERSION) else { return Err(unversioned(rest)) };
        if target > limits.url {
            return Err(too_long());
        }
        match rest[target..].strip_prefix(VERSION_1) {
            Some(minor) if minor[0].is_ascii_digit() => self.framing = Framing::new(minor[0] > b'0'),
            _ => return Err(unversioned(rest)),
        }
        let mut fields = FieldPositions::default();
        fields.reserve();
        self.request = Some((RequestLine { start, method, target }, fields));
        Ok(())
    }

    /// Rejects the beginning of a request line that cannot become one: its client need not send the rest.
    fn check_beginning(partial: &[u8], limits: &Limits) -> Validated {
        if partial.first().is_some_and(|first| *first != b'\r' && !first.is_ascii_graphic()) {
            return Err(bad_request("this is not HTTP"));
        }
        // Called for each piece, so the version of one that comes slowly is near its end; that of others is seen with
        // the whole line.
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

/// The line of a field, and its place in the head.
struct Line<'h> {
    bytes: &'h [u8],
    at: usize,
}

impl Line<'_> {
    /// Notes the field (RFC 9112, 5).
    #[inline]
    fn note(
        &self,
        fields: &mut FieldPositions,
        framing: &mut Framing,
        limits: &Limits,
        known_host: &[u8],
    ) -> Validated {
        let Self { bytes: line, at } = *self;
        if fields.len() >= limits.header_fields {
            return Err(reject(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "there are too many header fields"));
        }
        let colon = name_length(line);
        if colon == 0 || line.get(colon) != Some(&b':') {
            return Err(no_field(line));
        }
        let value = trimmed(&line[colon + 1..], colon + 1);
        framing.note(&line[..colon], &line[value.0..value.1], known_host)?;
        fields.push(&line[..colon], at, (at + value.0, at + value.1));
        Ok(())
    }
}

const VERSION_MARK: &[u8] = b" HTTP/";
const VERSION_1: &[u8] = b" HTTP/1.";

/// What a name consists of (RFC 9110, 5.6.2).
static TOKEN: [bool; 256] = {
    let mut token = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        token[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let mut others: &[u8] = b"!#$%&'*+-.^_`|~";
    while let [other, rest @ ..] = others {
        token[*other as usize] = true;
        others = rest;
    }
    token
};

fn too_long() -> Rejection {
    reject(StatusCode::URI_TOO_LONG, "the address is too long")
}

/// The end of the line: the position of its CR, if the LF has arrived.
#[inline]
fn line_end(bytes: &[u8]) -> Validated<Option<usize>> {
    let Some(at) = control(bytes) else { return Ok(None) };
    match (bytes[at], bytes.get(at + 1)) {
        (b'\r', Some(b'\n')) => Ok(Some(at)),
        (b'\r', None) => Ok(None),
        (b'\r', Some(_)) => Err(bad_request("a carriage return stands alone")),
        (b'\n', _) => Err(bad_request("a line does not end in CR LF")),
        _ => Err(bad_request("there is a control character")),
    }
}

/// The first control character, except for the tab. Checks 16 bytes at a time until one of them is one: this reads
/// every byte of every head.
#[inline]
fn control(bytes: &[u8]) -> Option<usize> {
    let (blocks, _) = bytes.as_chunks::<16>();
    // Without an early return within a block, the compiler looks at all of it with one vector instruction.
    let has_none = |block: &&[u8; 16]| !block.iter().fold(false, |found, byte| found | byte.is_ascii_control());
    let start = 16 * blocks.iter().take_while(has_none).count();
    let (words, rest) = bytes[start..].as_chunks::<8>();
    let mut at = start;
    for word in words {
        let mut found = controls(u64::from_le_bytes(*word));
        while found != 0 {
            let byte = found.trailing_zeros() as usize / 8;
            if word[byte] != b'\t' {
                return Some(at + byte);
            }
            found &= found - 1;
        }
        at += 8;
    }
    rest.iter().position(|byte| byte.is_ascii_control() && *byte != b'\t').map(|byte| at + byte)
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = ONES << 7;

/// The high bits of those of eight bytes that are control characters.
#[inline]
fn controls(word: u64) -> u64 {
    let low = word & !HIGH;
    // The high bit of a byte of the first sum is set from 0x20 on, that of the second one for 0x7f; no sum reaches the
    // next byte.
    (!(low + ONES * 0x60) | (low + ONES)) & !word & HIGH
}

/// The length of the name that these bytes begin with (RFC 9110, 5.6.2). Most names have letters and `-` only, which
/// are seen eight at a time.
#[inline]
fn name_length(line: &[u8]) -> usize {
    let mut at = 0;
    for word in line.as_chunks::<8>().0 {
        let others = !usual(u64::from_le_bytes(*word)) & HIGH;
        if others != 0 {
            at += others.trailing_zeros() as usize / 8;
            break;
        }
        at += 8;
    }
    if line.get(at) == Some(&b':') {
        return at;
    }
    at + line[at..].iter().position(|byte| !TOKEN[usize::from(*byte)]).unwrap_or(line.len() - at)
}

/// The high bits of those of eight bytes that are letters or `-`.
#[inline]
fn usual(word: u64) -> u64 {
    const A: u64 = ONES * 0x61;
    const Z: u64 = ONES * 0x7a;
    const DASH: u64 = ONES * 0x2d;
    let low = (word | (ONES * 0x20)) & !HIGH;
    let is_letter = (low + (HIGH - A)) & !(low + (!HIGH - Z));
    let is_dash = !(((word ^ DASH) & !HIGH) + !HIGH);
    (is_letter | is_dash) & !word & HIGH
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

/// Why a line is no field.
#[cold]
fn no_field(line: &[u8]) -> Rejection {
    match line {
        // Line folding is obsolete (RFC 9112, 5.2).
        [b' ' | b'\t', ..] => bad_request("a header field goes on in a second line"),
        _ if !line.contains(&b':') => bad_request("a header field has no colon"),
        _ => bad_request("a header field has an invalid name"),
    }
}

/// The head of these bytes, whose lines are noted. It has a copy of them.
fn head(bytes: &[u8], request: RequestLine, framing: &Framing, fields: FieldPositions) -> Validated<Head> {
    let method = Method::from_bytes(&bytes[..request.method]).map_err(|_| bad_request("the method is malformed"))?;
    let uri = uri(&bytes[request.method + 1..][..request.target])?;
    let body = framing.body()?;
    let version = if framing.version_11 { Version::HTTP_11 } else { Version::HTTP_10 };
    let headers = Fields::in_head(bytes, fields);
    let parts = Box::new(Parts { method, uri, version, headers, extensions: Extensions::new() });
    Ok(Head { parts, body, framing: *framing })
}

/// The target of a request (RFC 9112, 3.2).
fn uri(target: &[u8]) -> Validated<Uri> {
    if target == b"/" {
        return Ok(Uri::default());
    }
    // A fragment is the client's own (RFC 9110, 7.1), and `Uri` would drop it unseen, whatever it is made of.
    if target.iter().any(|byte| matches!(byte, 0..=b' ' | b'#' | 0x7f)) {
        return Err(bad_request("there is a character in the address that has no place there"));
    }
    let uri =
        Uri::from_maybe_shared(Bytes::copy_from_slice(target)).map_err(|_| bad_request("the address is malformed"))?;
    // `Uri` takes other characters for one, and none at all.
    if uri.scheme_str().is_some_and(|scheme| !is_scheme(scheme)) {
        return Err(bad_request("the scheme of the address is malformed"));
    }
    Ok(uri)
}

/// RFC 3986, 3.1.
fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Where a value at this place begins and ends without the spaces and tabs around it.
#[inline]
fn trimmed(value: &[u8], at: usize) -> (usize, usize) {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    // As nearly everybody writes it.
    if let [b' ', first, .., last] = value
        && !is_space(first)
        && !is_space(last)
    {
        return (at + 1, at + value.len());
    }
    let start = value.iter().position(|byte| !is_space(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
    (at + start, at + end)
}

#[cfg(test)]
#[path = "../../tests/unit/http1/head.rs"]
mod tests;
