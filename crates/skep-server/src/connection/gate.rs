//! Looks at the bytes of HTTP/1 before the parser does, and lets only strict messages through.
//!
//! Where a lenient reader and a strict one disagree on where a request ends, requests can be smuggled (RFC 9112, 11.2).
//! So a head whose framing is not beyond doubt is refused here, whatever the parser behind would make of it. What a
//! field's value means is none of the gate's business, and what it lets through the parser may still refuse.
//!
//! Start reading at [`Gate::check`].

use http::StatusCode;

/// What one head may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Bytes of request line and fields together.
    pub(crate) bytes: usize,
    /// Number of fields.
    pub(crate) fields: usize,
    /// Bytes of the request's target.
    pub(crate) target: usize,
}

/// Why a message was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: &'static str,
}

/// Follows the messages of one connection.
#[derive(Debug)]
pub(crate) struct Gate {
    state: State,
    head: Head,
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or in a request line.
    RequestLine,
    Fields,
    /// In a body; so many bytes are to come.
    Body(u64),
    /// In a chunked body. The connection ends after this message, so nothing behind it is looked at.
    Chunked,
}

/// What is known of the head that is being read.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    bytes: usize,
    fields: usize,
    version_11: bool,
    host: bool,
    chunked: bool,
    length: Option<u64>,
}

type Checked<T = ()> = Result<T, Refusal>;

const fn refuse(status: StatusCode, message: &'static str) -> Refusal {
    Refusal { status, message }
}

const fn bad(message: &'static str) -> Refusal {
    refuse(StatusCode::BAD_REQUEST, message)
}

impl Gate {
    pub(crate) const fn new() -> Self {
        let head = Head { bytes: 0, fields: 0, version_11: false, host: false, chunked: false, length: None };
        Self { state: State::RequestLine, head, partial: Vec::new() }
    }

    /// True between the first byte of a head and its end.
    pub(crate) fn in_head(&self) -> bool {
        self.head.bytes > 0
    }

    /// True if bytes of a body are still to come.
    pub(crate) fn in_body(&self) -> bool {
        matches!(self.state, State::Body(_) | State::Chunked)
    }

    /// True if the message that was read last has a chunked body.
    pub(crate) fn in_chunked(&self) -> bool {
        self.state == State::Chunked
    }

