//! The id of this process.

/// The process id, or a random number in a component.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn id() -> u32 {
    std::process::id()
}

/// Includes the time: randomness from before the snapshot is the same in all instances.
#[cfg(target_family = "wasm")]
pub(crate) fn id() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let hash = RandomState::new().hash_one(now.as_nanos());
    u32::try_from(hash >> 32).expect("32 bits")
}
