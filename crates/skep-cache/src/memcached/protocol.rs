//! memcached's meta protocol, as bytes.
//!
//! No I/O. The functions append requests to a buffer; a [`Parser`] is fed received bytes in pieces of any size and
//! gives replies. Source: memcached's `doc/protocol.txt`, from "Meta Get" on.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// The longest key of memcached, in bytes.
const KEY_LIMIT: usize = 250;

/// The longest line of a reply. Ours repeat a few flags; an error has a sentence.
const LINE_LIMIT: usize = 2048;

/// memcached reads a longer time to live as seconds since 1970.
const RELATIVE_LIMIT: u64 = 30 * 24 * 60 * 60;

pub(super) struct WireKey<'a> {
    bytes: Cow<'a, [u8]>,
    base64: bool,
}

impl<'a> WireKey<'a> {
    /// A key that would be sent as more than [`KEY_LIMIT`] bytes becomes its digest.
    pub(super) fn new(key: &'a [u8]) -> Self {
        // The protocol splits lines at blanks: only visible ASCII is sent as it is, anything else as base64 (flag `b`).
        let base64 = key.is_empty() || !key.iter().all(u8::is_ascii_graphic);
        let length = if base64 { key.len().div_ceil(3) * 4 } else { key.len() };
        if (1..=KEY_LIMIT).contains(&length) {
            return Self { bytes: Cow::Borrowed(key), base64 };
        }
        let digest = format!("sha256:{}", crate::hash::hex(&Sha256::digest(key)));
        Self { bytes: Cow::Owned(digest.into_bytes()), base64: false }
    }

    /// Appends the command, the key, a value's size, and the flag for base64.
    fn append(&self, command: &str, size: Option<usize>, out: &mut Vec<u8>) {
        out.extend_from_slice(command.as_bytes());
        if self.base64 {
            base64(&self.bytes, out);
        } else {
            out.extend_from_slice(&self.bytes);
        }
        if let Some(size) = size {
            out.push(b' ');
            decimal(size as u64, out);
        }
        if self.base64 {
            out.extend_from_slice(b" b");
        }
    }
}

/// Digits and letters of RFC 4648, 4.
fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let at = |i: usize| group.get(i).copied().map_or(0, u32::from);
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= group.len() { letter } else { b'=' });
        }
    }
}

fn decimal(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn token(letter: u8, number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b' ', letter]);
    decimal(number, out);
}

/// Appends a time to live in seconds, or the absolute time where memcached would read it so. 0 never expires.
fn ttl(seconds: u64, out: &mut Vec<u8>) {
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let number = if seconds > RELATIVE_LIMIT { now().saturating_add(seconds).min(i32::MAX as u64) } else { seconds };
    token(b'T', number, out);
}

