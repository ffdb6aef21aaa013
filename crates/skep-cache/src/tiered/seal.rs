//! Why a copy may be used: what is noted in it when it is stored, and compared when it is read.

use std::time::Duration;

use crate::clock::Time;
use crate::driver::Driver;

/// What the far driver knows of a key, asked before the key itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seal {
    /// A number that every change changes.
    Whole(u64),
    /// One that changes known here change; the bound in time is for the others.
    Here(u64),
    /// Nothing: there is only the bound in time.
    Time,
}

/// In a mark that also has a stamp, time is counted in steps so long, in milliseconds: 32 bits of them are 497 days.
const STEP: u64 = 10;

impl Seal {
    #[inline]
    pub(super) fn of(far: &impl Driver, key: &[u8]) -> Self {
        match far.stamp(key) {
            Some(stamp) => Self::Whole(stamp),
            None => far.stamp_here(key).map_or(Self::Time, Self::Here),
        }
    }

    /// What a copy gets.
    pub(super) fn mark(self, now: Time, bound: Duration) -> u64 {
        match self {
            Self::Whole(stamp) => stamp,
            Self::Here(stamp) => stamp << 32 | low(steps(now).wrapping_add(steps_of(bound))),
            Self::Time => now.plus(bound).millis(),
        }
    }

    /// Whether a copy with this mark may be used.
    #[inline]
    pub(super) fn holds(self, mark: u64, now: Time, bound: Duration) -> bool {
        match self {
            Self::Whole(stamp) => mark == stamp,
            Self::Here(stamp) => {
                let left = low(mark.wrapping_sub(steps(now)));
                mark >> 32 == low(stamp) && left > 0 && left <= steps_of(bound)
            }
            Self::Time => now.millis() < mark,
        }
    }
}

/// Another number when one of both is another one.
pub(super) fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.wrapping_add(other)),
        (one, other) => one.or(other),
    }
}

fn steps(now: Time) -> u64 {
    now.millis() / STEP
}

/// Rounded down, so that no copy is older than the bound; at most half of what can be told apart.
fn steps_of(bound: Duration) -> u64 {
    u64::try_from(bound.as_millis()).unwrap_or(u64::MAX).min(u64::from(u32::MAX) / 2 * STEP) / STEP
}

fn low(number: u64) -> u64 {
    number & u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_millis(1_700_000_000_005);

    #[test]
    fn a_copy_ends_with_its_stamp_or_its_time_whichever_comes_first() {
        let bound = Duration::from_secs(1);
        let (seal, other) = (Seal::Here(7), Seal::Here(8));
        let mark = seal.mark(NOW, bound);
        assert!(seal.holds(mark, NOW, bound) && !other.holds(mark, NOW, bound));
        assert!(seal.holds(mark, NOW.plus(Duration::from_millis(980)), bound));
        for late in [1_000, 1_010, 5_000, 40_000_000_000] {
            assert!(!seal.holds(mark, NOW.plus(Duration::from_millis(late)), bound), "{late}");
        }
        let shorter = Duration::from_millis(500);
        assert!(!seal.holds(mark, NOW, shorter), "a mark beyond the bound is from another time");
    }

    #[test]
    fn a_whole_stamp_knows_no_time_and_time_no_stamp() {
        let bound = Duration::from_secs(1);
        let mark = Seal::Whole(u64::MAX).mark(NOW, bound);
        assert!(Seal::Whole(u64::MAX).holds(mark, NOW.plus(Duration::from_hours(1)), bound));
        let mark = Seal::Time.mark(NOW, bound);
        assert!(Seal::Time.holds(mark, NOW.plus(Duration::from_millis(999)), bound));
        assert!(!Seal::Time.holds(mark, NOW.plus(bound), bound));
    }
}
