//! Validates the bytes of HTTP/1 before hyper parses them, so that only unambiguous messages pass.
//!
//! Where a lenient parser and a strict one disagree on the end of a request, requests can be smuggled (RFC 9112, 11.2). So a head with doubtful
//! framing is rejected here. The values of other fields are not checked, and hyper may still reject what passes.
//!
//! Start reading at [`Validator::check`].

use http::StatusCode;

use crate::authority;
use crate::config::Limits;

/// Why a message is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: StatusCode,
    pub(crate) message: &'static str,
}

/// Follows the messages of one connection.
#[derive(Debug, Default)]
pub(crate) struct Validator {
    state: State,
    head: Head,
    /// A line whose end has not arrived.
    partial: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before or in a request line.
    #[default]
    RequestLine,
    Fields,
    /// In a body; this many bytes are left.
    Body(u64),
    /// In a chunked body. The connection ends after this message, so nothing behind it is validated.
    Chunked,
}

/// What is known about the head that is being read.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    bytes: usize,
    fields: usize,
    version_11: bool,
    host: bool,
    chunked: bool,
    length: Option<u64>,
}

type Validated<T = ()> = Result<T, Rejection>;

const fn reject(status: StatusCode, message: &'static str) -> Rejection {
    Rejection { status, message }
}

const fn bad_request(message: &'static str) -> Rejection {
    reject(StatusCode::BAD_REQUEST, message)
}

impl Validator {
    /// True between the first byte of a head and its end.
    pub(crate) fn in_head(&self) -> bool {
        self.head.bytes > 0
    }

    /// True if bytes of a body are still to come.
    pub(crate) fn in_body(&self) -> bool {
        matches!(self.state, State::Body(_) | State::Chunked)
    }

    /// True if the current message has a chunked body.
    pub(crate) fn in_chunked(&self) -> bool {
        self.state == State::Chunked
    }

    /// Validates the next bytes, and returns how many of them may pass. Of a rejected head none may, though those of earlier calls have passed.
    pub(crate) fn check(&mut self, bytes: &[u8], limits: &Limits) -> (usize, Option<Rejection>) {
        let mut at = 0;
        let mut good = 0;
        while at < bytes.len() {
            match self.state {
                State::Chunked => return (bytes.len(), None),
                State::Body(left) => {
                    let here = left.min((bytes.len() - at) as u64);
                    self.state = if left == here { State::RequestLine } else { State::Body(left - here) };
                    at += usize::try_from(here).expect("not more than a slice holds");
                    good = at;
                }
                State::RequestLine | State::Fields => match self.take_line(&bytes[at..], limits) {
                    Ok(taken) => {
                        at += taken;
                        if !self.in_head() {
                            good = at;
                        }
                    }
                    Err(refusal) => return (good, Some(refusal)),
                },
            }
        }
        (bytes.len(), None)
    }

    /// Takes one line or the beginning of one, and returns its length.
    fn take_line(&mut self, bytes: &[u8], limits: &Limits) -> Validated<usize> {
        if self.partial.is_empty() {
            return self.take_whole_line(bytes, limits);
        }
        let taken = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
        self.buffer_partial(&bytes[..taken], limits)?;
        if let Some(end) = line_end(&self.partial)? {
            let line = std::mem::take(&mut self.partial);
            self.line(&line[..end], limits)?;
        }
        Ok(taken)
    }

    #[inline]
    fn take_whole_line(&mut self, bytes: &[u8], limits: &Limits) -> Validated<usize> {
        let Some(end) = line_end(bytes)? else {
            return self.buffer_partial(bytes, limits).map(|()| bytes.len());
        };
        self.count(end + 2, limits)?;
        self.line(&bytes[..end], limits)?;
        Ok(end + 2)
    }

