//! Deterministic random numbers.

/// A generator with a seed (`SplitMix64`).
pub(super) struct Random(u64);

impl Random {
    /// Seeds from words (FNV-1a), so that each tree is independent of the others.
    pub(super) fn of(words: &[&str]) -> Self {
        let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
        Self(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number less than `limit`, which is not zero.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("it is less than a usize")
    }

    /// True with this probability in per cent.
    pub(super) fn percent(&mut self, times: usize) -> bool {
        self.below(100) < times
    }

    pub(super) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
