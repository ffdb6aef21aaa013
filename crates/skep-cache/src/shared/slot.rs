//! One slot of the index: 64 bits that locate a record, changed atomically.

/// The location of a record, and its recent reads.
///
/// ```text
///  63      48  47  46   35  34  33 32  31  30           0
/// |   tag    |full|  lap  |main|uses |busy|   offset     |   offset in units of 16 bytes from the shard's start
/// ```
/// Busy: the record is being overwritten. No reader uses it, and if it is busy under the shard's lock, its writer is
/// dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) u64);

const USES: u64 = 3 << 32;
const MAIN: u64 = 1 << 34;
const FULL: u64 = 1 << 47;
const BUSY: u64 = 1 << 31;
const OFFSET: u64 = BUSY - 1;
const LAP: u64 = 0xfff << LAPS;
/// Where the lap begins.
const LAPS: u32 = 35;

impl Slot {
    pub(crate) const EMPTY: Self = Self(0);
    /// The maximum of the two bits.
    pub(crate) const MOST_USES: u64 = 3;

    /// A slot for a record at this word of the shard. The lap makes it differ from an earlier slot for the same word.
    pub(crate) fn new(hash: u64, at: usize, lap: u64, is_main: bool, uses: u64) -> Self {
        let tag = hash & (0xffff << 48);
        let main = if is_main { MAIN } else { 0 };
        Self(tag | (lap & 0xfff) << LAPS | FULL | main | uses.min(Self::MOST_USES) << 32 | (at as u64 / 2) & OFFSET)
    }

    /// Whether the record may have this hash.
    #[inline]
    pub(crate) fn fits(self, hash: u64) -> bool {
        // The tag and the bit beside it, in one comparison.
        self.0 ^ (hash & (0xffff << 48) | FULL) < FULL
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 & FULL == 0
    }

    /// The word of the shard where the record begins.
    pub(crate) fn at(self) -> usize {
        (self.0 & OFFSET) as usize * 2
    }

    /// The slot while its record is being overwritten.
    pub(crate) fn busy(self) -> Self {
        Self(self.0 | BUSY)
    }

    pub(crate) fn is_busy(self) -> bool {
        self.0 & BUSY != 0
    }

    /// The slot after overwriting: the next lap, so that readers of the old record notice. Counts as a use.
    pub(crate) fn rewritten(self) -> Self {
        let lap = self.0.wrapping_add(1 << LAPS) & LAP;
        let uses = (self.uses() + 1).min(Self::MOST_USES) << 32;
        Self(self.0 & !(LAP | USES | BUSY) | lap | uses)
    }

    pub(crate) fn is_main(self) -> bool {
        self.0 & MAIN != 0
    }

    pub(crate) fn uses(self) -> u64 {
        (self.0 & USES) >> 32
    }

    /// The slot with one more use; `None` at the maximum.
    pub(crate) fn used(self) -> Option<Self> {
        (self.0 & USES != USES).then(|| Self(self.0 + (1 << 32)))
    }

    /// Whether both locate the same record; ignores uses.
    pub(crate) fn same(self, other: Self) -> bool {
        (self.0 ^ other.0) & !USES == 0
    }
}

#[cfg(test)]
#[path = "../../tests/unit/shared/slot.rs"]
mod tests;
