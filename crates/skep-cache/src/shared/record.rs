//! A record in a ring: a key and its value.
//!
//! ```text
//! word 0      hash of the key, never 0
//! word 1      kind (8 bits), flags (8), generation (8), length of the key (8), length of the value (32)
//! word 2      version
//! word 3      expiry, in milliseconds since 1970
//! word 4      sum of all the others
//! word 5 ..   key, from the next word on the value; the last word of each filled up with zeros
//! ```
//! A record is an even number of words. Lengths read from it are checked before use.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::hash::{Seeds, Sum, word};

pub(crate) const HEADER: usize = 5;
/// Flags of an entry; see [`Flags`](crate::driver::Flags).
pub(crate) const TOMBSTONE: u8 = 1;
pub(crate) const EPOCH: u8 = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A filler up to the end of the ring.
    #[default]
    Pad = 1,
    Entry = 2,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub(crate) hash: u64,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    pub(crate) generation: u8,
    pub(crate) key: usize,
    pub(crate) value: usize,
    pub(crate) version: u64,
    pub(crate) expires: u64,
    sum: u64,
    shape: u64,
}

impl Head {
    /// Loads a header; `None` if it is invalid, or longer than the slice.
    #[inline]
    pub(crate) fn load(words: &[AtomicU64]) -> Option<Self> {
        let words: &[AtomicU64; HEADER] = words.first_chunk()?;
        let [hash, shape, version, expires, sum] = [0, 1, 2, 3, 4].map(|at| words[at].load(Relaxed));
        let kind = match shape >> 56 {
            1 => Kind::Pad,
            2 => Kind::Entry,
            _ => return None,
        };
        let (key, value) = ((shape >> 32 & 0xff) as usize, (shape & 0xffff_ffff) as usize);
        let (flags, generation) = ((shape >> 48) as u8, (shape >> 40) as u8);
        Some(Self { hash, kind, flags, generation, key, value, version, expires, sum, shape })
    }

    pub(crate) fn filler(words: usize) -> Self {
        Self { value: words, ..Self::default() }
    }

    pub(crate) fn is_tombstone(&self) -> bool {
        self.flags & TOMBSTONE != 0
    }

    /// Whether it is the epoch of a tag, which is evicted last.
    pub(crate) fn is_epoch(&self) -> bool {
        self.flags & EPOCH != 0
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.kind == Kind::Entry && self.flags & (TOMBSTONE | EPOCH) == 0
    }

    #[inline]
    pub(crate) fn words(&self) -> usize {
        if self.kind == Kind::Pad { self.value } else { size(self.key, self.value) }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct New<'a> {
    pub(crate) hash: u64,
    pub(crate) flags: u8,
    pub(crate) generation: u8,
    pub(crate) key: &'a [u8],
    pub(crate) value: &'a [u8],
    pub(crate) version: u64,
    pub(crate) expires: u64,
}

impl New<'_> {
    pub(crate) fn is_plain(&self) -> bool {
        self.flags & (TOMBSTONE | EPOCH) == 0
    }
}

/// Words of a record with a key and a value of these lengths.
pub(crate) fn size(key: usize, value: usize) -> usize {
    (HEADER + key.div_ceil(8) + value.div_ceil(8)).next_multiple_of(2)
}

pub(crate) fn pad(words: &[AtomicU64]) {
    if let [hash, shape, ..] = words {
        hash.store(0, Relaxed);
        shape.store((Kind::Pad as u64) << 56 | words.len() as u64, Relaxed);
    }
}

/// Writes a record; the slice is as long as [`size`] says.
pub(crate) fn write(words: &[AtomicU64], seeds: Seeds, new: &New<'_>) {
    let shape = (Kind::Entry as u64) << 56
        | u64::from(new.flags) << 48
        | u64::from(new.generation) << 40
        | (new.key.len() as u64 & 0xff) << 32
        | new.value.len() as u64 & 0xffff_ffff;
    let mut sum = Sum::new(seeds, new.hash);
    sum.pair(shape, new.version);
    sum.pair(new.expires, 0);
    let (header, bytes) = words.split_at(HEADER);
    let (key, value) = bytes.split_at(new.key.len().div_ceil(8));
    fill(key, new.key, &mut sum);
    fill(value, new.value, &mut sum);
    let numbers = [new.hash, shape, new.version, new.expires, sum.finish()];
    header.iter().zip(numbers).for_each(|(word, number)| word.store(number, Relaxed));
}

