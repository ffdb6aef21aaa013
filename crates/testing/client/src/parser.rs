//! Where a response ends in a stream of bytes (HTTP/1.1, RFC 9112).
//!
//! It takes bytes in pieces of any size, stores no body, and trusts nothing: what is no response is [`Malformed`].
//!
//! Start reading at [`Parser::feed`].

use std::fmt;

/// Longest head, in bytes.
const LONGEST_HEAD: usize = 64 << 10;

/// Longest line of a chunk or a trailer, in bytes.
const LONGEST_LINE: u32 = 8 << 10;

/// One connection's answers, one after the other.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    /// The head as far as it has come, if it came in pieces.
    head: Vec<u8>,
    answer: Answered,
}

/// An answer that is complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answered {
    /// The status code.
    pub status: u16,
    /// All bytes of it: interim answers, head, body, and what frames it.
    pub bytes: u64,
    /// Whether the connection may be used again.
    pub keeps: bool,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(&'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Head,
    Sized(u64),
    /// Until the connection ends.
    Rest,
    ChunkSize {
        size: u64,
        digits: u32,
        behind: bool,
        length: u32,
    },
    Chunk(u64),
    /// The line end behind a chunk's bytes; whether half of it was there.
    ChunkEnd {
        half: bool,
    },
    Trailer {
        length: u32,
        line: u32,
    },
}

const CHUNK_SIZE: State = State::ChunkSize { size: 0, digits: 0, behind: false, length: 0 };

/// What a head says of what follows.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Head {
    status: u16,
    keeps: bool,
    length: Option<u64>,
    chunked: bool,
}

impl Parser {
    /// Takes bytes, up to the end of an answer. How many were taken, and the answer, if it is complete.
    ///
    /// `to_head`: it answers a HEAD, and has no body whatever its head says.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8], to_head: bool) -> Result<(usize, Option<Answered>), Malformed> {
        self.feed_body(bytes, to_head, |_| {})
    }

    /// The same, and shows the body, piece by piece.
    pub fn feed_body(
        &mut self,
        bytes: &[u8],
        to_head: bool,
        mut body: impl FnMut(&[u8]),
    ) -> Result<(usize, Option<Answered>), Malformed> {
        let mut taken = 0;
        while taken < bytes.len() {
            let is_body = matches!(self.state, State::Sized(_) | State::Rest | State::Chunk(_));
            let (used, done) = self.step(&bytes[taken..], to_head)?;
            if is_body {
                body(&bytes[taken..taken + used]);
            }
            taken += used;
            self.answer.bytes += used as u64;
            if done {
                return Ok((taken, Some(self.finish())));
            }
        }
        Ok((taken, None))
    }

    /// The connection has ended. The answer, if this was how it ends.
    pub fn end(&mut self) -> Option<Answered> {
        (self.state == State::Rest).then(|| {
            self.answer.keeps = false;
            self.finish()
        })
    }

    /// Whether anything of an answer has come.
    pub fn has_begun(&self) -> bool {
        self.answer.bytes > 0 || !self.head.is_empty()
    }

    /// Bytes of the answer under way.
    pub fn so_far(&self) -> u64 {
        self.answer.bytes
    }

    fn finish(&mut self) -> Answered {
        self.state = State::Head;
        std::mem::take(&mut self.answer)
    }

    /// Takes something. How many bytes, and whether the answer is complete.
    fn step(&mut self, bytes: &[u8], to_head: bool) -> Result<(usize, bool), Malformed> {
        match self.state {
            State::Head => self.head(bytes, to_head),
            State::Sized(left) => {
                let used = at_most(bytes.len(), left);
                self.state = State::Sized(left - used as u64);
                Ok((used, left == used as u64))
            }
            State::Rest => Ok((bytes.len(), false)),
            State::ChunkSize { size, digits, behind, length } => {
                self.state = chunk_size(bytes[0], (size, digits, behind, length))?;
                Ok((1, false))
            }
            State::Chunk(left) => {
                let used = at_most(bytes.len(), left);
                self.state = if left == used as u64 {
                    State::ChunkEnd { half: false }
                } else {
                    State::Chunk(left - used as u64)
                };
                Ok((used, false))
            }
            State::ChunkEnd { half } => {
                match bytes[0] {
                    b'\n' => self.state = CHUNK_SIZE,
                    b'\r' if !half => self.state = State::ChunkEnd { half: true },
                    _ => return Err(Malformed("a chunk is longer than its size says")),
                }
                Ok((1, false))
            }
            State::Trailer { length, line } => match bytes[0] {
                b'\n' if line == 0 => Ok((1, true)),
                byte => {
                    let line = if byte == b'\n' { 0 } else { line + u32::from(byte != b'\r') };
                    if length > LONGEST_LINE {
                        return Err(Malformed("the trailers never end"));
                    }
                    self.state = State::Trailer { length: length + 1, line };
                    Ok((1, false))
                }
            },
        }
    }

    fn head(&mut self, bytes: &[u8], to_head: bool) -> Result<(usize, bool), Malformed> {
        if self.head.is_empty()
            && let Some(end) = blank_line(bytes, 0)
        {
            let head = read_head(&bytes[..end])?;
            return Ok((end, self.begin(head, to_head)?));
        }
        let before = self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(LONGEST_HEAD)]);
        // A line end may be cut in two.
        let Some(end) = blank_line(&self.head, before.saturating_sub(3)) else {
            if self.head.len() >= LONGEST_HEAD {
                return Err(Malformed("the head never ends"));
            }
            if !could_be_http(&self.head) {
                return Err(Malformed("it is no HTTP"));
            }
            return Ok((bytes.len().min(LONGEST_HEAD), false));
        };
        let head = read_head(&self.head[..end])?;
        self.head.clear();
        Ok((end - before, self.begin(head, to_head)?))
    }

    /// Which body follows (RFC 9112, 6.3). Whether none does.
    fn begin(&mut self, head: Head, to_head: bool) -> Result<bool, Malformed> {
        if head.status == 101 {
            return Err(Malformed("it switches to a protocol that nobody asked for"));
        }
        if head.status < 200 {
            // Interim answers are small and few, and a server that sends nothing else never answers.
            let too_many = self.answer.bytes > LONGEST_HEAD as u64;
            return if too_many { Err(Malformed("interim answers without an end")) } else { Ok(false) };
        }
        self.answer.status = head.status;
        self.answer.keeps = head.keeps;
        if to_head || head.status == 204 || head.status == 304 {
            return Ok(true);
        }
        self.state = match head {
            Head { chunked: true, .. } => CHUNK_SIZE,
            Head { length: Some(0), .. } => return Ok(true),
            Head { length: Some(length), .. } => State::Sized(length),
            Head { length: None, .. } => State::Rest,
        };
        Ok(false)
    }
}

