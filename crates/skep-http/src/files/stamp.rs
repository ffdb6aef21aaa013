//! What the file system says of one state of one file.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderValue;

use super::encoding::Encoding;

/// What the file system says of one state of one file.
///
/// Two equal stamps mean equal bytes if the first of them [was settled](Self::is_settled): every write moves `changed`,
/// and no call sets it back. (A write through a shared mapping moves it late, when the kernel writes the page out.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stamp {
    /// Device and inode; zero where the system has neither.
    pub(super) identity: (i128, i128),
    /// In bytes.
    pub(super) size: u64,
    /// The last change of the bytes as the file says, which its owner may set, in nanoseconds since 1970.
    pub(super) modified: i128,
    /// The last change of bytes or of anything else, by the clock of the file system.
    pub(super) changed: i128,
}

/// A file changed less than this before now may change again without moving its stamp: the kernel's clock for
/// stamps has ticks of up to 10 ms.
const TICK: i128 = 20_000_000;

/// The same for file systems that know whole seconds, or pairs of them.
const COARSE_TICK: i128 = 2_100_000_000;

const SECOND: i128 = 1_000_000_000;

impl Stamp {
    /// True if a change from now on moves the stamp.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        let is_coarse = self.changed % SECOND == 0 && self.modified % SECOND == 0;
        let tick = if is_coarse { COARSE_TICK } else { TICK };
        nanoseconds(now) - self.changed > tick
    }

    /// A strong entity tag. It comes from the stamp where that is settled; otherwise it is one that never returns,
    /// since the same stamp may soon mean other bytes (RFC 9110, 8.8.1).
    ///
    /// Hashed, because inode numbers are no client's business.
    pub(super) fn tag(&self, encoding: Encoding, now: SystemTime) -> HeaderValue {
        let hash = if self.is_settled(now) {
            let mut hasher = DefaultHasher::new();
            (self, encoding).hash(&mut hasher);
            hasher.finish()
        } else {
            RandomState::new().build_hasher().finish()
        };
        HeaderValue::try_from(format!("\"{hash:016x}-{:x}\"", self.size)).expect("an entity tag is ASCII")
    }

    /// The second of the last change, never in the future (RFC 9110, 8.8.2.1). `None` before 1970.
    pub(super) fn last_modified(&self, now: SystemTime) -> Option<SystemTime> {
        let seconds = u64::try_from(self.modified.min(nanoseconds(now)).div_euclid(SECOND)).ok()?;
        Some(UNIX_EPOCH + Duration::from_secs(seconds))
    }
}

/// Nanoseconds since 1970; 0 before.
pub(super) fn nanoseconds(time: SystemTime) -> i128 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX))
}

#[cfg(test)]
#[path = "../../tests/unit/files/stamp.rs"]
mod tests;
