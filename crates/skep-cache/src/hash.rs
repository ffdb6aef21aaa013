//! How keys are hashed in memory: quick, and not for secrets.

/// Makes hashers.
#[cfg(not(target_family = "wasm"))]
pub(crate) type Hashing = foldhash::fast::RandomState;
#[cfg(target_family = "wasm")]
pub(crate) type Hashing = foldhash::fast::FixedState;

#[cfg(not(target_family = "wasm"))]
pub(crate) fn hashing() -> Hashing {
    Hashing::default()
}

/// Seeded by the standard library: foldhash asks the clock, which a component may not do before its memory is copied.
#[cfg(target_family = "wasm")]
pub(crate) fn hashing() -> Hashing {
    use std::hash::{BuildHasher, RandomState};
    Hashing::with_seed(RandomState::new().hash_one(0))
}
