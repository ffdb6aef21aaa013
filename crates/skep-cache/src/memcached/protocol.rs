//! What is said to memcached, and how its answers are read: the meta protocol, as bytes.
//!
//! Nothing here knows sockets. A request is appended to a buffer by one of the functions; answers come out of a
//! [`Parser`], which is fed whatever arrived, in pieces of any size. Source: memcached's `doc/protocol.txt`, from "Meta
//! Get" on.

use std::fmt::Write as _;

use super::failure::Failure;

/// The longest key memcached takes, in bytes.
pub(super) const KEY_LIMIT: usize = 250;

/// The longest line an answer may have. Ours echo a few flags; an error carries a sentence.
const LINE_LIMIT: usize = 2048;

/// From here on memcached reads a time to live as a moment since 1970.
const RELATIVE_LIMIT: u64 = 30 * 24 * 60 * 60;

/// A key in the form in which it travels.
#[derive(Clone, Copy)]
pub(super) struct Key<'a>(&'a [u8]);

impl<'a> Key<'a> {
    /// An error if it would be longer than [`KEY_LIMIT`] on the way.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Failure> {
        let key = Self(bytes);
        let length = if key.is_text() { bytes.len() } else { bytes.len().div_ceil(3) * 4 };
        match length {
            0 => Err(Failure::KeyEmpty),
            1..=KEY_LIMIT => Ok(key),
            _ => Err(Failure::KeyTooLong { bytes: length, limit: KEY_LIMIT }),
        }
    }

    /// The protocol splits lines at blanks, so only visible ASCII travels as it is; the rest goes as base64 (`b`).
    fn is_text(self) -> bool {
        self.0.iter().all(u8::is_ascii_graphic)
    }

    /// Appends the key and, if it needs one, the flag that says how to read it.
    fn append(self, verb: &str, size: Option<usize>, out: &mut Vec<u8>) {
        out.extend_from_slice(verb.as_bytes());
        let text = self.is_text();
        if text {
            out.extend_from_slice(self.0);
        } else {
            base64(self.0, out);
        }
        if let Some(size) = size {
            out.push(b' ');
            decimal(size as u64, out);
        }
        if !text {
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

/// Appends a time to live: seconds, or a moment where the seconds would be read as one. 0 is for ever.
fn ttl(seconds: u64, out: &mut Vec<u8>) {
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let number = if seconds > RELATIVE_LIMIT { now().saturating_add(seconds).min(i32::MAX as u64) } else { seconds };
    token(b'T', number, out);
}

/// What of an entry is asked for.
#[derive(Clone, Copy, Default)]
pub(super) struct Get {
    /// The value; without, only what is known about it.
    pub(super) value: bool,
    /// The number that a conditional write compares.
    pub(super) cas: bool,
    /// In a batch: what the answer carries, so that it can be told from others. A miss is then not answered at all.
    pub(super) opaque: Option<u64>,
}

/// `mg`: reads an entry.
pub(super) fn get(key: Key<'_>, what: Get, out: &mut Vec<u8>) {
    key.append("mg ", None, out);
    if what.value {
        out.extend_from_slice(b" v");
    }
    if what.cas {
        out.extend_from_slice(b" c");
    }
    if let Some(opaque) = what.opaque {
        out.extend_from_slice(b" q");
        token(b'O', opaque, out);
    }
    out.extend_from_slice(b"\r\n");
}

/// When a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum If {
    Always,
    /// There is no entry.
    Absent,
    /// Nobody wrote since this number was read.
    Cas(u64),
}

/// `ms`: writes an entry that lives for so many seconds (0: for ever).
pub(super) fn set(key: Key<'_>, parts: [&[u8]; 2], seconds: u64, when: If, opaque: Option<u64>, out: &mut Vec<u8>) {
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

/// `md`: removes an entry, always or if nobody wrote since `cas` was read.
pub(super) fn delete(key: Key<'_>, cas: Option<u64>, out: &mut Vec<u8>) {
    key.append("md ", None, out);
    if let Some(cas) = cas {
        token(b'C', cas, out);
    }
    out.extend_from_slice(b"\r\n");
}

/// `mn`: ends a batch. Its answer comes after all others.
pub(super) fn fence(out: &mut Vec<u8>) {
    out.extend_from_slice(b"mn\r\n");
}

/// Asks who is there.
pub(super) fn version(out: &mut Vec<u8>) {
    out.extend_from_slice(b"version\r\n");
}

/// How an answer begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// Done.
    Hd,
    /// A value follows.
    Va,
    /// A miss.
    En,
    /// There is no such entry.
    Nf,
    /// It was not stored: there is one already.
    Ns,
    /// Somebody wrote in between.
    Ex,
    /// The end of a batch.
    Mn,
    /// `VERSION`, and the version.
    Version(String),
    /// The server could not or would not: its own words.
    Error(String),
}

/// One answer.
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

/// Cuts what arrives into answers.
pub(super) struct Parser {
    /// Of values, in bytes. A server that announces more is not believed.
    limit: usize,
    /// An answer whose value has not arrived in full, and how much is missing (with the line's end).
    open: Option<(Reply, usize)>,
}

impl Parser {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, open: None }
    }

    /// Takes from `input` what it can use: how many bytes that were, and an answer if one is complete.
    ///
    /// To be called until it gives neither.
    pub(super) fn take(&mut self, input: &[u8]) -> Result<(usize, Option<Reply>), Failure> {
        let Some((reply, missing)) = &mut self.open else { return self.line(input) };
        let used = input.len().min(*missing);
        let ours = used.min(missing.saturating_sub(2));
        reply.value.extend_from_slice(&input[..ours]);
        for (i, byte) in input[ours..used].iter().enumerate() {
            if *byte != b"\r\n"[2 - (*missing - ours) + i] {
                return Err(Failure::garbage("a value that does not end where its length says", input));
            }
        }
        *missing -= used;
        let complete = *missing == 0;
        Ok((used, if complete { self.open.take().map(|(reply, _)| reply) } else { None }))
    }

    fn line(&mut self, input: &[u8]) -> Result<(usize, Option<Reply>), Failure> {
        let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
            return if input.len() > LINE_LIMIT {
                Err(Failure::garbage("a line without end", input))
            } else {
                Ok((0, None))
            };
        };
        let Some(line) = input[..end].strip_suffix(b"\r").and_then(|line| std::str::from_utf8(line).ok()) else {
            return Err(Failure::garbage("a line that memcached does not send", input));
        };
        let (reply, size) = read(line).ok_or_else(|| Failure::garbage("a line that memcached does not send", input))?;
        let Some(size) = size else { return Ok((end + 1, Some(reply))) };
        if size > self.limit {
            return Err(Failure::garbage(&format!("a value of {size} bytes, and {} is our limit", self.limit), input));
        }
        let mut reply = reply;
        reply.value.reserve_exact(size);
        self.open = Some((reply, size + 2));
        Ok((end + 1, None))
    }
}

