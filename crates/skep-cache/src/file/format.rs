//! What is in a file, and what it is called.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `SKEPCF1`, and a line feed |
//! | 8..16 | the first 8 bytes of SHA-256 over the rest |
//! | 16..18 | how long the key is, little endian |
//! | 18.. | the key |
//! | then | what the key holds ([`slot`](crate::slot)) |

use std::fmt::Write as _;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::driver::Header;
use crate::slot::{LEASE_LEN, Stored, entry_at};

const MAGIC: &[u8; 8] = b"SKEPCF1\n";
const KEY_AT: usize = 18;

/// So much of a file is enough to know its key and its entry's header.
pub(super) const HEAD: usize = KEY_AT + crate::driver::MAX_KEY + LEASE_LEN + Header::LEN + 8 * 64;

/// A file's name: the SHA-256 of its key.
pub(super) struct Name(String);

impl Name {
    pub(super) fn new(key: &[u8]) -> Self {
        let mut name = String::with_capacity(64);
        for byte in Sha256::digest(key) {
            let _ = write!(name, "{byte:02x}");
        }
        Self(name)
    }

    /// The folder it is in.
    pub(super) fn folder(&self) -> usize {
        (self.0.as_bytes()[0] as char).to_digit(16).map_or(0, |digit| digit as usize)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// How large the file will be.
pub(super) fn size(key: &[u8], stored: &Stored) -> u64 {
    let parts: usize = stored.parts().iter().map(|part| part.len()).sum();
    (KEY_AT + key.len() + parts) as u64
}

/// All of a file.
pub(super) fn encode(key: &[u8], stored: &Stored) -> Vec<u8> {
    let mut file = Vec::with_capacity(KEY_AT + key.len() + LEASE_LEN + stored.entry.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&[0; 8]);
    // Keys are at most `MAX_KEY` long; a longer one would not be found again, and is a miss.
    file.extend_from_slice(&u16::try_from(key.len()).unwrap_or(u16::MAX).to_le_bytes());
    file.extend_from_slice(key);
    stored.parts().iter().for_each(|part| file.extend_from_slice(part));
    let sum = checksum(&file[16..]);
    file[8..16].copy_from_slice(&sum);
    file
}

/// What the key holds; or what is wrong with the file.
pub(super) fn decode(file: Bytes, key: &[u8]) -> Result<Bytes, &'static str> {
    if file.len() < KEY_AT || &file[..8] != MAGIC {
        return Err("a file does not begin as one of this version");
    }
    if file[8..16] != checksum(&file[16..]) {
        return Err("a file's checksum is wrong");
    }
    match split(&file) {
        Some((found, _)) if found == key => Ok(file.slice(KEY_AT + key.len()..)),
        _ => Err("a file belongs to another key"),
    }
}

/// The key, and the beginning of the entry, of a file's beginning.
pub(super) fn head(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, slot) = split(file)?;
    Some((key, &slot[entry_at(slot)..]))
}

/// The key and what it holds, of a file or its beginning; for [`ends`](crate::slot::ends).
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
