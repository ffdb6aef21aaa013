//! Compiled functions of earlier versions: wasmtime's incremental compilation.
//!
//! The optimising compiler looks up each function by its content before it compiles it, so that a new version costs
//! what has changed. The cache lives in memory and is bounded: of two generations the older one is dropped when the
//! younger is full.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;

use wasmtime::CacheStore;

pub(crate) struct FunctionCache(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    /// Bytes of a generation.
    most: usize,
    young: HashMap<Vec<u8>, Vec<u8>>,
    /// Bytes of `young`.
    bytes: usize,
    old: HashMap<Vec<u8>, Vec<u8>>,
}

impl FunctionCache {
    /// With two generations of `most` bytes each.
    pub(crate) fn new(most: usize) -> Self {
        Self(Mutex::new(Generations { most, ..Generations::default() }))
    }
}

impl Generations {
    fn insert(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.bytes += key.len() + value.len();
        self.young.insert(key, value);
        if self.bytes > self.most {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
    }
}

impl CacheStore for FunctionCache {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        let mut generations = skep_units::lock(&self.0);
        if let Some(value) = generations.young.get(key) {
            return Some(Cow::Owned(value.clone()));
        }
        let (key, value) = generations.old.remove_entry(key)?;
        generations.insert(key, value.clone());
        Some(Cow::Owned(value))
    }

    fn insert(&self, key: &[u8], value: Vec<u8>) -> bool {
        skep_units::lock(&self.0).insert(key.to_vec(), value);
        true
    }
}

impl fmt::Debug for FunctionCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "../tests/unit/function_cache.rs"]
mod tests;
