//! Bodies in chunks (RFC 9112, 7.1). Extensions and trailers are bounded and dropped.

use super::{Validated, bad_request, reject};
use http::StatusCode;

/// Bytes of one body that say nothing: extensions, trailers, leading zeros.
const MOST_DROPPED: usize = 16 << 10;

/// Follows one body.
#[derive(Debug, Default)]
pub(crate) struct Chunked {
    state: State,
    /// Bytes that said nothing, so far.
    dropped: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the size of a chunk.
    #[default]
    Start,
    /// In it.
    Size(u64),
    /// Behind it, in spaces, in an extension.
    Space(u64),
    Extension(u64),
    /// Behind the CR of that line.
    SizeEnd(u64),
    Data(u64),
    /// Behind the data; its CR, its LF.
    DataEnd,
    DataEnded,
    /// At the beginning of a trailer, in its name, behind that, behind its CR.
    TrailerStart,
    TrailerName,
    Trailer,
    TrailerEnd,
    /// Behind the CR of the last line.
    LastEnd,
}

/// What some bytes of the body are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decoded<'b> {
    Data(&'b [u8]),
    /// No data: more bytes are needed.
    More,
    /// The body is complete.
    End,
}

impl Chunked {
    /// Decodes the first piece of data, and says how many bytes were taken.
    ///
    /// # Errors
    /// If this is no chunk.
    pub(crate) fn decode<'b>(&mut self, bytes: &'b [u8]) -> Validated<(usize, Decoded<'b>)> {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if let State::Data(left) = self.state {
                let length = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - at);
                let rest = left - length as u64;
                self.state = if rest == 0 { State::DataEnd } else { State::Data(rest) };
                return Ok((at + length, Decoded::Data(&bytes[at..at + length])));
            }
            at += 1;
            if matches!(
                self.state,
                State::Size(0)
                    | State::Space(_)
                    | State::Extension(_)
                    | State::TrailerStart
                    | State::TrailerName
                    | State::Trailer
            ) {
                self.dropped += 1;
            }
            if self.dropped > MOST_DROPPED {
                return Err(reject(StatusCode::PAYLOAD_TOO_LARGE, "there is more beside the chunks than is read"));
            }
            match self.next(*byte)? {
                Some(state) => self.state = state,
                None => return Ok((at, Decoded::End)),
            }
        }
        Ok((at, Decoded::More))
    }

    /// Appends the data of whole chunks with a size of one digit, of which there may be as many as bytes, and says how
    /// many bytes were taken: what [`decode`](Self::decode) does, without a look at each byte. It knows all else.
    pub(crate) fn take_small(&mut self, bytes: &[u8], data: &mut Vec<u8>) -> usize {
        let mut at = 0;
        while self.state == State::DataEnd
            && let [b'\r', b'\n', digit, b'\r', b'\n', rest @ ..] = &bytes[at..]
            && let Some(size @ 1..) = char::from(*digit).to_digit(16)
            && let Some(chunk) = rest.get(..size as usize)
        {
            match chunk {
                [byte] => data.push(*byte),
                _ => data.extend_from_slice(chunk),
            }
            at += 5 + chunk.len();
        }
        at
    }

    /// The state after a byte that is not data. `None`: the body is complete.
    fn next(&self, byte: u8) -> Validated<Option<State>> {
        let malformed = Err(bad_request("the body is not made of chunks"));
        Ok(Some(match (self.state, byte) {
            (State::Start, _) => match char::from(byte).to_digit(16) {
                Some(digit) => State::Size(digit.into()),
                None => return malformed,
            },
            (State::Size(size) | State::Space(size) | State::Extension(size), b'\r') => State::SizeEnd(size),
            (State::Size(size) | State::Space(size), b' ' | b'\t') => State::Space(size),
            (State::Size(size) | State::Space(size), b';') => State::Extension(size),
            (State::Size(size), _) => match char::from(byte).to_digit(16) {
                // Sixteen digits more than fit: nobody sends an exbibyte.
                Some(digit) if size >> 56 == 0 => State::Size(size << 4 | u64::from(digit)),
                _ => return malformed,
            },
            (State::Extension(size), byte) if is_text(byte) => State::Extension(size),
            (State::SizeEnd(0) | State::TrailerEnd, b'\n') => State::TrailerStart,
            (State::SizeEnd(size), b'\n') => State::Data(size),
            (State::DataEnd, b'\r') => State::DataEnded,
            (State::DataEnded, b'\n') => State::Start,
            (State::TrailerStart, b'\r') => State::LastEnd,
            (State::TrailerStart | State::TrailerName, byte) if is_token(byte) => State::TrailerName,
            (State::TrailerName, b':') => State::Trailer,
            (State::Trailer, b'\r') => State::TrailerEnd,
            (State::Trailer, byte) if is_text(byte) => State::Trailer,
            (State::LastEnd, b'\n') => return Ok(None),
            _ => return malformed,
        }))
    }
}

/// True for what a name consists of (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// True for what may stand in an extension or a field.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

#[cfg(test)]
#[path = "../../tests/unit/http1/chunked.rs"]
mod tests;
