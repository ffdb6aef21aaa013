//! From bytes that arrive in any pieces to messages (RFC 6455, 5.4 to 5.6). Nothing here waits.

use super::deflate::inflated;
use super::frame::{Header, Opcode, unmask};
use super::{CloseCode, Error, Message};

/// What the peer has sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    Message(Message),
    Ping(Vec<u8>),
    Pong,
    Close(Option<CloseCode>),
}

/// The bytes that arrived, and the message that they are part of. Both are empty while nothing arrives.
#[derive(Debug)]
pub(super) struct Incoming {
    most: usize,
    /// Whether messages may be compressed.
    deflates: bool,
    input: Vec<u8>,
    frame: Option<Frame>,
    /// Of a control frame, which may come within a message.
    control: Vec<u8>,
    message: Option<Partial>,
}

/// A frame whose header has arrived.
#[derive(Debug)]
struct Frame {
    header: Header,
    /// How much of its payload has been taken.
    taken: u64,
}

/// A message so far.
#[derive(Debug)]
struct Partial {
    is_text: bool,
    is_deflated: bool,
    bytes: Vec<u8>,
    /// How much of it is known to be UTF-8.
    valid: usize,
}

impl Incoming {
    pub(super) fn new(most: usize, deflates: bool) -> Self {
        Self { most, deflates, input: Vec::new(), frame: None, control: Vec::new(), message: None }
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// True if bytes have arrived that are no event yet.
    pub(super) fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    /// The next event, if its bytes have arrived.
    pub(super) fn next(&mut self) -> Result<Option<Event>, Error> {
        let mut used = 0;
        let event = self.find(&mut used);
        if used == self.input.len() {
            self.input = Vec::new();
        } else {
            self.input.drain(..used);
        }
        event
    }

    fn find(&mut self, used: &mut usize) -> Result<Option<Event>, Error> {
        loop {
            if self.frame.is_none() {
                let Some((header, length)) = Header::parse(&self.input[*used..])? else { return Ok(None) };
                self.begin(header)?;
                *used += length;
            }
            let Some(frame) = &mut self.frame else { return Ok(None) };
            let left = usize::try_from(frame.header.length - frame.taken).unwrap_or(usize::MAX);
            let here = left.min(self.input.len() - *used);
            let piece = &mut self.input[*used..*used + here];
            unmask(piece, frame.header.mask, frame.taken);
            frame.taken += here as u64;
            *used += here;
            let (is_complete, header) = (here == left, frame.header);
            let is_last = is_complete && header.is_last;
            match &mut self.message {
                _ if header.opcode.is_control() => self.control.extend_from_slice(piece),
                Some(message) => message.extend(piece, is_last)?,
                None => {}
            }
            if !is_complete {
                return Ok(None);
            }
            self.frame = None;
            if header.opcode.is_control() {
                return control(header.opcode, std::mem::take(&mut self.control)).map(Some);
            }
            if let Some(message) = self.message.take_if(|_| is_last) {
                return message.finish(self.most).map(|message| Some(Event::Message(message)));
            }
        }
    }

    fn begin(&mut self, header: Header) -> Result<(), Error> {
        let violation = |why| Err(Error::violation(CloseCode::PROTOCOL, why));
        if header.is_deflated && !(self.deflates && matches!(header.opcode, Opcode::Text | Opcode::Binary)) {
            return violation("a bit is set that no extension has defined");
        }
        match (header.opcode, &self.message) {
            (Opcode::Continuation, None) => return violation("a message begins with a continuation"),
            (Opcode::Text | Opcode::Binary, Some(_)) => return violation("a message begins within another"),
            (Opcode::Text | Opcode::Binary, None) => {
                let is_text = header.opcode == Opcode::Text;
                let is_deflated = header.is_deflated;
                self.message = Some(Partial { is_text, is_deflated, bytes: Vec::new(), valid: 0 });
            }
            _ => {}
        }
        let before = self.message.as_ref().map_or(0, |message| message.bytes.len());
        // Before any of it is stored.
        if !header.opcode.is_control() && header.length > self.most.saturating_sub(before) as u64 {
            return Err(Error::violation(CloseCode::TOO_LARGE, "the message is too large"));
        }
        self.frame = Some(Frame { header, taken: 0 });
        Ok(())
    }
}

impl Partial {
    fn extend(&mut self, piece: &[u8], is_last: bool) -> Result<(), Error> {
        self.bytes.extend_from_slice(piece);
        if !self.is_text || self.is_deflated {
            return Ok(());
        }
        match std::str::from_utf8(&self.bytes[self.valid..]) {
            Ok(_) => self.valid = self.bytes.len(),
            // The beginning of a character, of which the rest follows.
            Err(error) if error.error_len().is_none() && !is_last => self.valid += error.valid_up_to(),
            Err(_) => return Err(no_text()),
        }
        Ok(())
    }

    fn finish(mut self, most: usize) -> Result<Message, Error> {
        if self.is_deflated {
            self.bytes = inflated(&self.bytes, most)?;
        }
        if self.is_text {
            String::from_utf8(self.bytes).map(Message::Text).map_err(|_| no_text())
        } else {
            Ok(Message::Binary(self.bytes))
        }
    }
}

fn no_text() -> Error {
    Error::violation(CloseCode::INVALID, "a text is not UTF-8")
}

fn control(opcode: Opcode, payload: Vec<u8>) -> Result<Event, Error> {
    match opcode {
        Opcode::Ping => Ok(Event::Ping(payload)),
        Opcode::Close => close(&payload).map(Event::Close),
        _ => Ok(Event::Pong),
    }
}

/// The code of a close frame, if it has one.
fn close(payload: &[u8]) -> Result<Option<CloseCode>, Error> {
    let violation = |why| Err(Error::violation(CloseCode::PROTOCOL, why));
    match payload {
        [] => Ok(None),
        [_] => violation("half a close code"),
        [first, second, reason @ ..] => {
            let code = CloseCode(u16::from_be_bytes([*first, *second]));
            match (code.is_valid(), std::str::from_utf8(reason)) {
                (true, Ok(_)) => Ok(Some(code)),
                (true, Err(_)) => Err(no_text()),
                (false, _) => violation("an invalid close code"),
            }
        }
    }
}
