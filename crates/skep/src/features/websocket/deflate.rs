//! Compressed messages: `permessage-deflate` (RFC 7692), in its form without context takeover.
//!
//! Each message is compressed by itself, with the memory of its thread: a connection keeps none.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use http::HeaderValue;

use super::{CloseCode, Error};

/// What was agreed on: neither side remembers earlier messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreed {
    /// The bits of our window, if the client limits them.
    window: Option<u8>,
}

/// Those of the largest window.
const BITS: u8 = 15;
/// And of the smallest one that can be had: zlib has none of 8 bits.
const FEWEST: u8 = 9;
/// From one to the other.
const WINDOWS: usize = 7;

/// What a message ends with, and what is not sent of it (RFC 7692, 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// A third of the default's time, for a tenth more bytes.
const LEVEL: Compression = Compression::new(3);

/// Room that is made at a time.
const ROOM: usize = 4 << 10;

thread_local! {
    /// One for each window, from the smallest on, made when it is needed.
    static DEFLATE: RefCell<[Option<Compress>; WINDOWS]> = const { RefCell::new([const { None }; _]) };
    static INFLATE: RefCell<Decompress> = RefCell::new(Decompress::new(false));
}

impl Agreed {
    /// The first of these offers that can be accepted (RFC 7692, 7.1).
    pub(super) fn of<'o>(mut offers: impl Iterator<Item = &'o str>) -> Option<Self> {
        offers.find_map(Self::of_one)
    }

    fn of_one(offer: &str) -> Option<Self> {
        let mut parts = offer.split(';').map(str::trim);
        let (mut agreed, mut seen) = (Self::default(), Vec::new());
        if !parts.next()?.eq_ignore_ascii_case("permessage-deflate") {
            return None;
        }
        for parameter in parts {
            let (name, value) = parameter
                .split_once('=')
                .map_or((parameter, None), |(name, value)| (name.trim(), Some(value.trim().trim_matches('"'))));
            match (name, value) {
                _ if seen.contains(&name) => return None,
                ("server_no_context_takeover" | "client_no_context_takeover" | "client_max_window_bits", None) => {}
                // Ours is as large as any of theirs.
                ("client_max_window_bits", Some(value)) => _ = bits(value)?,
                ("server_max_window_bits", Some(value)) => {
                    agreed.window = Some(bits(value).filter(|bits| *bits >= FEWEST)?);
                }
                _ => return None,
            }
            seen.push(name);
        }
        Some(agreed)
    }

    /// What the client receives. A limit of our window is repeated (RFC 7692, 7.1.2.1).
    pub(super) fn response(self) -> HeaderValue {
        const ALWAYS: &str = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
        match self.window {
            None => HeaderValue::from_static(ALWAYS),
            Some(bits) => HeaderValue::try_from(format!("{ALWAYS}; server_max_window_bits={bits}"))
                .expect("a number can be in a field"),
        }
    }
}

fn bits(value: &str) -> Option<u8> {
    let bits = value.parse().ok().filter(|bits| (8..=BITS).contains(bits));
    bits.filter(|_| !value.starts_with(['0', '+']))
}

/// A message, compressed; none if it did not become smaller.
pub(super) fn deflated(message: &[u8], agreed: Agreed) -> Option<Vec<u8>> {
    DEFLATE.with_borrow_mut(|all| {
        let bits = agreed.window.unwrap_or(BITS);
        let deflate = all.get_mut(usize::from(bits - FEWEST))?;
        let deflate = deflate.get_or_insert_with(|| Compress::new_with_window_bits(LEVEL, false, bits));
        deflate.reset();
        let (mut out, mut rest) = (Vec::with_capacity(message.len() / 2 + 64), message);
        loop {
            let before = deflate.total_in();
            deflate.compress_vec(rest, &mut out, FlushCompress::Sync).ok()?;
            rest = &rest[usize::try_from(deflate.total_in() - before).ok()?..];
            if rest.is_empty() && out.len() < out.capacity() {
                break;
            }
            if out.len() >= message.len() {
                return None;
            }
            out.reserve(ROOM);
        }
        out.truncate(out.strip_suffix(&TAIL)?.len());
        (out.len() < message.len()).then_some(out)
    })
}

/// What was compressed.
///
/// # Errors
/// If it is more than `most` bytes, or was not compressed so.
pub(super) fn inflated(payload: &[u8], most: usize) -> Result<Vec<u8>, Error> {
    INFLATE.with_borrow_mut(|inflate| {
        inflate.reset(false);
        // Each begins with an empty window, which takes much longer than the two bytes of an empty stream.
        let (mut out, mut streams) = (Vec::new(), 1 + payload.len() / 64);
        take(inflate, payload, &mut out, most, &mut streams)?;
        take(inflate, &TAIL, &mut out, most, &mut streams)?;
        Ok(out)
    })
}

/// `streams` is how many may still end.
fn take(
    inflate: &mut Decompress,
    mut input: &[u8],
    out: &mut Vec<u8>,
    most: usize,
    streams: &mut usize,
) -> Result<(), Error> {
    let wrong = || Error::violation(CloseCode::INVALID, "a message is not compressed as it says");
    loop {
        if out.len() == out.capacity() {
            // One byte above the bound tells that it is passed.
            out.reserve_exact(ROOM.max(out.len() / 2).min((most - out.len()).saturating_add(1)));
        }
        let before = inflate.total_in();
        let status = inflate.decompress_vec(input, out, FlushDecompress::Sync).map_err(|_| wrong())?;
        input = input.get(usize::try_from(inflate.total_in() - before).unwrap_or(usize::MAX)..).ok_or_else(wrong)?;
        if out.len() > most {
            return Err(Error::violation(CloseCode::TOO_LARGE, "the message is too large"));
        }
        match status {
            // Another block may follow the last one (RFC 7692, 7.2.3.5).
            Status::StreamEnd => {
                *streams = streams.checked_sub(1).ok_or_else(wrong)?;
                inflate.reset(false);
            }
            _ if input.is_empty() && out.len() < out.capacity() => return Ok(()),
            Status::BufError if out.len() < out.capacity() => return Err(wrong()),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/websocket/deflate.rs"]
mod tests;
