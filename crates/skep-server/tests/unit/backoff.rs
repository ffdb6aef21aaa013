//! Unit tests of `backoff`.

use super::*;

#[test]
fn the_first_restarts_are_immediate_and_a_crash_loop_backs_off_exponentially() {
    let mut backoff = Backoff::default();
    let delays: Vec<u128> = (0..14).map(|_| backoff.record_exit(Duration::from_millis(5), false).as_millis()).collect();
    assert_eq!(delays[..6], [0, 0, 0, 100, 200, 400]);
    assert_eq!(delays[13], 30_000);
    assert!(backoff.is_crash_loop());
    assert_eq!(backoff.record_exit(Duration::from_secs(11), false), Duration::ZERO);
    assert!(!backoff.is_crash_loop());
}

#[test]
fn five_early_exits_in_a_row_are_a_crash_loop_unless_the_workers_were_useful() {
    let mut backoff = Backoff::default();
    let mut is_loop = |useful| {
        backoff.record_exit(Duration::ZERO, useful);
        backoff.is_crash_loop()
    };
    let loops: Vec<bool> = (0..6).map(|_| is_loop(false)).collect();
    assert_eq!(loops, [false, false, false, false, true, true]);
    assert!(!is_loop(true));
    backoff.note_uptime(Duration::from_secs(10));
    assert_eq!(backoff.early_exits(), 0);
}
