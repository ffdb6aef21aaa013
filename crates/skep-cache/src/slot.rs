//! What one key holds where the backend only knows bytes: an entry, a lease, or both.
//!
//! A driver that can read the bytes of a key and replace them in one step that nobody comes between keeps all promises by
//! doing what `Act::apply` says (Redis does it in Lua: `redis/act.lua`). The bytes are those of the entry; a lease stands before them:
//!
//! | bytes | what |
//! |---|---|
//! | 0 | 0x4C, a lease (an entry begins with another byte) |
//! | 1..9 | its token, little endian |
//! | 9..17 | when it ends, milliseconds since 1970 |
//! | 17.. | the entry, if there is one |

use bytes::Bytes;

use crate::clock::Time;
use crate::driver::{Claim, Entry};
use crate::error::Result;

#[cfg(any(feature = "file", feature = "sqlite", feature = "memcached"))]
mod act;

#[cfg(feature = "file")]
pub(crate) use act::ends;
#[cfg(any(feature = "file", feature = "sqlite", feature = "memcached"))]
pub(crate) use act::{Act, Change, Outcome, Stored};

/// The first byte of a lease.
pub(crate) const LEASE: u8 = 0x4C;

/// How long a lease is, in bytes.
pub(crate) const LEASE_LEN: usize = 17;

/// Where the entry begins in the bytes of a key.
pub(crate) fn entry_at(bytes: &[u8]) -> usize {
    if bytes.first() == Some(&LEASE) { LEASE_LEN.min(bytes.len()) } else { 0 }
}

/// Shows the entry in the bytes of a key, if one is live. An error if the bytes make no sense.
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

/// A lease, as it stands before an entry.
pub(crate) fn lease_bytes(claim: Claim) -> [u8; LEASE_LEN] {
    let mut bytes = [LEASE; LEASE_LEN];
    bytes[1..9].copy_from_slice(&claim.token.0.to_le_bytes());
    bytes[9..].copy_from_slice(&claim.until.millis().to_le_bytes());
    bytes
}
