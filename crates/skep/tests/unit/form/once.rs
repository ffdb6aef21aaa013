//! Unit tests of `form::once`.

use super::*;

const fn key(until: u64, id: u8) -> Key {
    (until, [id; 16])
}

fn first(ledger: &Ledger, key: Key, now: u64) -> Taken<'_> {
    let Claim::First(taken) = ledger.claim(key, now) else { panic!("{key:?} was taken before") };
    taken
}

#[test]
fn a_number_is_taken_once_and_who_waits_learns_of_its_end() {
    let ledger = Ledger::new(9);
    let mut taken = first(&ledger, key(5, 1), 0);
    let Claim::After(mut other) = ledger.claim(key(5, 1), 0) else { panic!("two have it") };
    assert_eq!(other.try_recv(), Ok(None));
    let outcome = Outcome { digest: 7, location: Some("/".into()) };
    taken.outcome = Some(outcome.clone());
    drop(taken);
    assert!(other.try_recv().is_err(), "the wait is over");
    assert!(matches!(ledger.claim(key(5, 1), 0), Claim::Done(done) if done == outcome));
}

#[test]
fn what_is_given_back_can_be_taken_again() {
    let ledger = Ledger::new(9);
    drop(first(&ledger, key(5, 1), 0));
    drop(first(&ledger, key(5, 1), 0));
    assert!(skep_units::lock(&ledger.kept).is_empty());
}

#[test]
fn the_memory_is_bounded_and_nothing_is_forgotten_before_its_time() {
    let ledger = Ledger::new(2);
    for id in [1, 2] {
        first(&ledger, key(5, id), 0).outcome = Some(Outcome { digest: 0, location: None });
    }
    assert!(matches!(ledger.claim(key(9, 3), 5), Claim::Full));
    assert!(matches!(ledger.claim(key(5, 1), 5), Claim::Done(_)));
    drop(first(&ledger, key(9, 3), 6));
    assert!(skep_units::lock(&ledger.kept).is_empty(), "the time of the others is over");
}
