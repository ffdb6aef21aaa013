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

#[test]
fn a_thread_that_hangs_says_what_it_serves() {
    let scoreboard = Scoreboard::new(3).unwrap();
    let other = Scoreboard::open(scoreboard.file().try_clone().unwrap(), 3).unwrap();
    for (slot, text) in
        [(0, "GET /hang for 127.0.0.1:9".to_owned()), (2, "a connection".to_owned()), (2, "x".repeat(248))]
    {
        assert_eq!(scoreboard.ask(slot, || other.tell(slot, &text)), Some(text));
    }
    // What does not fit is cut, within no character.
    assert_eq!(scoreboard.ask(1, || other.tell(1, &"é".repeat(200))), Some("é".repeat(124)));
    assert_eq!(scoreboard.ask(1, || ()), None, "what it said before is not said again");
    assert!(scoreboard.slots().iter().all(|slot| !slot.is_claimed()));
    // A scoreboard of a version that knows no texts.
    let file = rustix::fs::memfd_create("old", MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&file, 3 * 64).unwrap();
    let old = Scoreboard::open(file, 3).unwrap();
    assert_eq!(old.ask(2, || old.tell(2, "x")), None);
    old.slots()[2].claim();
}

#[test]
fn threads_that_were_asked_together_have_one_time_to_answer() {
    let scoreboard = Scoreboard::new(3).unwrap();
    for slot in 0..3 {
        scoreboard.begin_to_ask(slot, || {
            if slot == 2 {
                scoreboard.tell(slot, "no connection");
            }
        });
    }
    let (begun, until) = (Instant::now(), Instant::now() + ANSWER);
    let answers = [0, 1, 2].map(|slot| scoreboard.answer(slot, until));
    assert_eq!(answers, [None, None, Some("no connection".to_owned())]);
    assert!(begun.elapsed() < ANSWER * 3 / 2, "{:?}", begun.elapsed());
}
