//! `multipart/form-data` (RFC 7578), taken apart as it arrives.
//!
//! [`Parser`] is fed bytes and gives parts; it keeps no more of them than a delimiter or a part's head is long. Where
//! the parts go, and how much of each is kept, the reader beside it decides.

use super::parameters::{extended, head_text, parameter, unquoted, unquoted_name};

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
    /// What is before this is used.
    at: usize,
    /// What is before this, from `at` on, begins nothing that is searched for: each byte is looked at once, in whatever
    /// pieces it comes.
    searched: usize,
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

impl Head {
    /// The encoding of its text, if it names one (RFC 7578, 4.5).
    pub(super) fn charset(&self) -> Option<String> {
        parameter(&self.content_type, "charset").map(unquoted)
    }
}

/// Why the bytes are no such form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken(pub(super) &'static str);

impl Parser {
    pub(super) fn new(boundary: &str) -> Self {
        // The first delimiter may stand at the very start, without the line break before it.
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        Self { delimiter, buffer: b"\r\n".to_vec(), at: 0, searched: 0, state: State::Preamble }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let used = std::mem::take(&mut self.at);
        self.buffer.drain(..used);
        self.searched = self.searched.saturating_sub(used);
        self.buffer.extend_from_slice(bytes);
    }

    pub(super) fn next(&mut self) -> Result<Event, Broken> {
        loop {
            match self.state {
                State::Preamble => match self.find_delimiter() {
                    Some(at) => self.enter(State::Delimiter, at + self.delimiter.len()),
                    None => {
                        self.at = self.searched;
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

    /// What is not used yet.
    fn rest(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    fn enter(&mut self, state: State, position: usize) {
        (self.at, self.searched) = (position, position);
        self.state = state;
    }

    /// The position of what is wanted, and how far was searched if it is not there.
    fn find(&self, wanted: &[u8]) -> Result<usize, usize> {
        let from = self.searched.max(self.at);
        let found = find(&self.buffer[from..], wanted).map(|at| from + at);
        found.ok_or_else(|| from.max((self.buffer.len() + 1).saturating_sub(wanted.len())))
    }

    /// The position of the next delimiter. All before `searched` can be no part of one.
    fn find_delimiter(&mut self) -> Option<usize> {
        match self.find(&self.delimiter) {
            Ok(at) => Some(at),
            Err(searched) => {
                self.searched = searched;
                None
            }
        }
    }

    fn behind_delimiter(&mut self) -> Result<Option<Event>, Broken> {
        let rest = self.rest();
        if rest.starts_with(b"--") {
            self.enter(State::End, self.at + 2);
            return Ok(Some(Event::End));
        }
        // With the CR of the line's end.
        let line = &rest[..rest.len().min(MOST_PADDING + 2)];
        match find(line, b"\r\n") {
            Some(at) if line[..at].iter().all(|byte| matches!(byte, b' ' | b'\t')) => {
                self.enter(State::Head, self.at + at + 2);
                Ok(None)
            }
            None if rest.len() <= MOST_PADDING + 1 => Ok(None),
            _ => Err(Broken("a delimiter is followed by neither a line break nor two hyphens")),
        }
    }

    fn head(&mut self) -> Result<Event, Broken> {
        let end = match self.find(b"\r\n\r\n") {
            Ok(end) => end,
            Err(searched) => {
                self.searched = searched;
                // With a part of the empty line behind it.
                return if self.rest().len() > MOST_HEAD + 3 { Err(TOO_LONG) } else { Ok(Event::NeedsMore) };
            }
        };
        if end - self.at > MOST_HEAD {
            return Err(TOO_LONG);
        }
        let head = Head::parse(&self.buffer[self.at..end])?;
        self.enter(State::Content, end + 4);
        Ok(Event::Part(head))
    }

    fn content(&mut self) -> Event {
        let end = match self.find_delimiter() {
            Some(at) if at == self.at => {
                self.enter(State::Delimiter, at + self.delimiter.len());
                return Event::PartEnd;
            }
            Some(at) => at,
            None if self.searched > self.at => self.searched,
            None => return Event::NeedsMore,
        };
        let content = self.buffer[self.at..end].to_vec();
        self.enter(State::Content, end);
        Event::Content(content)
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
        // A line that begins with a space goes on with the one before (RFC 5322, 2.2.3).
        let text = head_text(bytes).replace("\r\n ", " ").replace("\r\n\t", " ");
        let mut disposition = None;
        let mut content_type = "";
        for line in text.split("\r\n") {
            let (name, value) = line.split_once(':').ok_or(Broken("a line in the head of a part has no colon"))?;
            if name.trim().eq_ignore_ascii_case("content-disposition") {
                disposition = Some(value);
            } else if name.trim().eq_ignore_ascii_case("content-type") {
                content_type = value.trim();
            }
        }
        let name = disposition.and_then(|value| Some((value, parameter(value, "name")?)));
        let (disposition, name) = name.ok_or(Broken("a part does not say which field it is for"))?;
        // The second one is not for forms (RFC 7578, 4.2), and counts where it stands alone.
        let file_name = match parameter(disposition, "filename") {
            Some(name) => Some(unquoted_name(name)),
            None => parameter(disposition, "filename*").map(|name| extended(name).ok_or(NOT_EXTENDED)).transpose()?,
        };
        Ok(Self { name: unquoted_name(name), file_name, content_type: content_type.to_owned() })
    }
}

const NOT_EXTENDED: Broken = Broken("filename* is not as RFC 8187 has it");

/// The boundary that `Content-Type` names (RFC 2046, 5.1.1: 1 to 70 characters).
pub(super) fn boundary(content_type: &str) -> Option<String> {
    parameter(content_type, "boundary").map(unquoted).filter(|boundary| (1..=70).contains(&boundary.len()))
}

#[cfg(test)]
#[path = "../../../tests/unit/form/multipart.rs"]
mod tests;
