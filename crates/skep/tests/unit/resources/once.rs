//! Unit tests of `form::once`.

use super::*;

/// Of a form that lasts five seconds.
const fn key(until: u64, id: u8) -> Key {
    Key { issued: until.saturating_sub(5), until, id: [id; 16] }
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
    assert!(skep_units::lock(&ledger.claims).by_key.is_empty());
}

fn done(ledger: &Ledger, key: Key, now: u64) {
    first(ledger, key, now).outcome = Some(Outcome { digest: 0, location: None });
}

#[test]
fn what_has_expired_leaves_memory() {
    let ledger = Ledger::new(2);
    done(&ledger, key(5, 1), 0);
    done(&ledger, key(5, 2), 0);
    assert!(matches!(ledger.claim(key(5, 1), 5), Claim::Done(_)));
    drop(first(&ledger, key(9, 3), 6));
    assert!(skep_units::lock(&ledger.claims).by_key.is_empty());
}

#[test]
fn what_expires_while_its_handler_runs_is_not_taken_again() {
    let ledger = Ledger::new(9);
    first(&ledger, key(5, 1), 4).outcome = Some(Outcome { digest: 0, location: None });
    assert!(matches!(ledger.claim(key(5, 1), 6), Claim::Forgotten), "it waited for the first one");
}

#[test]
fn what_has_expired_goes_before_what_lasts_longer() {
    let ledger = Ledger::new(2);
    let lasting = Key { issued: 1, until: 1_000_000, id: [1; 16] };
    done(&ledger, lasting, 1);
    done(&ledger, key(7, 2), 3);
    done(&ledger, key(14, 3), 9);
    assert!(matches!(ledger.claim(lasting, 9), Claim::Done(_)), "the room was that of the expired one");
}

#[test]
fn if_memory_is_full_the_oldest_form_counts_as_expired_and_newer_ones_are_taken() {
    let ledger = Ledger::new(2);
    for (until, id) in [(10, 1), (11, 2), (12, 3), (13, 4)] {
        done(&ledger, key(until, id), 0);
    }
    for (until, id) in [(10, 1), (11, 2), (11, 9)] {
        assert!(matches!(ledger.claim(key(until, id), 0), Claim::Forgotten), "{until} {id}");
    }
    for (until, id) in [(12, 3), (13, 4)] {
        assert!(matches!(ledger.claim(key(until, id), 0), Claim::Done(_)), "{until} {id}");
    }
    assert!(matches!(ledger.claim(key(12, 5), 0), Claim::First(_)), "a form that was not sent before");
}

#[test]
fn a_form_that_lasts_longer_keeps_no_shorter_one_out() {
    let (ledger, until) = (Ledger::new(2), 1_000_000);
    done(&ledger, Key { issued: 6, until, id: [1; 16] }, 6);
    done(&ledger, Key { issued: 7, until, id: [2; 16] }, 7);
    done(&ledger, key(13, 3), 8);
    assert!(matches!(ledger.claim(key(13, 3), 8), Claim::Done(_)));
    assert!(matches!(ledger.claim(Key { issued: 6, until, id: [1; 16] }, 8), Claim::Forgotten));
}

#[test]
fn one_whose_handler_runs_is_never_forgotten() {
    let ledger = Ledger::new(1);
    let running = first(&ledger, key(5, 1), 0);
    assert!(matches!(ledger.claim(key(9, 2), 0), Claim::Full));
    drop(running);
    assert!(matches!(ledger.claim(key(9, 2), 0), Claim::First(_)));
}