    /// Looks at the next bytes, and says how many of them may pass. Of a refused head not one byte counts as good,
    /// though those of earlier calls are gone.
    pub(crate) fn check(&mut self, bytes: &[u8], bounds: &Bounds) -> (usize, Option<Refusal>) {
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
                State::RequestLine | State::Fields => match self.take_line(&bytes[at..], bounds) {
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

    /// Takes one line, or what there is of it, and says how many bytes that was.
    fn take_line(&mut self, bytes: &[u8], bounds: &Bounds) -> Checked<usize> {
        if self.partial.is_empty() {
            return self.take_whole_line(bytes, bounds);
        }
        let taken = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
        self.keep(&bytes[..taken], bounds)?;
        if let Some(end) = line_end(&self.partial)? {
            let line = std::mem::take(&mut self.partial);
            self.line(&line[..end], bounds)?;
        }
        Ok(taken)
    }

    #[inline]
    fn take_whole_line(&mut self, bytes: &[u8], bounds: &Bounds) -> Checked<usize> {
        let Some(end) = line_end(bytes)? else {
            return self.keep(bytes, bounds).map(|()| bytes.len());
        };
        self.count(end + 2, bounds)?;
        self.line(&bytes[..end], bounds)?;
        Ok(end + 2)
    }

    fn keep(&mut self, bytes: &[u8], bounds: &Bounds) -> Checked {
        self.count(bytes.len(), bounds)?;
        let first = self.partial.is_empty() && self.state == State::RequestLine;
        if first && bytes[0] != b'\r' && !bytes[0].is_ascii_graphic() {
            return Err(bad("this is not HTTP"));
        }
        self.partial.extend_from_slice(bytes);
        if self.state == State::RequestLine {
            early_version(&self.partial)?;
        }
        // The longest method in use has 16 letters.
        if self.state == State::RequestLine && self.partial.len() > bounds.target + 32 {
            return Err(refuse(StatusCode::URI_TOO_LONG, "the address is too long"));
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self, bytes: usize, bounds: &Bounds) -> Checked {
        self.head.bytes += bytes;
        if self.head.bytes <= bounds.bytes {
            return Ok(());
        }
        Err(match self.state {
            State::RequestLine => refuse(StatusCode::URI_TOO_LONG, "the address is too long"),
            _ => refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "the header fields are too long"),
        })
    }

    fn line(&mut self, line: &[u8], bounds: &Bounds) -> Checked {
        match self.state {
            // Empty lines before a request are left over from the one before (RFC 9112, 2.2).
            State::RequestLine if line.is_empty() => Ok(()),
            State::RequestLine => {
                self.head.version_11 = request_line(line, bounds)?;
                self.state = State::Fields;
                Ok(())
            }
            _ if line.is_empty() => self.end_head(),
            _ => self.field(line, bounds),
        }
    }

    fn field(&mut self, line: &[u8], bounds: &Bounds) -> Checked {
        self.head.fields += 1;
        if self.head.fields > bounds.fields {
            return Err(refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "there are too many header fields"));
        }
        match line[0] {
            b' ' | b'\t' => Err(bad("a header field goes on in a second line")),
            b'h' | b'H' => value_of(line, b"host").map_or(Ok(()), |value| self.host(value)),
            b'c' | b'C' => value_of(line, b"content-length").map_or(Ok(()), |value| self.content_length(value)),
            b't' | b'T' => value_of(line, b"transfer-encoding").map_or(Ok(()), |value| self.transfer_encoding(value)),
            _ => Ok(()),
        }
    }

    fn host(&mut self, value: &[u8]) -> Checked {
        if self.head.host {
            return Err(bad("there are two Host fields"));
        }
        if !value.iter().copied().all(is_in_host) {
            return Err(bad("Host is not the name of a host"));
        }
        self.head.host = true;
        Ok(())
    }

    fn content_length(&mut self, value: &[u8]) -> Checked {
        if self.head.length.is_some() {
            return Err(bad("there are two Content-Length fields"));
        }
        self.head.length = Some(decimal(value).ok_or(bad("Content-Length is not a number"))?);
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Checked {
        if !self.head.version_11 {
            return Err(bad("HTTP/1.0 has no Transfer-Encoding"));
        }
        if self.head.chunked {
            return Err(bad("there are two Transfer-Encoding fields"));
        }
        if !value.eq_ignore_ascii_case(b"chunked") {
            return Err(refuse(StatusCode::NOT_IMPLEMENTED, "the only Transfer-Encoding here is chunked"));
        }
        self.head.chunked = true;
        Ok(())
    }

    fn end_head(&mut self) -> Checked {
        let head = std::mem::take(&mut self.head);
        if head.version_11 && !head.host {
            return Err(bad("there is no Host field"));
        }
        self.state = match (head.chunked, head.length) {
            (true, Some(_)) => return Err(bad("there are both Content-Length and Transfer-Encoding")),
            (true, None) => State::Chunked,
            (false, None | Some(0)) => State::RequestLine,
            (false, Some(length)) => State::Body(length),
        };
        Ok(())
    }
}

/// Where the line ends: the position of its CR, if the LF is there, too.
#[inline]
fn line_end(bytes: &[u8]) -> Checked<Option<usize>> {
    let Some(at) = special(bytes) else { return Ok(None) };
    match (bytes[at], bytes.get(at + 1)) {
        (b'\r', Some(b'\n')) => Ok(Some(at)),
        (b'\r', None) => Ok(None),
        (b'\r', Some(_)) => Err(bad("a carriage return stands alone")),
        (b'\n', _) => Err(bad("a line does not end in CR LF")),
        _ => Err(bad("there is a control character")),
    }
}

/// The first control character up to CR, but for the tab. Eight bytes at a time: this sees every byte of every head,
/// and lines are too short for the vector instructions that are good at this.
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

/// Checks `GET /path HTTP/1.1`; true if the version is 1.1.
fn request_line(line: &[u8], bounds: &Bounds) -> Checked<bool> {
    const VERSION: usize = " HTTP/1.1".len();
    let method = line.iter().position(|byte| *byte == b' ').ok_or(bad("the request line is incomplete"))?;
    let rest = &line[method + 1..];
    let Some(target) = rest.len().checked_sub(VERSION) else { return Err(unversioned(rest)) };
    if target > bounds.target {
        return Err(refuse(StatusCode::URI_TOO_LONG, "the address is too long"));
    }
    match &rest[target..] {
        b" HTTP/1.1" => Ok(true),
        b" HTTP/1.0" => Ok(false),
        _ => Err(unversioned(rest)),
    }
}

/// Checks as much of the version as has arrived: what hyper would refuse before the line is complete, it would refuse with
/// a status of its own.
fn early_version(partial: &[u8]) -> Checked {
    const MARK: &[u8] = b" HTTP/";
    // It is looked at with every piece, so a wrong one is never far from the end.
    let tail = &partial[partial.len().saturating_sub(2 * MARK.len())..];
    let Some(at) = tail.windows(MARK.len()).rposition(|window| window == MARK) else { return Ok(()) };
    let version = &tail[at..tail.len().min(at + b" HTTP/1.1".len())];
    let fits = b" HTTP/1.1".starts_with(version) || b" HTTP/1.0".starts_with(version);
    if fits { Ok(()) } else { Err(unversioned(version)) }
}

fn unversioned(rest: &[u8]) -> Refusal {
    let version = rest.iter().rposition(|byte| *byte == b' ').map_or(rest, |space| &rest[space + 1..]);
    match version.strip_prefix(b"HTTP/") {
        Some(number) if number.first().is_some_and(u8::is_ascii_digit) => {
            refuse(StatusCode::HTTP_VERSION_NOT_SUPPORTED, "this server speaks HTTP/1.1, HTTP/1.0 and HTTP/2")
        }
        _ => bad("the request line does not end in HTTP/1.1"),
    }
}

/// The value of this line, without the white space around it, if its name is `name`.
fn value_of<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

/// True for what a host and its port are written with (RFC 3986, 3.2.2). A user is no part of `Host`.
fn is_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]%".contains(&byte)
}