    fn buffer_partial(&mut self, bytes: &[u8], limits: &Limits) -> Validated {
        self.count(bytes.len(), limits)?;
        let first = self.partial.is_empty() && self.state == State::RequestLine;
        if first && bytes[0] != b'\r' && !bytes[0].is_ascii_graphic() {
            return Err(bad_request("this is not HTTP"));
        }
        self.partial.extend_from_slice(bytes);
        if self.state == State::RequestLine {
            early_version(&self.partial)?;
        }
        // The longest registered method has 17 letters.
        if self.state == State::RequestLine && self.partial.len() > limits.url + 32 {
            return Err(reject(StatusCode::URI_TOO_LONG, "the address is too long"));
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self, bytes: usize, limits: &Limits) -> Validated {
        self.head.bytes += bytes;
        if self.head.bytes <= limits.header_bytes {
            return Ok(());
        }
        Err(match self.state {
            State::RequestLine => reject(StatusCode::URI_TOO_LONG, "the address is too long"),
            _ => reject(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "the header fields are too long"),
        })
    }

    fn line(&mut self, line: &[u8], limits: &Limits) -> Validated {
        match self.state {
            // Empty lines before a request are ignored (RFC 9112, 2.2).
            State::RequestLine if line.is_empty() => Ok(()),
            State::RequestLine => {
                self.head.version_11 = request_line(line, limits)?;
                self.state = State::Fields;
                Ok(())
            }
            _ if line.is_empty() => self.end_head(),
            _ => self.field(line, limits),
        }
    }

    fn field(&mut self, line: &[u8], limits: &Limits) -> Validated {
        self.head.fields += 1;
        if self.head.fields > limits.header_fields {
            return Err(reject(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "there are too many header fields"));
        }
        match line[0] {
            b' ' | b'\t' => Err(bad_request("a header field goes on in a second line")),
            b'h' | b'H' => value_of(line, b"host").map_or(Ok(()), |value| self.host(value)),
            b'c' | b'C' => value_of(line, b"content-length").map_or(Ok(()), |value| self.content_length(value)),
            b't' | b'T' => value_of(line, b"transfer-encoding").map_or(Ok(()), |value| self.transfer_encoding(value)),
            _ => Ok(()),
        }
    }

    fn host(&mut self, value: &[u8]) -> Validated {
        if std::mem::replace(&mut self.head.host, true) {
            return Err(bad_request("there are two Host fields"));
        }
        // An absolute target has the host, and ignores this one (RFC 9112, 3.2.2).
        let is_host = value.is_empty() || authority::is_valid(value);
        if is_host { Ok(()) } else { Err(bad_request("Host is not the name of a host")) }
    }

    fn content_length(&mut self, value: &[u8]) -> Validated {
        if self.head.length.is_some() {
            return Err(bad_request("there are two Content-Length fields"));
        }
        self.head.length = Some(decimal(value).ok_or(bad_request("Content-Length is not a number"))?);
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Validated {
        if !self.head.version_11 {
            return Err(bad_request("HTTP/1.0 has no Transfer-Encoding"));
        }
        if self.head.chunked {
            return Err(bad_request("there are two Transfer-Encoding fields"));
        }
        if !value.eq_ignore_ascii_case(b"chunked") {
            return Err(reject(StatusCode::NOT_IMPLEMENTED, "the only Transfer-Encoding here is chunked"));
        }
        self.head.chunked = true;
        Ok(())
    }

    fn end_head(&mut self) -> Validated {
        let head = std::mem::take(&mut self.head);
        if head.version_11 && !head.host {
            return Err(bad_request("there is no Host field"));
        }
        self.state = match (head.chunked, head.length) {
            (true, Some(_)) => return Err(bad_request("there are both Content-Length and Transfer-Encoding")),
            (true, None) => State::Chunked,
            (false, None | Some(0)) => State::RequestLine,
            (false, Some(length)) => State::Body(length),
        };
        Ok(())
    }
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

/// Validates `GET /path HTTP/1.1`; true for version 1.1.
fn request_line(line: &[u8], limits: &Limits) -> Validated<bool> {
    const VERSION: usize = " HTTP/1.1".len();
    let method = line.iter().position(|byte| *byte == b' ').ok_or(bad_request("the request line is incomplete"))?;
    let rest = &line[method + 1..];
    let Some(target) = rest.len().checked_sub(VERSION) else { return Err(unversioned(rest)) };
    if target > limits.url {
        return Err(reject(StatusCode::URI_TOO_LONG, "the address is too long"));
    }
    match &rest[target..] {
        b" HTTP/1.1" => Ok(true),
        b" HTTP/1.0" => Ok(false),
        _ => Err(unversioned(rest)),
    }
}

/// Validates the part of the version that has arrived: otherwise hyper would reject it before the line is complete, with its own status.
fn early_version(partial: &[u8]) -> Validated {
    const MARK: &[u8] = b" HTTP/";
    // Called for each piece, so a wrong version is never far from the end.
    let tail = &partial[partial.len().saturating_sub(2 * MARK.len())..];
    let Some(at) = tail.windows(MARK.len()).rposition(|window| window == MARK) else { return Ok(()) };
    let version = &tail[at..tail.len().min(at + b" HTTP/1.1".len())];
    let fits = b" HTTP/1.1".starts_with(version) || b" HTTP/1.0".starts_with(version);
    if fits { Ok(()) } else { Err(unversioned(version)) }
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

/// The trimmed value of this line, if its field name is `name`.
fn value_of<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

/// hyper uses the two largest numbers as markers.
const MOST: u64 = u64::MAX - 2;

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|length| *length <= MOST)
}

#[cfg(test)]
#[path = "../../tests/unit/connection/validator.rs"]
mod tests;
