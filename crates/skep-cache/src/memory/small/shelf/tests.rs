//! What a shelf promises, whatever comes.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::driver::Header;

const ROOM: u64 = 1_000;

fn record(value: u32) -> Record {
    Record::new(&Header::default(), &[], &value.to_le_bytes())
}

/// Two keys have each hash: what is told apart by hashes alone is confused here.
fn hash(key: u32) -> u64 {
    u64::from(key / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn set(shelf: &mut Shelf, key: u32, value: u32, weight: u64) {
    shelf.insert(hash(key), &key.to_le_bytes(), Kept { record: record(value), weight });
}

fn get(shelf: &Shelf, key: u32) -> Option<u32> {
    let record = shelf.get(hash(key), &key.to_le_bytes())?;
    Some(u32::from_le_bytes(record.entry().value().try_into().unwrap()))
}

/// As `Driver::get` and then `set`: whether it was there.
fn visit(shelf: &mut Shelf, key: u32, weight: u64) -> bool {
    let hit = get(shelf, key).is_some();
    if !hit {
        set(shelf, key, key, weight);
    }
    hit
}

/// What must be true between any two calls.
fn check(shelf: &Shelf) {
    let queues = [Place::New, Place::Kept, Place::GoneNew, Place::GoneKept];
    for place in queues {
        let there: Vec<&Slot> = shelf.slots.iter().filter(|slot| slot.place() == place).collect();
        let queue = shelf.slots.queue(place);
        assert_eq!(queue.len, there.len(), "{place:?}");
        let weight: u64 = there.iter().map(|slot| slot.weight).sum();
        assert_eq!(queue.weight, weight, "{place:?}");
        let holds = matches!(place, Place::New | Place::Kept);
        assert!(there.iter().all(|slot| slot.record.is_some() == holds && slot.key.is_empty() != holds), "{place:?}");
    }
    let used = shelf.slots.iter().filter(|slot| slot.place() != Place::Free).count();
    assert_eq!(shelf.index.len(), used);
    assert!(shelf.weight() <= shelf.room);
    assert!((shelf.room / 100..=shelf.room / 10 * 9).contains(&shelf.for_new));
}

#[derive(Clone, Debug)]
enum Act {
    Set { key: u32, weight: u64 },
    Pin { key: u32 },
    Get { key: u32, times: u8 },
    Remove { key: u32 },
}

fn act() -> impl Strategy<Value = Act> {
    let weight = prop_oneof![8 => 1..40_u64, 2 => 40..300_u64, 1 => 300..=ROOM];
    prop_oneof![
        10 => (0..80_u32, weight).prop_map(|(key, weight)| Act::Set { key, weight }),
        1 => (0..80_u32).prop_map(|key| Act::Pin { key }),
        10 => (0..80_u32, 1..4_u8).prop_map(|(key, times)| Act::Get { key, times }),
        2 => (0..80_u32).prop_map(|key| Act::Remove { key }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// A map that forgets nothing says what may be found; only what had to go may be missing.
    #[test]
    fn what_is_found_is_what_was_stored_last(acts in prop::collection::vec(act(), 1..400)) {
        let mut shelf = Shelf::new(ROOM, 20);
        let mut model: HashMap<u32, (u32, u64)> = HashMap::new();
        let mut missing = 0;
        for (value, act) in (0..).zip(acts) {
            let before = shelf.evicted;
            match act {
                Act::Set { key, weight } => {
                    missing -= u64::from(model.contains_key(&key) && shelf.peek(hash(key), &key.to_le_bytes()).is_none());
                    set(&mut shelf, key, value, weight);
                    model.insert(key, (value, weight));
                    prop_assert_eq!(get(&shelf, key), Some(value), "the newest stays");
                }
                Act::Pin { key } => {
                    missing -= u64::from(model.contains_key(&key) && shelf.peek(hash(key), &key.to_le_bytes()).is_none());
                    set(&mut shelf, key, value, 0);
                    model.insert(key, (value, 0));
                }
                Act::Get { key, times } => {
                    for _ in 0..times {
                        let found = get(&shelf, key);
                        let (stored, weight) = model.get(&key).copied().unzip();
                        prop_assert!(found == stored || found.is_none() && weight != Some(0), "{:?} for {:?}", found, stored);
                    }
                }
                Act::Remove { key } => {
                    let was_there = shelf.peek(hash(key), &key.to_le_bytes()).is_some();
                    missing -= u64::from(model.remove(&key).is_some() && !was_there);
                    shelf.remove(hash(key), &key.to_le_bytes());
                    prop_assert_eq!(get(&shelf, key), None);
                }
            }
            missing += shelf.evicted - before;
            check(&shelf);
            let there = shelf.usage().entries.unwrap();
            prop_assert_eq!(there + missing, model.len() as u64, "what is missing was counted when it had to go");
        }
    }
}

#[test]
fn what_was_read_twice_outlives_a_scan() {
    let mut shelf = Shelf::new(ROOM, 20);
    for key in 0..50 {
        set(&mut shelf, key, key, 10);
        assert_eq!((get(&shelf, key), get(&shelf, key)), (Some(key), Some(key)));
    }
    for key in 1_000..1_500 {
        set(&mut shelf, key, key, 10);
    }
    let left = (0..50).filter(|&key| get(&shelf, key).is_some()).count();
    assert!(left >= 45, "{left} of 50 are left");
}

/// Longer than the cache, a loop finds nothing in one that drops the least recent.
#[test]
fn of_a_loop_some_is_found() {
    let mut shelf = Shelf::new(ROOM, 100);
    let hits = (0..20_000).filter(|at| visit(&mut shelf, at % 200, 10)).count();
    assert!(hits > 6_000, "{hits} of 20 000");
}

/// Each key comes a few times, soon, and never again.
#[test]
fn where_only_the_last_is_wanted_again_newcomers_get_more_room() {
    let mut shelf = Shelf::new(ROOM, 100);
    let start = shelf.for_new;
    for at in 0..20_000_u32 {
        visit(&mut shelf, at / 2, 10);
        visit(&mut shelf, (at / 2).saturating_sub(20), 10);
    }
    assert!(shelf.for_new > start * 4, "{} after {start}", shelf.for_new);
    check(&shelf);
}

#[test]
fn one_large_entry_makes_others_go_and_no_more_than_it_takes() {
    let mut shelf = Shelf::new(ROOM, 20);
    (0..100).for_each(|key| set(&mut shelf, key, key, 10));
    assert_eq!(shelf.usage().entries, Some(100));
    set(&mut shelf, 100, 100, 700);
    let Usage { entries, bytes, evicted } = shelf.usage();
    assert_eq!((entries, bytes, evicted), (Some(31), Some(ROOM), Some(70)));
}