/// The parser behind keeps the two largest numbers for itself.
const MOST: u64 = u64::MAX - 2;

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|length| *length <= MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { bytes: 1000, fields: 10, target: 100 };

    /// What becomes of a text that arrives in two parts: how much may pass, and why no more.
    fn check(text: &[u8], cut: usize) -> (usize, Option<StatusCode>) {
        let mut gate = Gate::new();
        let (first, refusal) = gate.check(&text[..cut], &BOUNDS);
        if let Some(refusal) = refusal {
            return (first, Some(refusal.status));
        }
        let (second, refusal) = gate.check(&text[cut..], &BOUNDS);
        (first + second, refusal.map(|refusal| refusal.status))
    }

    #[test]
    fn where_a_message_is_cut_makes_no_difference() {
        let good = b"POST /a HTTP/1.1\r\nHost: x\r\nA:\tb\r\nContent-Length: 4\r\n\r\n\n\r\0\nGET / HTTP/1.0\r\n\r\n";
        for cut in 0..good.len() {
            assert_eq!(check(good, cut), (good.len(), None), "cut at {cut}");
        }
        for bad in
            ["GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\n\r\n", "GET / HTTP/1.1\r\n\r\n"]
        {
            for cut in 0..bad.len() {
                assert_eq!(check(bad.as_bytes(), cut).1, Some(StatusCode::BAD_REQUEST), "{bad:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn what_is_good_before_something_bad_may_pass() {
        let good = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        let text = format!("{good}{good}GET / HTTP/1.1\n");
        assert_eq!(check(text.as_bytes(), 0), (2 * good.len(), Some(StatusCode::BAD_REQUEST)));
    }

    #[test]
    fn every_special_byte_is_found_wherever_it_stands_and_nothing_else_is() {
        for byte in 0..=u8::MAX {
            for at in 0..20 {
                let mut bytes = [b'\t', 0x80, b'x', 0xff].repeat(5);
                bytes[at] = byte;
                let expected = (byte < 14 && byte != b'\t').then_some(at);
                assert_eq!(special(&bytes), expected, "{byte} at {at}");
            }
        }
    }
}