fn fill(words: &[AtomicU64], bytes: &[u8], sum: &mut Sum) {
    let (pairs, rest) = bytes.as_chunks();
    for (to, from) in words.as_chunks::<2>().0.iter().zip(pairs) {
        let [a, b] = halves(from);
        to[0].store(a, Relaxed);
        to[1].store(b, Relaxed);
        sum.pair(a, b);
    }
    if rest.is_empty() {
        return;
    }
    let (low, high) = rest.split_at(rest.len().min(8));
    let last = [word(low), word(high)];
    words[pairs.len() * 2..].iter().zip(last).for_each(|(to, from)| to.store(from, Relaxed));
    sum.pair(last[0], last[1]);
}

#[inline]
fn halves(bytes: &[u8; 16]) -> [u64; 2] {
    let both = u128::from_le_bytes(*bytes);
    [both as u64, (both >> 64) as u64]
}

/// Whether the record has this key; adds it to the checksum.
#[inline]
fn sum_key(words: &[AtomicU64], key: &[u8], sum: &mut Sum) -> bool {
    let (pairs, rest) = key.as_chunks();
    let mut wrong = 0;
    for (at, key) in words.as_chunks::<2>().0.iter().zip(pairs) {
        let [[a, b], [first, second]] = [at.each_ref().map(|word| word.load(Relaxed)), halves(key)];
        wrong |= a ^ first | b ^ second;
        sum.pair(a, b);
    }
    if !rest.is_empty() {
        let (low, high) = rest.split_at(rest.len().min(8));
        let last = words.get(pairs.len() * 2..).unwrap_or_default();
        let [a, b] = [0, 1].map(|at| last.get(at).map_or(0, |word| word.load(Relaxed)));
        wrong |= a ^ word(low) | b ^ word(high);
        sum.pair(a, b);
    }
    wrong == 0
}

/// Copies bytes out of words into a slice that is as long as they are.
#[inline]
fn copy(words: &[AtomicU64], out: &mut [u8], sum: &mut Sum) {
    let (pairs, rest) = out.as_chunks_mut::<16>();
    for (to, from) in pairs.iter_mut().zip(words.as_chunks::<2>().0) {
        let [a, b] = from.each_ref().map(|word| word.load(Relaxed));
        *to = (u128::from(b) << 64 | u128::from(a)).to_le_bytes();
        sum.pair(a, b);
    }
    if !rest.is_empty() {
        let last = words.get(pairs.len() * 2..).unwrap_or_default();
        let [a, b] = [0, 1].map(|at| last.get(at).map_or(0, |word| word.load(Relaxed)));
        let bytes = (u128::from(b) << 64 | u128::from(a)).to_le_bytes();
        rest.copy_from_slice(&bytes[..rest.len()]);
        sum.pair(a, b);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyResult {
    /// The bytes are in the buffer, and the sum is right.
    Whole,
    OtherKey,
    Damaged,
}

/// Copies the value of a record with this key and hash into the buffer, which gets its length.
#[inline]
pub(crate) fn read(words: &[AtomicU64], head: &Head, key: &[u8], seeds: Seeds, out: &mut Vec<u8>) -> CopyResult {
    if head.key != key.len() {
        return CopyResult::OtherKey;
    }
    let Some(bytes) = words.get(HEADER..head.words()) else { return CopyResult::Damaged };
    let mut sum = Sum::new(seeds, head.hash);
    sum.pair(head.shape, head.version);
    sum.pair(head.expires, 0);
    let (its_key, value) = bytes.split_at(key.len().div_ceil(8));
    if !sum_key(its_key, key, &mut sum) {
        return CopyResult::OtherKey;
    }
    // Writes zeros only where the buffer grows.
    out.resize(head.value, 0);
    copy(value, out, &mut sum);
    if sum.finish() == head.sum { CopyResult::Whole } else { CopyResult::Damaged }
}

/// Whether the record has this key, without checking the rest.
pub(crate) fn has_key(words: &[AtomicU64], head: &Head, key: &[u8], seeds: Seeds) -> bool {
    let bytes = words.get(HEADER..HEADER + key.len().div_ceil(8));
    head.key == key.len() && bytes.is_some_and(|bytes| sum_key(bytes, key, &mut Sum::new(seeds, head.hash)))
}

/// The key of a record, if the record is whole.
pub(crate) fn key_of(words: &[AtomicU64], head: &Head, seeds: Seeds) -> Option<Vec<u8>> {
    let mut key = vec![0; head.key];
    let bytes = words.get(HEADER..head.words())?;
    copy(bytes, &mut key, &mut Sum::new(seeds, head.hash));
    let is_whole = read(words, head, &key, seeds, &mut Vec::new()) == CopyResult::Whole;
    is_whole.then_some(key)
}

#[cfg(test)]
#[path = "../../tests/unit/shared/record.rs"]
mod tests;
