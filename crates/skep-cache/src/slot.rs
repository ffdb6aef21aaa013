//! The bytes of one key where the backend knows only bytes: an entry, a lease, or both.
//!
//! A driver that can replace the bytes of a key atomically keeps the whole contract with `Operation::apply` (Redis runs the same in
//! Lua: `redis/operation.lua`). A lease precedes the entry:
//!
//! | bytes | content |
//! |---|---|
//! | 0 | 0x4C, a lease (an entry begins with another byte) |
//! | 1..9 | its token, little endian |
//! | 9..17 | its end, milliseconds since 1970 |
//! | 17.. | the entry, if there is one |

use bytes::Bytes;

use crate::clock::Time;
use crate::driver::{Claim, Entry};
use crate::error::Result;

mod operation;

#[cfg(feature = "file")]
pub(crate) use operation::ends;
pub(crate) use operation::{Change, Operation, Outcome, Stored};

/// The first byte of a lease.
pub(crate) const LEASE: u8 = 0x4C;

/// Bytes of a lease.
pub(crate) const LEASE_LEN: usize = 17;

/// The offset of the entry.
pub(crate) fn entry_at(bytes: &[u8]) -> usize {
    if bytes.first() == Some(&LEASE) { LEASE_LEN.min(bytes.len()) } else { 0 }
}

/// Passes the entry to `read` if it is live. Invalid bytes are an error.
pub(crate) fn show<R>(bytes: &Bytes, now: Time, read: impl FnOnce(Entry<'_>) -> R) -> Result<Option<R>> {
    let at = entry_at(bytes);
    if at > 0 && at == bytes.len() {
        return Ok(None);
    }
    let whole;
    let ours = if at == 0 {
        bytes
    } else {
        whole = bytes.slice(at..);
        &whole
    };
    let entry = Entry::parse_shared(ours)?;
    Ok(entry.is_live(now).then(|| read(entry)))
}

/// The bytes of a lease.
pub(crate) fn lease_bytes(claim: Claim) -> [u8; LEASE_LEN] {
    let mut bytes = [LEASE; LEASE_LEN];
    bytes[1..9].copy_from_slice(&claim.token.0.to_le_bytes());
    bytes[9..].copy_from_slice(&claim.until.millis().to_le_bytes());
    bytes
}
