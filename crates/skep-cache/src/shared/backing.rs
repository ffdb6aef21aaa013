//! The shared words of a map, and its users.
//!
//! A file in production; in tests plain memory, so that miri can check every access.

use std::sync::atomic::AtomicU64;

/// Shared words and their users.
pub(crate) trait Backing: Send + Sync + 'static {
    /// All words. Others change them at any time.
    fn words(&self) -> &[AtomicU64];

    /// Our user number, 1 to 65535, unique among live users.
    fn me(&self) -> u64;

    /// Whether a user is alive.
    fn lives(&self, user: u64) -> bool;

    /// Milliseconds on a clock that all users share.
    fn millis(&self) -> u64;
}
