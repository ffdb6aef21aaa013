//! Compressed messages: `permessage-deflate` (RFC 7692), in its form without context takeover.
//!
//! Each message is compressed by itself, with the memory of its thread: a connection keeps none.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::{CloseCode, Error};

/// What is accepted: neither side remembers earlier messages.
pub(super) const ACCEPTED: &str = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

/// What a message ends with, and what is not sent of it (RFC 7692, 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// A third of the default's time, for a tenth more bytes.
const LEVEL: Compression = Compression::new(3);

/// Room that is made at a time.
const ROOM: usize = 4 << 10;

thread_local! {
    static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(LEVEL, false));
    static INFLATE: RefCell<Decompress> = RefCell::new(Decompress::new(false));
}

/// True if one of these offers can be accepted as [`ACCEPTED`] (RFC 7692, 7.1).
pub(super) fn is_offered<'o>(mut offers: impl Iterator<Item = &'o str>) -> bool {
    offers.any(is_acceptable)
}

fn is_acceptable(offer: &str) -> bool {
    let mut parts = offer.split(';').map(str::trim);
    let (name, mut seen) = (parts.next().unwrap_or_default(), Vec::new());
    name.eq_ignore_ascii_case("permessage-deflate")
        && parts.all(|parameter| {
            let (name, value) = parameter
                .split_once('=')
                .map_or((parameter, None), |(name, value)| (name.trim(), Some(value.trim().trim_matches('"'))));
            let is_first = !seen.contains(&name);
            seen.push(name);
            let bits = |value: &str| {
                value.parse().is_ok_and(|bits: u8| (8..=15).contains(&bits) && !value.starts_with(['0', '+']))
            };
            is_first
                && match name {
                    "server_no_context_takeover" | "client_no_context_takeover" => value.is_none(),
                    "client_max_window_bits" => value.is_none_or(bits),
                    // Ours are as large as they can be.
                    "server_max_window_bits" => value == Some("15"),
                    _ => false,
                }
        })
}

/// A message, compressed; none if it did not become smaller.
pub(super) fn deflated(message: &[u8]) -> Option<Vec<u8>> {
    DEFLATE.with_borrow_mut(|deflate| {
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
        let mut out = Vec::new();
        take(inflate, payload, &mut out, most)?;
        take(inflate, &TAIL, &mut out, most)?;
        Ok(out)
    })
}

fn take(inflate: &mut Decompress, mut input: &[u8], out: &mut Vec<u8>, most: usize) -> Result<(), Error> {
    let wrong = || Error::violation(CloseCode::INVALID, "a message is not compressed as it says");
    loop {
        if out.len() == out.capacity() {
            out.reserve(ROOM.max(out.len() / 2));
        }
        let before = inflate.total_in();
        let status = inflate.decompress_vec(input, out, FlushDecompress::Sync).map_err(|_| wrong())?;
        input = input.get(usize::try_from(inflate.total_in() - before).unwrap_or(usize::MAX)..).ok_or_else(wrong)?;
        if out.len() > most {
            return Err(Error::violation(CloseCode::TOO_LARGE, "the message is too large"));
        }
        match status {
            // Another block may follow the last one (RFC 7692, 7.2.3.5).
            Status::StreamEnd => inflate.reset(false),
            _ if input.is_empty() && out.len() < out.capacity() => return Ok(()),
            Status::BufError if out.len() < out.capacity() => return Err(wrong()),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/websocket/deflate.rs"]
mod tests;
