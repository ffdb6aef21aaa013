//! What a map stands on: words that several users share, and who these users are.
//!
//! A file in real life; in tests plain memory, so that miri can watch every access.

use std::sync::atomic::AtomicU64;

/// Words, and the users of them.
pub(crate) trait Ground: Send + Sync + 'static {
    /// All words. Others change them at any time.
    fn words(&self) -> &[AtomicU64];

    /// Who we are: from 1 to 65535, and no other user who lives is the same.
    fn me(&self) -> u64;

    /// Whether this user lives.
    fn lives(&self, user: u64) -> bool;

    /// Milliseconds on a clock that all users share.
    fn millis(&self) -> u64;
}
