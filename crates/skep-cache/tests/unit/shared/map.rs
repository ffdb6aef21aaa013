//! The map on plain memory: with threads, and damaged in all ways. Run with miri too:
//! `cargo +nightly miri test -p skep-cache --lib shared::map`.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::thread;

use proptest::prelude::*;

use super::*;
use crate::Version;
use crate::driver::Header;
use crate::shared::slot::Slot;

/// Memory, and users that tests may kill.
#[derive(Debug)]
struct Memory {
    words: Arc<Vec<AtomicU64>>,
    me: u64,
    alive: Arc<AtomicU64>,
    millis: Arc<AtomicU64>,
}

impl Backing for Memory {
    fn words(&self) -> &[AtomicU64] {
        &self.words
    }
    fn me(&self) -> u64 {
        self.me
    }
    fn lives(&self, user: u64) -> bool {
        user < 64 && self.alive.load(Relaxed) >> user & 1 == 1
    }
    fn millis(&self) -> u64 {
        // A waiting process reads the clock, which moves on a little each time.
        self.millis.fetch_add(20, Relaxed)
    }
}

const NOW: Time = Time::from_millis(1_000_000);

/// A map of the least size there is, and another user of it. For miri, which takes a second for a thousand words, it is
/// smaller than any file.
fn maps() -> (Map<Memory>, Map<Memory>) {
    let geometry =
        if cfg!(miri) { Geometry::of(1, 6 << 10, 4096).unwrap() } else { Geometry::new(300 << 10, 4096).unwrap() };
    let words: Arc<Vec<_>> = Arc::new((0..geometry.words()).map(|_| AtomicU64::new(0)).collect());
    let (alive, millis) = (Arc::new(AtomicU64::new(u64::MAX)), Arc::default());
    let user = |me| {
        let backing = Memory { words: words.clone(), me, alive: Arc::clone(&alive), millis: Arc::clone(&millis) };
        Map::new(backing, geometry.clone(), Seeds([0x1234_5678_9abc_def1, 0xfedc_ba98_7654_3211]))
    };
    (user(1), user(2))
}

fn record(value: &[u8], version: u64) -> Record {
    Record::new(&Header { version: Version::from_u64(version), ..Header::default() }, &[], value)
}

fn set(map: &Map<Memory>, key: &[u8], value: &[u8]) {
    assert!(map.set(key, &record(value, 1), When::Always, NOW).unwrap());
}

fn get(map: &Map<Memory>, key: &[u8]) -> Option<Vec<u8>> {
    let mut buffer = Vec::new();
    map.get(key, NOW, &mut buffer).then(|| Entry::parse(&buffer).unwrap().value().to_vec())
}

fn lock_of(map: &Map<Memory>) -> &AtomicU64 {
    &map.backing.words()[layout::HEAD + layout::LOCK]
}

#[test]
fn the_lock_of_a_dead_user_is_inherited_and_nothing_else_is_lost() {
    let (one, other) = maps();
    set(&one, b"kept", b"value");
    lock_of(&one).store(1 << 48 | 0x4d, Relaxed);
    one.backing.alive.fetch_and(!(1 << 1), Relaxed);
    set(&other, b"key", b"new");
    assert_eq!(get(&other, b"kept").as_deref(), Some(&b"value"[..]));
    assert_eq!(other.counted(Count::Inherited), 1);
    assert_eq!(lock_of(&one).load(Relaxed), 0x4e, "it is free again");
}

#[test]
fn a_user_who_stands_still_costs_the_others_one_write_and_no_read() {
    let (one, other) = maps();
    set(&one, b"key", b"value");
    lock_of(&one).store(1 << 48 | 0x4d, Relaxed);
    let error = other.set(b"key", &record(b"new", 2), When::Always, NOW).unwrap_err();
    assert!(error.is_unreachable(), "{error}");
    assert_eq!(get(&other, b"key").as_deref(), Some(&b"value"[..]));
    // Ten seconds later his lock is taken away.
    other.backing.millis.fetch_add(20_000, Relaxed);
    set(&other, b"key", b"newer");
    assert_eq!(get(&one, b"key").as_deref(), Some(&b"newer"[..]));
}

