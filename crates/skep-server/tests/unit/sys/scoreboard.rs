//! Unit tests of `sys::scoreboard`.

use super::*;

#[test]
fn slots_are_shared_between_mappings() {
    let scoreboard = Scoreboard::new(3).unwrap();
    let other = Scoreboard::open(scoreboard.file().try_clone().unwrap(), 3).unwrap();
    scoreboard.slots()[2].claim();
    scoreboard.slots()[2].count_request();
    assert!(other.slots()[2].is_claimed() && !other.slots()[1].is_claimed());
    assert_eq!(other.slots()[2].requests.load(Ordering::Relaxed), 1);
    assert!(Scoreboard::open(scoreboard.file().try_clone().unwrap(), 300).is_err());
    // The next owner starts at zero, and the total remains.
    scoreboard.slots()[2].release();
    scoreboard.slots()[2].claim();
    scoreboard.slots()[2].count_request();
    let slot = &other.slots()[2];
    assert_eq!((slot.requests.load(Ordering::Relaxed), slot.total_requests()), (1, 2));
}
