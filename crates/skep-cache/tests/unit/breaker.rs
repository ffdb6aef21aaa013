//! Unit tests of `breaker`.

use super::*;

fn open(breaker: &Breaker, now: Time) {
    for failure in 1..=breaker.threshold {
        assert!(breaker.allows(now));
        assert_eq!(breaker.failed(now), failure == breaker.threshold);
    }
}

#[test]
fn it_opens_after_consecutive_failures_only() {
    let breaker = Breaker::default();
    let now = Time::from_millis(1_000);
    for _ in 0..100 {
        breaker.failed(now);
        assert!(breaker.succeeded());
    }
    open(&breaker, now);
    assert!(!breaker.allows(now) && breaker.is_open());
}

#[test]
fn after_a_pause_one_caller_probes_and_pauses_grow() {
    for breaker in [Breaker::default(), Breaker::new(1, Duration::from_secs(1), Duration::from_secs(30))] {
        let mut now = Time::from_millis(1_000);
        open(&breaker, now);
        for pause in [1, 2, 4, 8, 16, 30, 30] {
            assert!(!breaker.allows(now.plus(Duration::from_millis(pause * 1_000 - 1))), "{pause}");
            now = now.plus(Duration::from_secs(pause));
            assert!(breaker.allows(now), "{pause}");
            assert!(!breaker.allows(now), "one caller probes");
            breaker.failed(now);
        }
        breaker.succeeded();
        assert!(breaker.allows(now) && breaker.allows(now) && !breaker.is_open());
    }
}
