//! A driver made of a `KeyValueStore`: the example of docs/guides/extend/cache-driver.md keeps the contract.

#![allow(unreachable_pub, reason = "the example is shown as it would be in a crate of its own")]
#![allow(clippy::type_complexity, reason = "one type is easier to read here than two names")]

// docs: begin
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::Bytes;
use skep_cache::{KeyValueStore, Result, StoreDriver};

/// Entries in a map; a real store calls its backend here.
#[derive(Default)]
pub struct MapStore {
    map: Mutex<HashMap<Vec<u8>, (Bytes, Option<Instant>)>>,
}

impl KeyValueStore for MapStore {
    fn name(&self) -> &'static str {
        "map"
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let map = self.map.lock().unwrap();
        let live = |(_, end): &&(Bytes, Option<Instant>)| end.is_none_or(|end| Instant::now() < end);
        Ok(map.get(key).filter(live).map(|(value, _)| value.clone()))
    }

    async fn set(&self, key: &[u8], value: Bytes, ttl: Option<Duration>) -> Result<()> {
        let end = ttl.and_then(|ttl| Instant::now().checked_add(ttl));
        self.map.lock().unwrap().insert(key.to_vec(), (value, end));
        Ok(())
    }

    async fn remove(&self, key: &[u8]) -> Result<()> {
        self.map.lock().unwrap().remove(key);
        Ok(())
    }
}

#[cfg(test)]
mod contract {
    use super::*;
    skep_cache::suite!(StoreDriver::new(MapStore::default()));
}
// docs: end

#[test]
fn the_page_about_drivers_shows_this_driver() {
    let (source, page) = (include_str!("store.rs"), include_str!("../../../../docs/guides/extend/cache-driver.md"));
    let example = source.split("// docs: begin\n").nth(1).and_then(|rest| rest.split("// docs: end").next()).unwrap();
    assert!(page.contains(example), "copy the example from this file to docs/guides/extend/cache-driver.md");
}

#[test]
fn invalid_bytes_are_an_error_once_and_ignored_by_writers() {
    use skep_cache::driver::{Header, Record, When, block_on};
    use skep_cache::{Clock, Driver, Version};
    let (driver, now) = (StoreDriver::new(MapStore::default()), Clock::system().now());
    let record = Record::new(&Header { version: Version::from_u64(1), ..Header::default() }, &[], b"x");
    for invalid in [&b"garbage"[..], &[0xC1; 10], &[0x4C, 1, 2]] {
        let put = |key| block_on(driver.store().set(key, Bytes::copy_from_slice(invalid), None)).unwrap();
        put(b"read");
        // The last one is what is left of a lease without an entry.
        assert_eq!(block_on(driver.get(b"read", now, |_| ())).is_err(), invalid[0] != 0x4C);
        assert_eq!(block_on(driver.get(b"read", now, |_| ())).unwrap(), None);
        put(b"written");
        assert!(block_on(driver.set(b"written", &record, When::Newer, now)).unwrap());
        assert_eq!(block_on(driver.get(b"written", now, |entry| entry.to_record())).unwrap(), Some(record.clone()));
    }
}

#[test]
fn writers_of_one_process_do_not_interleave() {
    use skep_cache::driver::{Header, Record, block_on};
    use skep_cache::{Clock, Driver};
    let (driver, clock) = (StoreDriver::new(MapStore::default()), Clock::system());
    let fresh = Record::new(&Header::default(), &[], &0_i64.to_le_bytes());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    assert!(block_on(driver.increment(b"n", 1, &fresh, clock.now())).unwrap() > 0);
                }
            });
        }
    });
    assert_eq!(block_on(driver.increment(b"n", 0, &fresh, clock.now())).unwrap(), 400);
}
