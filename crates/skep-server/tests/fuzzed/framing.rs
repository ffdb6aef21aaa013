//! Requests on one connection, as others read them: what we accept has the same bounds and parts for all.
//!
//! Others may be stricter than we are where a reason is written down; nobody may find another request in bytes that we
//! accept.
#![allow(unreachable_pub, reason = "as a module of a test nobody reaches it")]

use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::{env, fs, io, process};

use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, PRAGMA, TRAILER, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Uri, Version};
use skep_server::fuzz::{self, Message, MessagesEnd};

/// A request as somebody has read it.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    method: String,
    target: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Seen {
    /// A request with this body.
    #[must_use]
    pub fn new(parts: &Parts, body: Vec<u8>) -> Self {
        Self { method: parts.method.to_string(), target: parts.uri.to_string(), headers: parts.headers.clone(), body }
    }

    /// Without the fields that Go keeps elsewhere, or adds: a cache is asked by `Pragma` what `Cache-Control` says.
    fn of_go(mut self) -> Self {
        let mut unknown = vec![TRANSFER_ENCODING, TRAILER];
        let has_authority = self.target.parse::<Uri>().is_ok_and(|uri| uri.authority().is_some());
        if has_authority || self.method == "CONNECT" {
            unknown.push(HOST);
        }
        if self.headers.get(HOST).is_some_and(HeaderValue::is_empty) {
            unknown.push(HOST);
        }
        if self.headers.contains_key(PRAGMA) {
            unknown.push(CACHE_CONTROL);
        }
        for name in &unknown {
            while self.headers.remove(name).is_some() {}
        }
        self
    }
}

/// What we accept of these bytes, and what another server has read of them, have to be the same. The other one may have
/// stopped before the last of some messages if `why_refused` knows why, and read on behind the last one if it
/// `may_read_on`.
///
/// # Panics
/// If that does not hold.
pub fn compare(
    who: &str,
    data: &[u8],
    ours: &[Message],
    may_read_on: bool,
    theirs: &[Seen],
    why_refused: impl Fn(&[Message]) -> Option<&'static str>,
) {
    let shown = data.escape_ascii();
    for (at, message) in ours.iter().enumerate() {
        let Some(other) = theirs.get(at) else {
            assert!(why_refused(&ours[..=at]).is_some(), "{who} has {at} of {}, no {message:?}: {shown}", ours.len());
            return;
        };
        let own = Seen::new(&message.parts, message.body.clone());
        let own = if who == GO { own.of_go() } else { own };
        assert_eq!(*other, own, "{who}, request {at}: {shown}");
    }
    let more = &theirs[ours.len()..];
    assert!(more.is_empty() || may_read_on, "{who} has {more:?} besides: {shown}");
}

const GO: &str = "Go";

static PEER: LazyLock<Mutex<Go>> = LazyLock::new(|| Mutex::new(Go::start().expect("Go is installed")));

/// Messages that follow each other on a connection are for Go's `net/http` what they are for us.
///
/// # Panics
/// If that does not hold, or if Go is not there.
pub fn of_go(data: &[u8]) {
    let (ours, end) = fuzz::messages(data);
    if ours.is_empty() {
        return;
    }
    let theirs = PEER.lock().unwrap_or_else(PoisonError::into_inner).read(data).expect("the program in Go responds");
    let may_read_on = end == MessagesEnd::Rejected || ours.last().is_some_and(goes_on_for_go);
    compare(GO, data, &ours, may_read_on, &theirs, |messages| refused_by_go(data, messages));
}

/// Why Go refuses the last of these requests, all of which we serve, if there is a reason.
fn refused_by_go(data: &[u8], messages: &[Message]) -> Option<&'static str> {
    let (message, before) = messages.split_last()?;
    let Parts { uri, headers, .. } = &message.parts;
    let (head, body) = (&data[message.bytes.0.clone()], &data[message.bytes.1.clone()]);
    let has_empty_line = head.starts_with(b"\r\n");
    let expects = headers.get_all(EXPECT).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    let is_escaped = |part: &str| {
        part.split('%').skip(1).all(|rest| {
            let digits = rest.as_bytes().get(..2);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        })
    };
    let chunk_lines = || if headers.contains_key(TRANSFER_ENCODING) { chunk_lines(body) } else { Vec::new() };
    let authority = uri.authority().map(|authority| authority.as_str().as_bytes());
    let reasons: [(bool, &str); 10] = [
        (has_empty_line, "RFC 9112, 2.2: a server should ignore at least one empty line before a request"),
        (
            expects,
            "RFC 9110, 10.1.1: a server may respond with 417 to an expectation that it does not know; it need not",
        ),
        (
            !is_escaped(uri.path()),
            "RFC 9110, 4.2.5: what an address means is the application's to decide; it gets a 404",
        ),
        (
            uri.path().is_empty() || !uri.path().starts_with(['/', '*']),
            "RFC 9112, 3.2.3: only CONNECT has an authority as target; the request is answered with 400, and its end is plain",
        ),
        (
            authority.is_some_and(|authority| !fuzz::is_host(authority)),
            "RFC 9110, 7.2: an absolute target with a malformed authority is answered with 400, and its end is plain",
        ),
        (authority.is_some_and(|authority| authority.contains(&b'%')), "RFC 3986, 3.2.2: a name may be escaped"),
        (
            chunk_lines().iter().any(|line| line.digits > 16 || line.has_space),
            "RFC 9112, 7.1 and 7.1.1: leading zeros have no limit in the grammar, and spaces before an extension must be read",
        ),
        (
            headers.get_all(TRAILER).iter().any(names_framing),
            "RFC 9110, 6.6.2: Trailer is a hint; trailers are dropped here, whatever their names",
        ),
        (
            before.iter().any(|message| connection(message).any(|value| words(&value).any(|word| word == "close"))),
            "RFC 9110, 7.6.1: commas separate the options of a connection; spaces do not",
        ),
        (
            before.iter().any(|message| {
                let first = connection(message).next().unwrap_or_default();
                message.parts.version == Version::HTTP_10 && !words(&first).any(|word| word == "keep-alive")
            }),
            "RFC 9110, 5.3: a list may be in several fields, and Go looks for keep-alive in the first one",
        ),
    ];
    reasons.into_iter().find_map(|(applies, reason)| applies.then_some(reason))
}

