//! Unit tests of `counters`.

use std::collections::HashSet;

use super::*;

const MINUTE: Pace = Pace { burst: 10, each: Duration::from_mins(1) };

fn table(bytes: usize) -> (Counters, Clock) {
    let clock = Clock::manual();
    (Counters::new(bytes, clock.clone()).unwrap(), clock)
}

fn used_up(counters: &Counters, key: &[u8], pace: Pace) {
    while counters.add(key, pace, b"a").is_ok() {}
}

#[test]
fn a_burst_is_allowed_and_refills_evenly_at_every_pace() {
    for (burst, micros) in [(1, 1), (3, 8), (3, 1000), (10, 60_000_000), (100, 333_333), (5, 86_400_000_000)] {
        let (counters, clock) = table(1 << 16);
        let pace = Pace { burst, each: Duration::from_micros(micros) };
        for number in 0..burst {
            assert_eq!(counters.add(b"key", pace, b""), Ok(()), "{number} of {burst} at {micros}");
        }
        let wait = counters.add(b"key", pace, b"").unwrap_err();
        assert!(wait.as_micros().abs_diff(u128::from(micros)) <= 8, "{wait:?} at {micros}");
        clock.advance(Duration::from_micros(micros.div_ceil(1000) * 1000) + Duration::from_millis(1));
        assert_eq!(counters.add(b"key", pace, b""), Ok(()), "{micros}");
        clock.advance(2 * burst * pace.each + Duration::from_millis(1));
        for _ in 0..burst {
            assert_eq!(counters.add(b"key", pace, b""), Ok(()), "no more than the burst at {micros}");
        }
    }
}

#[test]
fn what_is_given_back_or_cleared_is_free_again() {
    let (counters, _) = table(1 << 16);
    used_up(&counters, b"key", MINUTE);
    counters.change(b"key", Change::GiveBack(MINUTE), b"").unwrap();
    assert!(counters.add(b"key", MINUTE, b"").is_ok() && counters.add(b"key", MINUTE, b"").is_err());
    counters.change(b"key", Change::Clear, b"").unwrap();
    assert_eq!((0..20).filter(|_| counters.add(b"key", MINUTE, b"").is_ok()).count(), 10);
    for change in [Change::Clear, Change::GiveBack(MINUTE)] {
        assert_eq!(counters.change(b"unknown", change, b""), Ok(()));
    }
}

#[test]
fn a_flood_that_more_than_fills_the_table_resets_no_counter() {
    for bytes in [1024, 1 << 14, 1 << 16] {
        let (counters, clock) = table(bytes);
        let held: Vec<String> = (0..20).map(|number| format!("held {number}")).collect();
        for key in &held {
            used_up(&counters, key.as_bytes(), MINUTE);
        }
        let places = bytes / size_of::<u64>();
        for number in 0..20 * places {
            let _ = counters.add(format!("made up {number}").as_bytes(), MINUTE, &number.to_le_bytes());
        }
        for key in &held {
            assert!(counters.add(key.as_bytes(), MINUTE, b"a").is_err(), "{key} of {bytes} bytes was forgotten");
        }
        // Ten minutes later all of them are full again, and there is room.
        clock.advance(Duration::from_mins(11));
        assert!(held.iter().all(|key| counters.add(key.as_bytes(), MINUTE, b"b").is_ok()));
    }
}

#[test]
fn what_does_not_fit_counts_for_its_network_and_does_not_close_others() {
    let (counters, clock) = table(1024);
    for number in 0..2000_u32 {
        let _ = counters.add(format!("filling {number}").as_bytes(), MINUTE, b"filling");
    }
    // Its row is used up. At another pace it has another one, as a rule.
    let slower = |seconds| Pace { burst: 3, each: Duration::from_secs(seconds) };
    assert!(counters.add(b"another", MINUTE, b"filling").is_err());
    assert!((61..100).any(|seconds| counters.add(b"another", slower(seconds), b"filling").is_ok()));
    let allowed = |network: &[u8]| {
        (0..1000).filter(|number| counters.add(format!("new {number}").as_bytes(), MINUTE, network).is_ok()).count()
    };
    // 40,000 keys of 40 networks: each has its burst once, in one of eight rows, or in one of the few places that were
    // left.
    let counts: Vec<usize> = (0..40_u8).map(|network| allowed(&[network])).collect();
    assert!((40..=200).contains(&counts.iter().sum::<usize>()), "{counts:?}");
    clock.advance(Duration::from_mins(11));
    assert!(counters.add(b"later", MINUTE, b"filling").is_ok());
}

#[test]
fn threads_share_a_counter_exactly() {
    let counters = Counters::new(1 << 16, Clock::manual()).unwrap();
    let pace = Pace { burst: 1000, each: Duration::from_mins(1) };
    let allowed: usize = std::thread::scope(|scope| {
        let count = || (0..1000).filter(|_| counters.add(b"key", pace, b"").is_ok()).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(allowed, 1000);
}

#[test]
fn a_table_that_is_not_full_counts_each_key_for_itself() {
    let (counters, _) = table(1 << 20);
    let once = Pace { burst: 1, ..MINUTE };
    let mut refused = HashSet::new();
    for number in 0..10_000_u32 {
        if counters.add(&number.to_le_bytes(), once, b"").is_err() {
            refused.insert(number);
        }
    }
    // Two of a bucket may have the same mark: one of half a million, for each counter in two buckets.
    assert!(refused.len() <= 2, "{refused:?}");
}

#[test]
fn a_clock_that_is_set_back_closes_nothing_for_longer_than_its_pace() {
    let hour = 3_600_000_000;
    let used = MINUTE.after_one_more(100 * hour, 10 * hour).unwrap_err();
    assert_eq!(used, Duration::from_mins(1));
    assert!(MINUTE.after_one_more(u64::MAX, 0).is_err() && MINUTE.after_one_more(0, u64::MAX).is_ok());
}
