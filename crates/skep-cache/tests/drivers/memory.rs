//! The memory driver: limits and eviction.

use skep_cache::driver::{Flags, Header, Record, When, ready};
use skep_cache::{Clock, Driver, Memory};

/// Bytes of a cache with one shard of less than the usual size.
const SMALL: u64 = 400 << 10;

fn fill(memory: &Memory, entries: u32, bytes: usize) {
    let now = Clock::manual().now();
    let record = Record::new(&Header::default(), &[], &vec![b'x'; bytes]);
    for key in 0..entries {
        ready(memory.set(&key.to_le_bytes(), &record, When::Always, now)).unwrap();
    }
}

#[test]
fn the_bound_in_bytes_is_kept() {
    for bytes in [1 << 20, SMALL] {
        let memory = Memory::new(bytes);
        fill(&memory, 10_000, 1_000);
        let usage = memory.usage();
        assert!((bytes * 3 / 4..=bytes).contains(&usage.bytes.unwrap()), "{usage:?}");
        assert!(usage.evicted.unwrap() > 8_000, "{usage:?}");
    }
}

#[test]
fn the_bound_in_entries_is_kept() {
    for bytes in [64 << 20, 1 << 20, SMALL] {
        let memory = Memory::bounded(bytes, 1_000);
        fill(&memory, 10_000, 10);
        let entries = memory.usage().entries.unwrap();
        assert!((800..=1_000).contains(&entries), "{entries} in {bytes} bytes");
    }
}

#[test]
fn what_is_larger_than_a_shard_is_refused_and_replaces_nothing_silently() {
    for bytes in [1 << 20, SMALL] {
        refuses_what_is_too_large(&Memory::new(bytes), bytes / 4 * 3);
    }
}

fn refuses_what_is_too_large(memory: &Memory, limit: u64) {
    let now = Clock::manual().now();
    fill(memory, 1, 10);
    let large = Record::new(&Header::default(), &[], &vec![0; 2 << 20]);
    let refused = ready(memory.set(&0_u32.to_le_bytes(), &large, When::Always, now)).unwrap_err();
    assert!(refused.is_too_large(), "{refused}");
    let got = ready(memory.get(&0_u32.to_le_bytes(), now, |entry| entry.value().len())).unwrap();
    assert_eq!(got, None, "the old value is not the last that was set");
    let fits = Record::new(&Header::default(), &[], &vec![0; usize::try_from(limit).unwrap() - 1_000]);
    assert!(ready(memory.set(b"large", &fits, When::Always, now)).unwrap());
    assert!(ready(memory.get(b"large", now, |_| ())).unwrap().is_some());
}

#[test]
fn the_epochs_of_tags_are_kept_when_others_are_evicted() {
    for bytes in [1 << 20, SMALL] {
        let memory = Memory::new(bytes);
        let now = Clock::manual().now();
        let epoch = Record::new(&Header { flags: Flags::EPOCH, ..Header::default() }, &[], &[]);
        ready(memory.set(b"epoch", &epoch, When::Always, now)).unwrap();
        fill(&memory, 10_000, 1_000);
        assert!(ready(memory.get(b"epoch", now, |_| ())).unwrap().is_some());
    }
}
