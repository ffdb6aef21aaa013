//! The format and the name of a file.
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | `SKEPCF1`, and a line feed |
//! | 8..16 | the first 8 bytes of SHA-256 over the rest |
//! | 16..18 | length of the key, little endian |
//! | 18.. | the key |
//! | then | the bytes of the key ([`slot`](crate::slot)) |

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::driver::Header;
use crate::slot::{LEASE_LEN, Stored, entry_at};

const MAGIC: &[u8; 8] = b"SKEPCF1\n";
const KEY_AT: usize = 18;

/// Bytes that contain the key and the entry's header.
pub(super) const HEAD: usize = KEY_AT + crate::driver::MAX_KEY + LEASE_LEN + Header::LEN + 8 * 64;

/// A file's name: the SHA-256 of its key.
pub(super) fn name(key: &[u8]) -> String {
    crate::hash::hex(&Sha256::digest(key))
}

pub(super) fn size(key: &[u8], stored: &Stored) -> u64 {
    let parts: usize = stored.parts().iter().map(|part| part.len()).sum();
    (KEY_AT + key.len() + parts) as u64
}

pub(super) fn encode(key: &[u8], stored: &Stored) -> Vec<u8> {
    let mut file = Vec::with_capacity(KEY_AT + key.len() + LEASE_LEN + stored.entry.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&[0; 8]);
    // Keys have at most `MAX_KEY` bytes; a longer one would be a miss.
    file.extend_from_slice(&u16::try_from(key.len()).unwrap_or(u16::MAX).to_le_bytes());
    file.extend_from_slice(key);
    stored.parts().iter().for_each(|part| file.extend_from_slice(part));
    let sum = checksum(&file[16..]);
    file[8..16].copy_from_slice(&sum);
    file
}

/// The bytes of the key, or why the file is damaged.
pub(super) fn decode(file: Bytes, key: &[u8]) -> Result<Bytes, &'static str> {
    if file.len() < KEY_AT || &file[..8] != MAGIC {
        return Err("the file has another format");
    }
    if file[8..16] != checksum(&file[16..]) {
        return Err("the checksum of the file is wrong");
    }
    match split(&file) {
        Some((found, _)) if found == key => Ok(file.slice(KEY_AT + key.len()..)),
        _ => Err("the file belongs to another key"),
    }
}

/// The key and the first bytes of the entry, from the first bytes of a file.
pub(super) fn head(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, slot) = split(file)?;
    Some((key, &slot[entry_at(slot)..]))
}

/// The key and its bytes, of a file or its first bytes, for [`ends`](crate::slot::ends).
pub(super) fn split(file: &[u8]) -> Option<(&[u8], &[u8])> {
    if file.get(..8)? != MAGIC {
        return None;
    }
    let length = u16::from_le_bytes(file.get(16..KEY_AT)?.try_into().ok()?);
    file.get(KEY_AT..)?.split_at_checked(usize::from(length))
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    Sha256::digest(bytes)[..8].try_into().expect("8 bytes of 32")
}
