//! Hashing of keys in memory: fast, not cryptographic.

#[cfg(not(target_family = "wasm"))]
pub(crate) type Hashing = foldhash::fast::RandomState;
#[cfg(target_family = "wasm")]
pub(crate) type Hashing = foldhash::fast::FixedState;

#[cfg(not(target_family = "wasm"))]
pub(crate) fn hashing() -> Hashing {
    Hashing::default()
}

/// Seeded by the standard library: foldhash reads the clock, which a component must not do before its snapshot.
#[cfg(target_family = "wasm")]
pub(crate) fn hashing() -> Hashing {
    use std::hash::{BuildHasher, RandomState};
    Hashing::with_seed(RandomState::new().hash_one(0))
}

#[cfg(any(feature = "file", feature = "memcached"))]
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