/// They have one user number, and may draw one ticket at the same time.
#[test]
fn threads_of_one_user_write_one_after_the_other() {
    const THREADS: usize = 4;
    const EACH: u32 = if cfg!(miri) { 20 } else { 20_000 };
    let (map, _) = maps();
    let add = |old: Option<&Record>| {
        let count = old.map_or(0, |old| u32::from_le_bytes(old.entry().value().try_into().unwrap()));
        Ok((Some(record(&(count + 1).to_le_bytes(), 1)), count + 1))
    };
    set(&map, b"count", &0_u32.to_le_bytes());
    thread::scope(|scope| {
        (0..THREADS).for_each(|_| {
            _ = scope.spawn(|| {
                for _ in 0..EACH {
                    // The clock of this memory runs fast, so one may wait too long for it.
                    while map.update(b"count", NOW, add).is_err_and(|error| error.is_unreachable()) {}
                }
            });
        });
    });
    let count = u32::from_le_bytes(get(&map, b"count").unwrap().try_into().unwrap());
    assert_eq!(count, EACH * u32::try_from(THREADS).unwrap());
}

/// The slot of a key whose record is being written in its place.
fn busy_slot(map: &Map<Memory>) -> &AtomicU64 {
    let words = map.backing.words();
    let slot = words[layout::HEAD..][map.geometry.index.clone()].iter().find(|slot| slot.load(Relaxed) != 0).unwrap();
    slot.store(Slot(slot.load(Relaxed)).busy().0, Relaxed);
    slot
}

#[test]
fn who_dies_while_writing_over_a_value_costs_that_value_and_nothing_else() {
    for finder in ["reader", "writer of it", "writer of another"] {
        let (one, other) = maps();
        set(&one, b"key", &[1; 300]);
        lock_of(&one).store(1 << 48 | 0x4d, Relaxed);
        let slot = busy_slot(&one);
        // Half of it is written.
        let at = layout::HEAD + Slot(slot.load(Relaxed)).at() + record::HEADER + 20;
        one.backing.words()[at].store(7, Relaxed);
        one.backing.alive.fetch_and(!(1 << 1), Relaxed);
        match finder {
            "reader" => assert_eq!(get(&other, b"key"), None),
            "writer of it" => set(&other, b"key", &[2; 300]),
            _ => set(&other, b"another", &[3; 300]),
        }
        assert_eq!(slot.load(Relaxed) & Slot(0).busy().0, 0, "{finder}: no reader waits for it any more");
        assert_eq!(get(&other, b"key"), (finder == "writer of it").then(|| vec![2; 300]), "{finder}");
        set(&other, b"key", &[4; 300]);
        assert_eq!(get(&other, b"key"), Some(vec![4; 300]), "{finder}");
        assert_eq!(one.counted(Count::Inherited), 1, "{finder}");
        assert_eq!(one.counted(Count::Reset) + one.counted(Count::Damaged), 0, "{finder}");
    }
}

#[test]
fn who_stands_still_while_writing_over_a_value_costs_its_readers_time() {
    let (one, other) = maps();
    set(&one, b"kept", b"value");
    let kept = one.backing.words()[layout::HEAD..][one.geometry.index.clone()].iter().map(|slot| slot.load(Relaxed));
    let kept: Vec<u64> = kept.collect();
    set(&one, b"key", &[1; 300]);
    lock_of(&one).store(1 << 48 | 0x4d, Relaxed);
    let words = &one.backing.words()[layout::HEAD..][one.geometry.index.clone()];
    let slot = words.iter().zip(kept).find(|(slot, before)| slot.load(Relaxed) != *before).unwrap().0;
    let was = slot.load(Relaxed);
    slot.store(Slot(was).busy().0, Relaxed);
    assert_eq!(get(&other, b"key"), None, "it waited, and then went on without");
    assert_eq!(get(&other, b"kept").as_deref(), Some(&b"value"[..]));
    // He wakes up, and is done.
    slot.store(Slot(was).busy().rewritten().0, Relaxed);
    lock_of(&one).store(0x4d, Relaxed);
    assert_eq!(get(&other, b"key"), Some(vec![1; 300]));
    assert_eq!(one.counted(Count::Reset) + one.counted(Count::Damaged), 0);
}

#[test]
fn a_lease_ends_with_its_user() {
    let (one, other) = maps();
    let claim = |token| Claim { token: Token(token), until: NOW.plus(std::time::Duration::from_mins(1)) };
    assert_eq!(one.lease(b"key", claim(5), NOW).unwrap(), Some(Token(5)));
    assert_eq!(other.lease(b"key", claim(6), NOW).unwrap(), None);
    one.backing.alive.fetch_and(!(1 << 1), Relaxed);
    assert_eq!(other.lease(b"key", claim(7), NOW).unwrap(), Some(Token(7)));
    assert!(!one.set(b"key", &record(b"late", 1), When::Leased(Token(5)), NOW).unwrap(), "a fence");
    assert!(other.set(b"key", &record(b"first", 1), When::Leased(Token(7)), NOW).unwrap());
}

