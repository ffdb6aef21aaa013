//! Unit tests of `clock`.

use super::*;

#[test]
fn time_passes_while_somebody_is_at_work() {
    let clock = Arc::new(Clock::default());
    assert!(!clock.is_at_work());
    let (one, other) = (clock.work(), clock.work());
    drop(one);
    // A request that waits reads no time.
    assert!(clock.is_at_work() && clock.is_at_work());
    drop(other);
    assert!(!clock.is_at_work());
}

#[test]
fn a_time_is_never_shorter_than_asked_for() {
    assert_eq!(Clock::ticks(Duration::from_millis(1)), 1);
    assert_eq!(Clock::ticks(Duration::from_millis(6)), 2);
    assert_eq!(Clock::ticks(Duration::from_secs(1)), 200);
}
