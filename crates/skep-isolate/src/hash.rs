//! Identifies content: SHA-256.

use std::fmt;

use sha2::{Digest, Sha256};

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Hash([u8; SUM]);

/// Bytes of SHA-256.
pub(crate) const SUM: usize = 32;

impl Hash {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub(crate) fn is(&self, sum: &[u8]) -> bool {
        self.0 == sum
    }

    pub(crate) fn number(&self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|nth| self.0[nth]))
    }

    /// All digits, for file names.
    pub(crate) fn long(&self) -> String {
        use fmt::Write;
        self.0.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The first six bytes.
impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..6].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_has_one_hash() {
        assert_eq!(Hash::of(b"a").to_string(), "ca978112ca1b");
        assert_eq!(Hash::of(b"a").long().len(), 64);
        assert_ne!(Hash::of(b"a"), Hash::of(b"b"));
    }
}