/// `mg`: reads an entry, and the number for a conditional write if `cas`. In a batch: `opaque` is a number that the
/// reply repeats, and a miss has no reply.
pub(super) fn get(key: &WireKey<'_>, cas: bool, opaque: Option<u64>, out: &mut Vec<u8>) {
    key.append("mg ", None, out);
    out.extend_from_slice(if cas { &b" v c"[..] } else { b" v" });
    if let Some(opaque) = opaque {
        out.extend_from_slice(b" q");
        token(b'O', opaque, out);
    }
    out.extend_from_slice(b"\r\n");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum If {
    Always,
    /// If there is no entry.
    Absent,
    /// If nobody wrote since this number was read.
    Cas(u64),
}

/// `ms`: writes an entry that expires after some seconds (0: never).
pub(super) fn set(
    key: &WireKey<'_>,
    parts: [&[u8]; 2],
    seconds: u64,
    when: If,
    opaque: Option<u64>,
    out: &mut Vec<u8>,
) {
    let size = parts[0].len() + parts[1].len();
    out.reserve(size + KEY_LIMIT + 64);
    key.append("ms ", Some(size), out);
    ttl(seconds, out);
    match when {
        If::Always => {}
        If::Absent => out.extend_from_slice(b" ME"),
        If::Cas(cas) => token(b'C', cas, out),
    }
    if let Some(opaque) = opaque {
        out.extend_from_slice(b" q");
        token(b'O', opaque, out);
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(parts[0]);
    out.extend_from_slice(parts[1]);
    out.extend_from_slice(b"\r\n");
}

/// `md`: removes an entry, or only if nobody wrote since `cas` was read.
pub(super) fn delete(key: &WireKey<'_>, cas: Option<u64>, out: &mut Vec<u8>) {
    key.append("md ", None, out);
    if let Some(cas) = cas {
        token(b'C', cas, out);
    }
    out.extend_from_slice(b"\r\n");
}

/// `mn`: ends a batch. Its reply comes after all others.
pub(super) fn fence(out: &mut Vec<u8>) {
    out.extend_from_slice(b"mn\r\n");
}

pub(super) fn version(out: &mut Vec<u8>) {
    out.extend_from_slice(b"version\r\n");
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// Done.
    Hd,
    /// A value follows.
    Va,
    /// A miss of `mg`.
    En,
    /// No such entry.
    Nf,
    /// Not stored: there is an entry.
    Ns,
    /// Not stored: somebody wrote in between.
    Ex,
    /// The end of a batch.
    Mn,
    /// `VERSION`, and the version.
    Version(String),
    /// An error, in the server's words.
    Error(String),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: Code,
    pub(super) value: Vec<u8>,
    /// `c`
    pub(super) cas: Option<u64>,
    /// `O`
    pub(super) opaque: Option<u64>,
}

impl Reply {
    fn new(code: Code) -> Self {
        Self { code, value: Vec::new(), cas: None, opaque: None }
    }
}

/// Splits received bytes into replies.
pub(super) struct Parser {
    /// The largest value, in bytes; a larger one is an error.
    limit: usize,
    /// A reply whose value is incomplete, and the number of missing bytes (with the line end).
    open: Option<(Reply, usize)>,
}

impl Parser {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, open: None }
    }

    /// Consumes bytes of `input`: how many, and a reply if one is complete. Call it until it gives neither.
    pub(super) fn take(&mut self, input: &[u8]) -> Result<(usize, Option<Reply>), String> {
        let Some((reply, missing)) = &mut self.open else { return self.line(input) };
        let used = input.len().min(*missing);
        let ours = used.min(missing.saturating_sub(2));
        reply.value.extend_from_slice(&input[..ours]);
        for (i, byte) in input[ours..used].iter().enumerate() {
            if *byte != b"\r\n"[2 - (*missing - ours) + i] {
                return Err(garbage("a value does not end where its length says", input));
            }
        }
        *missing -= used;
        let complete = *missing == 0;
        Ok((used, if complete { self.open.take().map(|(reply, _)| reply) } else { None }))
    }

    fn line(&mut self, input: &[u8]) -> Result<(usize, Option<Reply>), String> {
        let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
            return if input.len() > LINE_LIMIT { Err(garbage("a line without an end", input)) } else { Ok((0, None)) };
        };
        let Some(line) = input[..end].strip_suffix(b"\r").and_then(|line| std::str::from_utf8(line).ok()) else {
            return Err(garbage("an invalid line", input));
        };
        let (reply, size) = read(line).ok_or_else(|| garbage("an invalid line", input))?;
        let Some(size) = size else { return Ok((end + 1, Some(reply))) };
        if size > self.limit {
            return Err(garbage(&format!("a value of {size} bytes exceeds the limit of {}", self.limit), input));
        }
        let mut reply = reply;
        reply.value.reserve_exact(size);
        self.open = Some((reply, size + 2));
        Ok((end + 1, None))
    }
}

/// Parses the line of a reply: the reply, and the size of the value that follows.
fn read(line: &str) -> Option<(Reply, Option<usize>)> {
    let mut words = line.split(' ');
    let mut size = None;
    let code = match words.next()? {
        "HD" => Code::Hd,
        "VA" => {
            size = Some(words.next()?.parse().ok()?);
            Code::Va
        }
        "EN" => Code::En,
        "NF" => Code::Nf,
        "NS" => Code::Ns,
        "EX" => Code::Ex,
        "MN" => Code::Mn,
        "VERSION" => return Some((Reply::new(Code::Version(words.next()?.to_owned())), None)),
        word @ ("ERROR" | "CLIENT_ERROR" | "SERVER_ERROR") => {
            let said = line[word.len()..].trim();
            let said = if said.is_empty() { "ERROR" } else { said };
            return Some((Reply::new(Code::Error(said.to_owned())), None));
        }
        _ => return None,
    };
    let mut reply = Reply::new(code);
    for word in words.filter(|word| !word.is_empty()) {
        let (letter, rest) = word.split_at_checked(1)?;
        match letter {
            "c" => reply.cas = Some(rest.parse().ok()?),
            "O" => reply.opaque = Some(rest.parse().ok()?),
            // Flags of later versions.
            _ => {}
        }
    }
    Some((reply, size))
}

fn garbage(what: &str, input: &[u8]) -> String {
    format!("{what}: \"{}\"", excerpt(input))
}

/// The first bytes received, for an error's text.
fn excerpt(input: &[u8]) -> String {
    input[..input.len().min(40)].escape_ascii().to_string()
}

#[cfg(test)]
#[path = "../../tests/unit/memcached/protocol.rs"]
mod tests;
