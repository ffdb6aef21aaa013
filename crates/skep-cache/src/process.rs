//! Which process this is.

/// Its number. An instance of a component has none, and is told from others by chance.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn id() -> u32 {
    std::process::id()
}

/// Drawn anew once the instance is at work: what was drawn before its memory was copied would be the same for all of them, so this asks
/// the clock too.
#[cfg(target_family = "wasm")]
pub(crate) fn id() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let hash = RandomState::new().hash_one(now.as_nanos());
    u32::try_from(hash >> 32).expect("32 bits")
}