fn at_most(have: usize, left: u64) -> usize {
    usize::try_from(left).map_or(have, |left| left.min(have))
}

/// One byte of the line that says how long a chunk is (RFC 9112, 7.1).
fn chunk_size(byte: u8, (size, digits, behind, length): (u64, u32, bool, u32)) -> Result<State, Malformed> {
    let no_size = Malformed("the size of a chunk is no number");
    if length > LONGEST_LINE {
        return Err(Malformed("the line with the size of a chunk never ends"));
    }
    let length = length + 1;
    match byte {
        b'\n' if digits == 0 => Err(no_size),
        b'\n' if size == 0 => Ok(State::Trailer { length: 0, line: 0 }),
        b'\n' => Ok(State::Chunk(size)),
        b'\r' | b';' | b' ' | b'\t' => Ok(State::ChunkSize { size, digits, behind: true, length }),
        _ if behind => Ok(State::ChunkSize { size, digits, behind, length }),
        _ => {
            let digit = char::from(byte).to_digit(16).ok_or(no_size)?;
            if digits == 15 {
                return Err(Malformed("a chunk is larger than 2^60 bytes"));
            }
            Ok(State::ChunkSize { size: size << 4 | u64::from(digit), digits: digits + 1, behind, length })
        }
    }
}

/// Behind the first blank line that ends at or after `from`.
fn blank_line(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(line) = bytes.get(at..)?.iter().position(|byte| *byte == b'\n') {
        let behind = at + line + 1;
        match bytes.get(behind) {
            Some(b'\n') => return Some(behind + 1),
            Some(b'\r') if bytes.get(behind + 1) == Some(&b'\n') => return Some(behind + 2),
            _ => at = behind,
        }
    }
    None
}

fn could_be_http(bytes: &[u8]) -> bool {
    bytes.iter().zip(b"HTTP/1.").all(|(one, other)| one == other)
}

fn read_head(head: &[u8]) -> Result<Head, Malformed> {
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let (status, is_newer) = status_line(lines.next().unwrap_or_default())?;
    let mut read = Head { status, keeps: is_newer, length: None, chunked: false };
    for line in lines.filter(|line| !line.is_empty()) {
        let colon = line.iter().position(|byte| *byte == b':').ok_or(Malformed("a line of the head has no colon"))?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if matches!(name.first(), None | Some(b' ' | b'\t')) {
            return Err(Malformed("a line of the head has no name"));
        }
        match name.len() {
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                let length = number(value).ok_or(Malformed("its content-length is no number"))?;
                if read.length.is_some_and(|before| before != length) {
                    return Err(Malformed("it has two lengths"));
                }
                read.length = Some(length);
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                // RFC 9112, 6.3: chunked must be the last one, or only the connection's end shows the end.
                let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
                read.chunked = last.eq_ignore_ascii_case(b"chunked");
                if !read.chunked {
                    return Err(Malformed("its transfer-encoding does not end with chunked"));
                }
            }
            10 if name.eq_ignore_ascii_case(b"connection") => {
                for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    if option.eq_ignore_ascii_case(b"close") {
                        read.keeps = false;
                    } else if option.eq_ignore_ascii_case(b"keep-alive") && !is_newer {
                        read.keeps = true;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(read)
}

/// Status, and whether it is HTTP/1.1 and not 1.0.
fn status_line(line: &[u8]) -> Result<(u16, bool), Malformed> {
    let rest = line.strip_prefix(b"HTTP/1.").ok_or(Malformed("it is no HTTP"))?;
    let &[minor @ (b'0' | b'1'), b' ', a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', ref rest @ ..] = rest else {
        return Err(Malformed("its first line has no status"));
    };
    if !matches!(rest.first(), None | Some(b' ')) {
        return Err(Malformed("its first line has no status"));
    }
    let digit = |byte: u8| u16::from(byte - b'0');
    Ok((digit(a) * 100 + digit(b) * 10 + digit(c), minor == b'1'))
}

/// A decimal number of at most 18 digits.
fn number(text: &[u8]) -> Option<u64> {
    let fits = !text.is_empty() && text.len() <= 18 && text.iter().all(u8::is_ascii_digit);
    fits.then(|| text.iter().fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests;