/// An answer's line, and the size of the value that follows, if one does.
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
            // What we did not ask for, and what a later version may add.
            _ => {}
        }
    }
    Some((reply, size))
}

/// The beginning of what arrived, for an error's text.
pub(super) fn excerpt(input: &[u8]) -> String {
    let mut text = String::new();
    for byte in input.iter().take(40) {
        let _ = write!(text, "{}", byte.escape_ascii());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(append: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        append(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn key(bytes: &[u8]) -> Key<'_> {
        Key::new(bytes).unwrap()
    }

    #[test]
    fn requests_are_the_lines_of_the_protocol() {
        let what = Get { value: true, cas: true, ..Get::default() };
        assert_eq!(text(|out| get(key(b"post:1"), what, out)), "mg post:1 v c\r\n");
        let what = Get { value: true, opaque: Some(7), ..Get::default() };
        assert_eq!(text(|out| get(key(b"a"), what, out)), "mg a v q O7\r\n");
        assert_eq!(
            text(|out| set(key(b"a"), [b"he", b"llo"], 60, If::Cas(5), None, out)),
            "ms a 5 T60 C5\r\nhello\r\n"
        );
        assert_eq!(text(|out| set(key(b"a"), [b"", b""], 0, If::Absent, None, out)), "ms a 0 T0 ME\r\n\r\n");
        assert_eq!(text(|out| delete(key(b"a"), Some(9), out)), "md a C9\r\n");
    }

    #[test]
    fn a_key_with_blanks_travels_as_base64() {
        assert_eq!(text(|out| delete(key(b"a b"), None, out)), "md YSBi b\r\n");
        assert_eq!(text(|out| delete(key(b"a b!"), None, out)), "md YSBiIQ== b\r\n");
        assert_eq!(text(|out| delete(key("é b".as_bytes()), None, out)), "md w6kgYg== b\r\n");
        assert_eq!(text(|out| set(key(b"\0"), [b"", b"x"], 0, If::Always, None, out)), "ms AA== 1 b T0\r\nx\r\n");
    }

    #[test]
    fn a_key_is_measured_as_it_travels() {
        assert!(Key::new(&[b'k'; 250]).is_ok());
        assert!(Key::new(&[b'k'; 251]).is_err());
        assert!(Key::new(&[0; 186]).is_ok());
        let error = Key::new(&[0; 189]).err().unwrap().to_string();
        assert_eq!(error, "the key takes 252 bytes, and memcached's limit is 250");
        assert!(Key::new(b"").is_err());
    }

    #[test]
    fn a_time_that_memcached_would_take_for_a_moment_becomes_one() {
        assert!(text(|out| ttl(2_592_000, out)).ends_with("T2592000"));
        let moment: u64 = text(|out| ttl(2_592_001, out)).trim_start_matches(" T").parse().unwrap();
        assert!(moment > 1_700_000_000, "{moment}");
    }

    /// Feeds `input` in pieces of `size`.
    fn parse(input: &[u8], size: usize) -> Result<Vec<Reply>, Failure> {
        let (mut parser, mut replies, mut buffer) = (Parser::new(1000), Vec::new(), Vec::new());
        for piece in input.chunks(size) {
            buffer.extend_from_slice(piece);
            loop {
                let (used, reply) = parser.take(&buffer)?;
                buffer.drain(..used);
                let nothing = used == 0 && reply.is_none();
                replies.extend(reply);
                if nothing {
                    break;
                }
            }
        }
        Ok(replies)
    }

    #[test]
    fn answers_are_read_however_they_are_cut() {
        let input = b"VA 5 c12 W\r\nhe\r\no\r\nEN\r\nHD O3 X Z\r\nVA 0\r\n\r\nSERVER_ERROR out of memory\r\nMN\r\n";
        for size in 1..input.len() {
            let replies = parse(input, size).unwrap();
            assert_eq!(replies.len(), 6, "pieces of {size}");
            assert_eq!((&replies[0].value[..], replies[0].cas), (&b"he\r\no"[..], Some(12)));
            assert_eq!(replies[1].code, Code::En);
            assert_eq!((replies[2].code.clone(), replies[2].opaque), (Code::Hd, Some(3)));
            assert_eq!((replies[3].code.clone(), replies[3].value.len()), (Code::Va, 0));
            assert_eq!(replies[4].code, Code::Error("out of memory".to_owned()));
            assert_eq!(replies[5].code, Code::Mn);
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for input in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"VA many\r\n",
            b"VA 3\r\nabcdef",
            b"VA 99999999999\r\n",
            b"VA 1001\r\n",
            b"HD cabc\r\n",
            b"\xff\xfe\r\n",
            b"HD\n",
            &[b'x'; 3000],
        ] {
            for size in [1, 7, 5000] {
                assert!(parse(input, size).is_err(), "{}", excerpt(input));
            }
        }
    }
}