/// The protocol of reads, with writers that overtake them: no value is ever torn or another key's.
#[test]
fn readers_beside_writers_see_whole_values_of_their_key() {
    let (one, other) = maps();
    let (one, other) = (Arc::new(one), Arc::new(other));
    let (rounds, keys) = if cfg!(miri) { (24, 3) } else { (20_000, 200) };
    let seen = AtomicUsize::new(0);
    let value = |key: usize, round: usize| {
        // Every other key keeps its length, and is written in its place.
        let round_of_length = if key.is_multiple_of(2) { 0 } else { round };
        let length = 17 + (key * 31 + round_of_length * 7) % if cfg!(miri) { 30 } else { 3000 };
        [&[key as u8][..], &vec![round as u8; length]].concat()
    };
    thread::scope(|scope| {
        for map in [&one, &other] {
            scope.spawn(|| {
                (0..rounds).for_each(|round| {
                    let (key, record) = (round % keys, record(&value(round % keys, round), 1));
                    // Time flies here for all who wait: a writer who has to wait for one that the system has stopped is
                    // refused, and tries again.
                    while map.set(format!("key {key}").as_bytes(), &record, When::Always, NOW).is_err() {}
                });
            });
            scope.spawn(|| {
                for round in 0..rounds {
                    let key = round * 7 % keys;
                    if let Some(bytes) = get(map, format!("key {key}").as_bytes()) {
                        seen.fetch_add(1, Relaxed);
                        assert_eq!(bytes[0], key as u8, "another key's");
                        assert!(bytes[1..].windows(2).all(|pair| pair[0] == pair[1]), "torn");
                    }
                }
            });
        }
    });
    assert!(seen.into_inner() > 0);
    assert_eq!(one.counted(Count::Reset) + one.counted(Count::Damaged), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 300 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is written over the file: no panic, no endless loop, and no value that nobody stored under that key.
    #[test]
    fn damage_is_a_miss_and_never_a_wrong_value(
        seed in any::<u64>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), any::<bool>()), 1..40),
    ) {
        let (one, other) = maps();
        let keys = if cfg!(miri) { 8 } else { 300_u64 };
        (0..keys).for_each(|number| set(&one, format!("{number}").as_bytes(), format!("{number}:{seed}").as_bytes()));
        let words = one.backing.words();
        let targets = targets(&one);
        for (index, bits, is_anywhere) in flips {
            let at = if is_anywhere { index.index(words.len()) } else { targets[index.index(targets.len())] };
            let bits = if bits % 3 == 0 { bits } else { 1 << (bits % 64) };
            words[at].fetch_xor(bits, Relaxed);
        }
        // A lock that damage made up belongs to nobody who lives.
        one.backing.alive.store(0b110, Relaxed);
        for round in 0..3 {
            for number in 0..keys {
                let key = format!("{number}");
                if let Some(value) = get(&other, key.as_bytes()) {
                    prop_assert_eq!(value, format!("{number}:{seed}").into_bytes());
                }
                if number % 3 == round {
                    let _ = other.set(key.as_bytes(), &record(format!("{number}:{seed}").as_bytes(), 2), When::Newer, NOW);
                    let _ = other.remove(format!("{}", number + 1).as_bytes(), Removal { version: Version::ZERO, until: NOW }, NOW);
                }
            }
            other.keys(b"", NOW, |key| assert!(String::from_utf8_lossy(key).parse::<u64>().is_ok()));
            let _ = (other.usage(), other.stamp(b"1"), other.epochs());
        }
    }
}

/// Words that matter most: those that say where things are.
fn targets(map: &Map<Memory>) -> Vec<usize> {
    let words = map.backing.words();
    let heads = (0..layout::LEASES).map(|at| layout::HEAD + at);
    let slots =
        map.geometry.index.clone().map(|at| layout::HEAD + at).filter(|at| !Slot(words[*at].load(Relaxed)).is_empty());
    let records = slots.clone().flat_map(|at| {
        let start = layout::HEAD + Slot(words[at].load(Relaxed)).at();
        start..start + record::HEADER
    });
    let records: Vec<_> = records.collect();
    heads.chain(slots).chain(records).collect()
}

#[test]
fn a_shard_that_makes_no_sense_is_reset_and_counted() {
    let (one, other) = maps();
    (0..100_u64).for_each(|number| set(&one, format!("{number}").as_bytes(), b"value"));
    one.backing.words()[layout::HEAD + layout::SMALL].store(u64::MAX, Relaxed);
    set(&other, b"key", b"value");
    assert_eq!(get(&one, b"key").as_deref(), Some(&b"value"[..]));
    assert_eq!(get(&one, b"5"), None, "among what is lost may be the mark of a removal: all is void");
    assert_eq!(one.counted(Count::Reset), 1);
}
