//! Whether a copy is up to date: a mark stored with it, and compared when it is read.

use std::time::Duration;

use crate::clock::Time;
use crate::driver::{Driver, Stamp};

/// What the far driver knows about changes of a key, read before the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    /// A stamp that every change changes.
    Stamp(u64),
    /// A stamp for the changes known in this process; the bound covers the others.
    StampAndTime(u64),
    /// Only the bound.
    Time,
}

/// The unit of time in a mark that also has a stamp, in milliseconds: 32 bits are 497 days.
const STEP: u64 = 10;

impl Validity {
    #[inline]
    pub(super) fn of(far: &impl Driver, key: &[u8]) -> Self {
        match far.stamp(key) {
            Stamp::Complete(stamp) => Self::Stamp(stamp),
            Stamp::Partial(stamp) => Self::StampAndTime(stamp),
            Stamp::Unknown => Self::Time,
        }
    }

    pub(super) fn mark(self, now: Time, bound: Duration) -> u64 {
        match self {
            Self::Stamp(stamp) => stamp,
            Self::StampAndTime(stamp) => stamp << 32 | low(steps(now).wrapping_add(steps_of(bound))),
            Self::Time => now.plus(bound).millis(),
        }
    }

    /// Whether a copy with this mark is up to date.
    #[inline]
    pub(super) fn holds(self, mark: u64, now: Time, bound: Duration) -> bool {
        match self {
            Self::Stamp(stamp) => mark == stamp,
            Self::StampAndTime(stamp) => {
                let left = low(mark.wrapping_sub(steps(now)));
                mark >> 32 == low(stamp) && left > 0 && left <= steps_of(bound)
            }
            Self::Time => now.millis() < mark,
        }
    }
}

/// A stamp that changes with either of both.
pub(super) fn sum(one: Stamp, other: Stamp) -> Stamp {
    match (one.number(), other.number()) {
        (None, None) => Stamp::Unknown,
        (one, other) => Stamp::Partial(one.unwrap_or(0).wrapping_add(other.unwrap_or(0))),
    }
}

fn steps(now: Time) -> u64 {
    now.millis() / STEP
}

/// Rounded down, so that no copy is older than the bound; at most half of the range.
fn steps_of(bound: Duration) -> u64 {
    u64::try_from(bound.as_millis()).unwrap_or(u64::MAX).min(u64::from(u32::MAX) / 2 * STEP) / STEP
}

fn low(number: u64) -> u64 {
    number & u64::from(u32::MAX)
}

#[cfg(test)]
#[path = "../../tests/unit/tiered/validity.rs"]
mod tests;
