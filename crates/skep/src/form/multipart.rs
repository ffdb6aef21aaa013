//! `multipart/form-data` (RFC 7578), taken apart as it arrives.
//!
//! [`Parser`] is fed bytes and gives parts; it keeps no more of them than a delimiter or a part's head is long. Where the parts go,
//! and how much of each is kept, the reader beside it decides.

/// The most bytes of a part's head. Browsers send a few hundred.
const MOST_HEAD: usize = 8 << 10;

/// The most bytes that may pad a delimiter (RFC 2046, 5.1.1).
const MOST_PADDING: usize = 64;

/// Takes a body apart.
#[derive(Debug)]
pub(super) struct Parser {
    /// A line break, two hyphens and the boundary.
    delimiter: Vec<u8>,
    buffer: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first delimiter.
    Preamble,
    /// Behind a delimiter: another part, or the end.
    Delimiter,
    Head,
    Content,
    End,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// More bytes must be pushed first.
    NeedsMore,
    Part(Head),
    Content(Vec<u8>),
    PartEnd,
    End,
}

/// What a part says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) file_name: Option<String>,
    pub(super) content_type: String,
}

/// Why the bytes are no such form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken(pub(super) &'static str);

impl Parser {
    pub(super) fn new(boundary: &str) -> Self {
        // The first delimiter may stand at the very start, without the line break before it.
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        Self { delimiter, buffer: b"\r\n".to_vec(), state: State::Preamble }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    pub(super) fn next(&mut self) -> Result<Event, Broken> {
        loop {
            match self.state {
                State::Preamble => match find(&self.buffer, &self.delimiter) {
                    Some(at) => self.enter(State::Delimiter, at + self.delimiter.len()),
                    None => {
                        self.buffer.drain(..self.settled());
                        return Ok(Event::NeedsMore);
                    }
                },
                State::Delimiter => match self.behind_delimiter()? {
                    Some(event) => return Ok(event),
                    None if self.state == State::Delimiter => return Ok(Event::NeedsMore),
                    None => {}
                },
                State::Head => return self.head(),
                State::Content => return Ok(self.content()),
                State::End => return Ok(Event::End),
            }
        }
    }

    fn enter(&mut self, state: State, consumed: usize) {
        self.buffer.drain(..consumed);
        self.state = state;
    }

    /// How many bytes can be no part of a delimiter.
    fn settled(&self) -> usize {
        self.buffer.len().saturating_sub(self.delimiter.len() - 1)
    }

    fn behind_delimiter(&mut self) -> Result<Option<Event>, Broken> {
        if self.buffer.starts_with(b"--") {
            self.enter(State::End, 2);
            return Ok(Some(Event::End));
        }
        match find(&self.buffer, b"\r\n") {
            Some(at) if at <= MOST_PADDING && self.buffer[..at].iter().all(|byte| matches!(byte, b' ' | b'\t')) => {
                self.enter(State::Head, at + 2);
                Ok(None)
            }
            // With the CR of the line's end.
            None if self.buffer.len() <= MOST_PADDING + 1 => Ok(None),
            _ => Err(Broken("a delimiter is followed by neither a line break nor two hyphens")),
        }
    }

    fn head(&mut self) -> Result<Event, Broken> {
        let Some(end) = find(&self.buffer, b"\r\n\r\n") else {
            // With a part of the empty line behind it.
            return if self.buffer.len() > MOST_HEAD + 3 { Err(TOO_LONG) } else { Ok(Event::NeedsMore) };
        };
        if end > MOST_HEAD {
            return Err(TOO_LONG);
        }
        let head = Head::parse(&self.buffer[..end])?;
        self.enter(State::Content, end + 4);
        Ok(Event::Part(head))
    }

    fn content(&mut self) -> Event {
        match find(&self.buffer, &self.delimiter) {
            Some(0) => {
                self.enter(State::Delimiter, self.delimiter.len());
                Event::PartEnd
            }
            Some(at) => Event::Content(self.buffer.drain(..at).collect()),
            None if self.settled() > 0 => Event::Content(self.buffer.drain(..self.settled()).collect()),
            None => Event::NeedsMore,
        }
    }
}

const TOO_LONG: Broken = Broken("the head of a part is too long");

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let (&first, rest) = wanted.split_first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|&byte| byte == first) {
        let behind = &bytes[from + at + 1..];
        if behind.starts_with(rest) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Self, Broken> {
        let text = std::str::from_utf8(bytes).map_err(|_| Broken("the head of a part is not UTF-8"))?;
        let mut head = None;
        let mut content_type = "";
        for line in text.split("\r\n") {
            let (name, value) = line.split_once(':').ok_or(Broken("a line in the head of a part has no colon"))?;
            if name.trim().eq_ignore_ascii_case("content-disposition") {
                let name_of = |wanted| parameter(value, wanted).map(unescaped);
                head = Some((name_of("name"), name_of("filename")));
            } else if name.trim().eq_ignore_ascii_case("content-type") {
                content_type = value.trim();
            }
        }
        match head {
            Some((Some(name), file_name)) => Ok(Self { name, file_name, content_type: content_type.to_owned() }),
            _ => Err(Broken("a part does not say which field it is for")),
        }
    }
}

/// What would end a name comes as percent signs from browsers (HTML, 4.10.22.8).
fn unescaped(name: &str) -> String {
    name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
}

/// A parameter behind a header field's value; in quotes it keeps its spaces.
fn parameter<'v>(value: &'v str, wanted: &str) -> Option<&'v str> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, behind) = rest.split_once('=')?;
        let behind = behind.trim_start();
        let (text, next) = match behind.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => behind.split_once(';').map_or((behind.trim_end(), ""), |(text, next)| (text.trim_end(), next)),
        };
        if name.trim_matches([' ', '\t', ';']).eq_ignore_ascii_case(wanted) {
            return Some(text);
        }
        rest = next;
    }
}

/// The boundary that `Content-Type` names (RFC 2046, 5.1.1: 1 to 70 characters).
pub(super) fn boundary(content_type: &str) -> Option<String> {
    parameter(content_type, "boundary").filter(|boundary| (1..=70).contains(&boundary.len())).map(ToOwned::to_owned)
}

#[cfg(test)]
#[path = "../../tests/unit/form/multipart.rs"]
mod tests;