/// True if Go reads on although the connection ends here: spaces do not separate the options of a connection (RFC 9110,
/// 7.6.1).
fn goes_on_for_go(message: &Message) -> bool {
    let keeps = |value: String| words(&value).any(|word| word == "keep-alive");
    message.parts.version == Version::HTTP_10 && connection(message).any(keeps)
}

/// The values of the field `Connection`, in small letters, so far as they are text.
fn connection(message: &Message) -> impl Iterator<Item = String> {
    let values = message.parts.headers.get_all(CONNECTION);
    values.iter().map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase())
}

/// What stands between commas, spaces and tabs.
fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split([',', ' ', '\t'])
}

/// True if a field announces trailers that must not be any (RFC 9110, 6.5.1).
fn names_framing(value: &HeaderValue) -> bool {
    let forbidden = [TRANSFER_ENCODING, TRAILER, CONTENT_LENGTH];
    let names = value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    names.filter_map(|name| HeaderName::from_bytes(name).ok()).any(|name| forbidden.contains(&name))
}

/// The line before a chunk.
struct ChunkLine {
    digits: usize,
    /// Between the size and an extension.
    has_space: bool,
}

/// The lines before the chunks of a body that is valid.
fn chunk_lines(mut body: &[u8]) -> Vec<ChunkLine> {
    let mut lines = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let line = &body[..end];
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let rest = &line[digits..];
        let has_space = rest.first().is_some_and(|byte| *byte != b';') && rest.contains(&b';');
        lines.push(ChunkLine { digits, has_space });
        let size = str::from_utf8(&line[..digits]).ok().and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let Some(size @ 1..) = size else { break };
        body = body.get(end + 2 + size + 2..).unwrap_or_default();
    }
    lines
}

/// A program with the server of Go's standard library; it ends with this process.
struct Go {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Go {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Go {
    fn start() -> io::Result<Self> {
        let folder = env::temp_dir().join(format!("skep-fuzz-{}", process::id()));
        fs::create_dir_all(&folder)?;
        let (source, program) = (folder.join("framing.go"), folder.join("framing"));
        fs::write(&source, include_str!("framing.go"))?;
        let built = Command::new("go").arg("build").arg("-o").arg(&program).arg(&source).status()?;
        if !built.success() {
            return Err(io::Error::other(format!("go build: {built}")));
        }
        let started = Self::run(program);
        fs::remove_dir_all(folder)?;
        started
    }

    fn run(program: PathBuf) -> io::Result<Self> {
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// The requests that it reads of these bytes.
    fn read(&mut self, data: &[u8]) -> io::Result<Vec<Seen>> {
        let length = u32::try_from(data.len()).expect("the bytes of a test");
        self.input.write_all(&[&length.to_le_bytes()[..], data].concat())?;
        (0..self.number()?).map(|_| self.request()).collect()
    }

    fn request(&mut self) -> io::Result<Seen> {
        let count = self.number()?;
        let mut fields = (0..count).map(|_| self.field()).collect::<io::Result<Vec<_>>>()?.into_iter();
        let mut next = || fields.next().expect("a request has four fields");
        let (method, target, host, body) = (next(), next(), next(), next());
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        // As `http` writes it.
        let target = Uri::from_maybe_shared(target.clone()).map_or_else(|_| text(target), |uri| uri.to_string());
        let mut headers = HeaderMap::new();
        let mut add = |name: &[u8], value: Vec<u8>| {
            let name = HeaderName::from_bytes(name).map_err(io::Error::other)?;
            headers.append(name, HeaderValue::from_bytes(&value).map_err(io::Error::other)?);
            Ok::<_, io::Error>(())
        };
        if !host.is_empty() {
            add(b"host", host)?;
        }
        while let Some(name) = fields.next() {
            add(&name, fields.next().unwrap_or_default())?;
        }
        Ok(Seen { method: text(method), target, headers, body }.of_go())
    }

    fn field(&mut self) -> io::Result<Vec<u8>> {
        let mut field = vec![0; self.number()? as usize];
        self.output.read_exact(&mut field)?;
        Ok(field)
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut number = [0; 4];
        self.output.read_exact(&mut number)?;
        Ok(u32::from_le_bytes(number))
    }
}
