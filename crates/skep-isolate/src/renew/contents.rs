//! What of a component changes while it runs: its memory, and its globals.

use std::fmt;

use sha2::{Digest, Sha256};

use super::PAGE;
use crate::source::Hash;

/// What sizes of memories are counted in.
const WASM_PAGE: u64 = 64 << 10;

/// Memory and globals at one moment.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Pages of 64 KiB that the memory has.
    pub(crate) size: u64,
    /// Where the part of it begins that is not empty; a multiple of [`PAGE`], as is its length.
    pub(crate) offset: usize,
    pub(crate) bytes: Vec<u8>,
    /// The bits of each global, in the order of [`super::Places`].
    pub(crate) globals: Vec<u64>,
}

impl Contents {
    /// A memory as it is, and globals.
    pub(crate) fn of(memory: &[u8], globals: Vec<u64>) -> Self {
        let (pages, _) = memory.as_chunks::<PAGE>();
        let is_full = |page: &[u8; PAGE]| page.iter().any(|byte| *byte != 0);
        let first = pages.iter().position(is_full).unwrap_or_default();
        let end = pages.iter().rposition(is_full).map_or(first, |last| last + 1);
        let bytes = pages[first..end].as_flattened().to_vec();
        Self { size: memory.len() as u64 / WASM_PAGE, offset: first * PAGE, bytes, globals }
    }

    /// Writes a segment of data. False if that is beyond the memory.
    pub(super) fn write(&mut self, at: u64, data: &[u8]) -> bool {
        let (Ok(start), Some(end)) = (usize::try_from(at), at.checked_add(data.len() as u64)) else { return false };
        if end > self.size.saturating_mul(WASM_PAGE) || data.is_empty() {
            return end <= self.size.saturating_mul(WASM_PAGE);
        }
        if self.bytes.is_empty() {
            self.offset = start / PAGE * PAGE;
        }
        if start < self.offset {
            // At least as much as there is, so that segments in descending order are not moved once for each.
            let new = start.min(self.offset.saturating_sub(self.bytes.len())) / PAGE * PAGE;
            self.bytes.splice(0..0, std::iter::repeat_n(0, self.offset - new));
            self.offset = new;
        }
        let start = start - self.offset;
        let end = start + data.len();
        self.bytes.resize(self.bytes.len().max(end.next_multiple_of(PAGE)), 0);
        self.bytes[start..end].copy_from_slice(data);
        true
    }

    /// Without the empty pages at both ends, as [`Self::of`] has it of a memory.
    pub(super) fn trimmed(self) -> Self {
        let kept = Self::of(&self.bytes, self.globals);
        let offset = if kept.bytes.is_empty() { 0 } else { self.offset + kept.offset };
        Self { size: self.size, offset, ..kept }
    }

    /// Which code with which contents.
    pub(crate) fn hash(&self, code: &Hash) -> Hash {
        let mut sum = Sha256::new().chain_update(code.long()).chain_update(self.size.to_le_bytes());
        sum.update((self.offset as u64).to_le_bytes());
        sum.update((self.bytes.len() as u64).to_le_bytes());
        sum.update(&self.bytes);
        self.globals.iter().for_each(|global| sum.update(global.to_le_bytes()));
        Hash::finish(sum)
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {}, globals {:x?}", self.bytes.len(), self.offset, self.globals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_make_what_memory_is() {
        let mut written = Contents { size: 1, ..Contents::default() };
        assert!(written.write(9000, b"later") && written.write(4100, b"first") && written.write(65_531, b"last!"));
        assert!(written.write(9002, b"T") && written.write(65_536, b""));
        assert!(!written.write(65_532, b"last!") && !written.write(65_537, b"") && !written.write(u64::MAX, b"x"));
        let mut memory = vec![0; 65_536];
        memory[9000..9005].copy_from_slice(b"laTer");
        memory[4100..4105].copy_from_slice(b"first");
        memory[65_531..].copy_from_slice(b"last!");
        let written = written.trimmed();
        assert_eq!(written, Contents::of(&memory, Vec::new()));
        assert_eq!(written.offset, PAGE);
        let code = Hash::of(b"code");
        assert_ne!(written.hash(&code), Contents { globals: vec![0], ..written.clone() }.hash(&code));
        assert_ne!(written.hash(&code), Contents { size: 2, ..written.clone() }.hash(&code));
        assert_ne!(written.hash(&code), Contents { offset: 0, ..written.clone() }.hash(&code));
    }

    #[test]
    fn what_is_written_as_zeros_is_empty() {
        let mut written = Contents { size: 2, ..Contents::default() };
        assert!(written.write(3 * PAGE as u64, &vec![0; 5 * PAGE]) && written.write(5 * PAGE as u64, b"x"));
        assert!(written.write(20 * PAGE as u64, b"y") && written.write(2 * PAGE as u64, b"z"));
        assert!(written.write(0, &[0; 10]) && written.write(21 * PAGE as u64, &[0; PAGE]));
        let mut memory = vec![0; 131_072];
        for (page, byte) in [(5, b'x'), (20, b'y'), (2, b'z')] {
            memory[page * PAGE] = byte;
        }
        assert_eq!(written.trimmed(), Contents::of(&memory, Vec::new()));
        let mut nothing = Contents { size: 1, ..Contents::default() };
        assert!(nothing.write(5000, &[0; 10]));
        assert_eq!(nothing.trimmed(), Contents::of(&vec![0; 65_536], Vec::new()));
    }
}
