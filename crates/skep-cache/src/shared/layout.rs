//! The layout of the file.
//!
//! ```text
//! head     | constants, with a sum | counts of all shards                              4 KiB
//! shard 0  | lock, rings, counts   | changes | leases | sketch | index | small ring | main ring
//! shard 1  | ...
//! ```
//! All numbers are 64-bit words in the machine's own order (the magic tells another order apart); a line is eight of
//! them.

use std::ops::Range;

use super::hash::{Seeds, fold};

pub(crate) const NAME: &[u8] = b"skepmap";
/// The name, and a byte that detects the other byte order.
const MAGIC: u64 = u64::from_le_bytes(*b"skepmap\x01");
/// Counted up with every change of layout, hash, sum or meaning.
pub(crate) const VERSION: u64 = 3;
pub(crate) const LINE: usize = 8;
/// Words before the first shard: 4 KiB.
pub(crate) const HEAD: usize = 512;
/// The number of invalidations of everything, part of every hash.
pub(crate) const INVALIDATIONS: usize = 64;
/// The number of writes of epochs.
pub(crate) const EPOCHS: usize = 80;
/// The boot id of the machine when the file was written.
pub(crate) const BOOT: usize = 96;
/// Words of the constants at the start, the sum after them.
pub(crate) const CONSTANTS: usize = 8;

/// Words of a shard, from its start.
pub(crate) const LOCK: usize = 0;
pub(crate) const SUSPECT: usize = 1;
pub(crate) const SUSPECTED_AT: usize = 2;
/// Words of records that slots point to.
pub(crate) const FILLED: usize = 3;
pub(crate) const SMALL: usize = LINE;
pub(crate) const MAIN: usize = LINE + 2;
pub(crate) const LIVE: usize = LINE + 4;
pub(crate) const ADDITIONS: usize = LINE + 5;
pub(crate) const HAND: usize = LINE + 6;
pub(crate) const LEASED: usize = LINE + 7;
/// The counters of the shard; see `Count`.
pub(crate) const COUNTS: usize = 2 * LINE;
/// Counters of writes, each for a part of the keys.
pub(crate) const CHANGES: usize = 4 * LINE;
pub(crate) const MOST_CHANGES: usize = 64;
pub(crate) const LEASES: usize = CHANGES + MOST_CHANGES;
pub(crate) const MOST_LEASES: usize = 32;
const SKETCH: usize = LEASES + MOST_LEASES * super::lease::WORDS;

/// The least a shard may be, in bytes.
const SMALLEST_SHARD: usize = 256 << 10;
const MOST_SHARDS: usize = 256;
/// A record's header and the longest key, in bytes.
const OVERHEAD: usize = 64 + crate::driver::MAX_KEY;

/// Where everything lies, computed from two numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) bytes: usize,
    pub(crate) max_value: usize,
    /// A power of two.
    pub(crate) shards: usize,
    pub(crate) shard: usize,
    /// The sketch of frequencies; a power of two long.
    pub(crate) sketch: Range<usize>,
    /// The index; an even number of lines.
    pub(crate) index: Range<usize>,
    /// Where entries come in.
    pub(crate) small: Range<usize>,
    /// Where entries stay that are used.
    pub(crate) main: Range<usize>,
}

impl Geometry {
    /// A file of about this size (a little less, so that all shards are equal), for values of up to `max_value` bytes.
    pub(crate) fn new(bytes: usize, max_value: usize) -> Result<Self, String> {
        let need = SMALLEST_SHARD.max(max_value.saturating_add(OVERHEAD).saturating_mul(4)).saturating_add(HEAD * 8);
        if bytes < need {
            return Err(format!(
                "{bytes} bytes are too few for a shared map with values up to {max_value}; the least is {need}"
            ));
        }
        let room = bytes - HEAD * 8;
        let fits = |shards: &usize| room / shards >= need - HEAD * 8;
        let shards = (0..=MOST_SHARDS.ilog2()).map(|power| 1 << power).filter(fits).max().unwrap_or(1);
        Self::of(shards, (room / shards / 4096 * 4096) / 8, max_value)
    }

    /// `shards` is the number of shards, `shard` the number of words in each.
    pub(super) fn of(shards: usize, shard: usize, max_value: usize) -> Result<Self, String> {
        // A slot for each 192 bytes or so: a small index is more often in the processor's cache. A word of sketch for
        // each two to four slots.
        let lines = (((shard - SKETCH) / 26 / LINE) & !1).max(2);
        let sketch = SKETCH..SKETCH + (lines * LINE / 2).next_power_of_two();
        let index = sketch.end.next_multiple_of(LINE)..sketch.end.next_multiple_of(LINE) + lines * LINE;
        let data = (shard - index.end) & !(LINE - 1);
        let small = index.end..index.end + (data / 20 * 3).next_multiple_of(LINE);
        let main = small.end..index.end + data;
        if shard > u32::MAX as usize {
            return Err(format!("a shard of {} bytes is too large; the max_value is 32 GiB", shard * 8));
        }
        Ok(Self { bytes: (HEAD + shards * shard) * 8, max_value, shards, shard, sketch, index, small, main })
    }

    pub(crate) fn words(&self) -> usize {
        HEAD + self.shards * self.shard
    }

    /// The constants that stand at the start of the file, and their sum.
    pub(crate) fn constants(&self, seeds: Seeds) -> [u64; CONSTANTS + 1] {
        let numbers = [self.bytes, self.max_value, self.shards, self.shard].map(|number| number as u64);
        let [bytes, max_value, shards, shard] = numbers;
        let constants = [MAGIC, VERSION, bytes, max_value, shards, shard, seeds.0[0], seeds.0[1]];
        let sum = constants.iter().fold(0x5eed, |sum, word| fold(sum ^ word, 0x9e37_79b9_7f4a_7c15) ^ word);
        std::array::from_fn(|at| *constants.get(at).unwrap_or(&sum))
    }

    /// The seeds, if these are the constants of a file of this geometry; otherwise what is wrong.
    pub(crate) fn check(&self, found: &[u64; CONSTANTS + 1]) -> Result<Seeds, String> {
        let seeds = Seeds([found[6], found[7]]);
        let right = self.constants(seeds);
        let names =
            ["magic", "layout version", "size", "maximum value size", "shards", "shard size", "", "", "checksum"];
        match (0..right.len()).find(|at| found[*at] != right[*at]) {
            None => Ok(seeds),
            Some(at) => Err(format!("its {} is {:#x}, ours is {:#x}", names[at], found[at], right[at])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_shard_lie_one_after_another() {
        for bytes in [1 << 20, (1 << 20) + 4097, 3_000_000, 64 << 20, 1 << 30] {
            let map = Geometry::new(bytes, 4096).unwrap();
            assert!(map.bytes <= bytes && map.bytes * 10 > bytes * 9, "{bytes}: {map:?}");
            assert!(map.sketch.len().is_power_of_two() && map.index.len().is_multiple_of(2 * LINE));
            let parts = [&map.sketch, &map.index, &map.small, &map.main];
            assert!(parts.windows(2).all(|pair| pair[0].end <= pair[1].start) && map.main.end <= map.shard);
            assert!(parts[1..].iter().all(|part| part.start % LINE == 0 && part.end % LINE == 0));
            assert!(map.main.len() * 8 / 4 > map.max_value, "a quarter of the ring holds the max_value");
        }
    }
}
