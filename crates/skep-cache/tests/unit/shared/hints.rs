//! Unit tests of `shared::hints`.

use super::*;

/// Hints of one set, and the words that they are about.
fn hints() -> (Hints, Vec<AtomicU64>) {
    let map = Geometry::new(300 << 10, 4096).unwrap();
    let words = (0..map.shard).map(|_| AtomicU64::new(0)).collect();
    let hints = Hints::new(&map);
    (Hints { sets: hints.sets.into_iter().take(1).collect(), ..hints }, words)
}

#[test]
fn what_was_noted_last_is_believed() {
    let (hints, words) = hints();
    let (words, hash) = (Words(&words), 0xabcd_1234_5678_9abc);
    assert!(!hints.fetch(words, hash).is_for(4242), "nothing was noted");
    for at in [4242, 4200, words.0.len() - 2] {
        hints.note(hash, at, 30);
        assert!(hints.fetch(words, hash).is_for(at), "{at}");
    }
    assert!(!hints.fetch(words, !hash).is_for(4200), "of another key nothing is known");
}

#[test]
fn a_full_set_changes_one_hint_now_and_then() {
    let (hints, words) = hints();
    let hash = |key: u64| key << 50 | key << 20;
    let known = |keys: std::ops::Range<u64>| {
        keys.filter(|key| hints.fetch(Words(&words), hash(*key)).is_for(1000 + *key as usize * LINE)).count()
    };
    (1..6).for_each(|key| hints.note(hash(key), 1000 + key as usize * LINE, 20));
    assert_eq!((known(1..5), known(5..6)), (4, 0));
    (0..PUSHY).for_each(|_| hints.note(hash(5), 1000 + 5 * LINE, 20));
    assert_eq!((known(1..5), known(5..6)), (3, 1), "it took one place");
}

#[test]
fn what_cannot_be_said_in_a_hint_is_not_noted() {
    let (hints, words) = hints();
    hints.note(7, usize::MAX, 20);
    assert!(hints.fetch(Words(&words), 7).is_for(0));
}
