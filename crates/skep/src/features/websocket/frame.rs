//! Frames as bytes (RFC 6455, 5.2).

use super::{CloseCode, Error};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

/// What comes before the payload of a client's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) is_last: bool,
    /// The first bit for extensions: a message is compressed that begins here (RFC 7692, 6).
    pub(super) is_deflated: bool,
    pub(super) opcode: Opcode,
    pub(super) length: u64,
    pub(super) mask: [u8; 4],
}

/// The longest header: two bytes, a length of eight, a mask of four.
const LONGEST_CONTROL: u64 = 125;

impl Opcode {
    fn of(bits: u8) -> Option<Self> {
        let all = [Self::Continuation, Self::Text, Self::Binary, Self::Close, Self::Ping, Self::Pong];
        all.into_iter().find(|opcode| *opcode as u8 == bits)
    }

    pub(super) fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

impl Header {
    /// The header that these bytes begin with, and its length. `None` if it is not complete.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Error> {
        let [first, second, rest @ ..] = bytes else { return Ok(None) };
        let opcode = Opcode::of(first & 0x0f).ok_or_else(|| violation("an unknown kind of frame"))?;
        if first & 0x30 != 0 {
            return Err(violation("a bit is set that no extension has defined"));
        }
        if second & 0x80 == 0 {
            return Err(violation("a frame of a client is not masked"));
        }
        let (length, rest) = match second & 0x7f {
            126 => {
                let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
                let length = u64::from(u16::from_be_bytes(*length));
                if length < 126 {
                    return Err(violation(NOT_MINIMAL));
                }
                (length, rest)
            }
            127 => {
                let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
                let length = u64::from_be_bytes(*length);
                if length <= 0xffff || length >> 63 != 0 {
                    return Err(violation(NOT_MINIMAL));
                }
                (length, rest)
            }
            short => (u64::from(short), rest),
        };
        let (is_last, is_deflated) = (first & 0x80 != 0, first & 0x40 != 0);
        if opcode.is_control() && (!is_last || length > LONGEST_CONTROL) {
            return Err(violation("a control frame is fragmented, or longer than 125 bytes"));
        }
        let Some((mask, rest)) = rest.split_first_chunk() else { return Ok(None) };
        Ok(Some((Self { is_last, is_deflated, opcode, length, mask: *mask }, bytes.len() - rest.len())))
    }
}

const NOT_MINIMAL: &str = "the length of a frame is not in its shortest form, or has its highest bit set";

fn violation(why: &'static str) -> Error {
    Error::violation(CloseCode::PROTOCOL, why)
}

/// Appends a whole frame. Those of a server are not masked.
pub(super) fn push_frame(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
    push(out, opcode as u8, payload);
}

/// The same, of a message that is compressed.
pub(super) fn push_deflated(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
    push(out, 0x40 | opcode as u8, payload);
}

fn push(out: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    out.reserve(payload.len() + 10);
    out.push(0x80 | kind);
    match payload.len() {
        short @ 0..=125 => out.push(u8::try_from(short).unwrap_or_default()),
        middle @ 126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&u16::try_from(middle).unwrap_or_default().to_be_bytes());
        }
        long => {
            out.push(127);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

/// Removes the mask from a piece of a payload that begins `at` bytes into it.
pub(super) fn unmask(piece: &mut [u8], mask: [u8; 4], at: u64) {
    let mut mask = mask;
    mask.rotate_left(usize::try_from(at % 4).unwrap_or_default());
    let word = u64::from_ne_bytes([mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3]]);
    let (words, rest) = piece.as_chunks_mut::<8>();
    for eight in words {
        *eight = (u64::from_ne_bytes(*eight) ^ word).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= mask;
    }
}
