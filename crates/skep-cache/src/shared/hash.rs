//! The hash of a key and the sum over a record, both keyed by numbers drawn when the file was made.
//!
//! The seeds keep others from choosing keys that collide. The checksum detects damage, not forgery: a user who may
//! write the file may write anything. Both belong to the layout: changing them requires a new
//! [`VERSION`](super::layout::VERSION).

use std::hash::{BuildHasher, Hasher, RandomState};

/// Odd numbers without a pattern: the fractional parts of the square roots of 2, 3, 5 and 7.
const ROOTS: [u64; 4] = [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1];

/// Two secret numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seeds(pub(crate) [u64; 2]);

impl Seeds {
    /// Draws random seeds: `RandomState` is the only source of randomness in the standard library.
    pub(crate) fn draw() -> Self {
        let draw = || RandomState::new().build_hasher().finish();
        Self([draw(), draw()])
    }

    /// The hash of a key in a generation of the file, never 0. Another generation changes all hashes, which invalidates
    /// everything at once.
    #[inline]
    pub(crate) fn hash(self, generation: u64, key: &[u8]) -> u64 {
        let (mut a, mut b) = (self.0[0], self.0[1].wrapping_add(generation.wrapping_mul(ROOTS[1])));
        let mut pairs = key.chunks_exact(16);
        for pair in &mut pairs {
            a = fold(a ^ word(&pair[..8]), b ^ word(&pair[8..]));
            b = b.wrapping_add(ROOTS[0]);
        }
        let rest = pairs.remainder();
        let (low, high) = rest.split_at(rest.len().min(8));
        a = fold(a ^ word(low), b ^ word(high) ^ ROOTS[1]);
        let length = (key.len() as u64).wrapping_mul(ROOTS[0]);
        fold(a ^ ROOTS[2], (self.0[1] ^ ROOTS[3]).wrapping_add(length)).max(1)
    }
}

/// Up to eight bytes as a number, with zeros behind them.
///
/// Fewer than eight are put together from parts that may overlap: copied into a word in memory, they could not be read
/// again before the copy is done, and the address of the index line waits for that.
#[inline]
pub(crate) fn word(bytes: &[u8]) -> u64 {
    if let Some(bytes) = bytes.first_chunk() {
        return u64::from_le_bytes(*bytes);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [first, last].map(|part| u64::from(u32::from_le_bytes(*part)));
        return first | last << (8 * (bytes.len() - 4));
    }
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Both halves of the product, one upon the other: each bit of it depends on most bits of the factors.
#[inline]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A sum over words, in order. Each pair is multiplied with keys of its place and added (the scheme of NH in UMAC,
/// RFC 4418): no product waits for another, so that summing is as fast as copying.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    total: u128,
    keys: [u64; 2],
}

impl Sum {
    #[inline]
    pub(crate) fn new(seeds: Seeds, hash: u64) -> Self {
        Self { total: u128::from(hash), keys: [seeds.0[1] ^ ROOTS[0], seeds.0[0] ^ ROOTS[2]] }
    }

    #[inline]
    pub(crate) fn pair(&mut self, a: u64, b: u64) {
        let [first, second] = self.keys;
        let product = u128::from(a.wrapping_add(first)) * u128::from(b.wrapping_add(second));
        self.total = self.total.wrapping_add(product);
        self.keys = [first.wrapping_add(ROOTS[1]), second.wrapping_add(ROOTS[3])];
    }

    #[inline]
    pub(crate) fn finish(self) -> u64 {
        fold((self.total as u64) ^ ROOTS[2], ((self.total >> 64) as u64) ^ self.keys[0])
    }
}

#[cfg(test)]
#[path = "../../tests/unit/shared/hash.rs"]
mod tests;
