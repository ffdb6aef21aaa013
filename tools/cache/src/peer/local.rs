//! The caches of Rust that live in one process: keys are strings of their own, values are shared by counting.

use bytes::Bytes;
use foyer_memory::{CacheBuilder, S3FifoConfig};

use super::{Peer, Start, here};
use crate::Result;
use crate::load::{Cache, seen};

/// What each counts: key, value, and nothing for its own trouble.
fn weigh(key: &str, value: &Bytes) -> usize {
    key.len() + value.len()
}

struct Moka(moka::sync::Cache<String, Bytes>);

pub(super) fn moka(start: &Start) -> Result<Box<dyn Peer>> {
    let weigher = |key: &String, value: &Bytes| u32::try_from(weigh(key, value)).unwrap_or(u32::MAX);
    here(start, Moka(moka::sync::Cache::builder().max_capacity(start.room).weigher(weigher).build()))
}

impl Cache for Moka {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        self.0.insert(key.to_owned(), Bytes::copy_from_slice(value));
        Ok(())
    }

    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        Ok(self.0.get(key).map(|value| seen(&value)))
    }
}

#[derive(Clone)]
struct ByLength;

impl quick_cache::Weighter<String, Bytes> for ByLength {
    fn weight(&self, key: &String, value: &Bytes) -> u64 {
        weigh(key, value) as u64
    }
}

struct Quick(quick_cache::sync::Cache<String, Bytes, ByLength>);

pub(super) fn quick(start: &Start) -> Result<Box<dyn Peer>> {
    here(start, Quick(quick_cache::sync::Cache::with_weighter(start.keys.count(), start.room, ByLength)))
}

impl Cache for Quick {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        self.0.insert(key.to_owned(), Bytes::copy_from_slice(value));
        Ok(())
    }

    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        Ok(self.0.get(key).map(|value| seen(&value)))
    }
}

struct Foyer(foyer_memory::Cache<String, Bytes>);

pub(super) fn foyer(start: &Start) -> Result<Box<dyn Peer>> {
    let cache = CacheBuilder::new(usize::try_from(start.room)?).with_eviction_config(S3FifoConfig::default());
    here(start, Foyer(cache.with_weighter(|key: &String, value: &Bytes| weigh(key, value)).build()))
}

impl Cache for Foyer {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        self.0.insert(key.to_owned(), Bytes::copy_from_slice(value));
        Ok(())
    }

    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        Ok(self.0.get(key).map(|entry| seen(entry.value())))
    }
}
