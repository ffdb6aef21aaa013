//! Unit tests of `connection::turn`.

use std::sync::Arc;

use super::*;
use crate::sys::scoreboard::Scoreboard;

/// How many of these steps a turn takes, with clocks that see what each cost. The coarse one is as late as its step of
/// four milliseconds makes it.
fn taken(steps: impl IntoIterator<Item = Duration>, starts: bool) -> usize {
    let now = Cell::new(Duration::from_secs(7));
    let clock = |reading| match reading {
        Reading::Exact => now.get(),
        Reading::Coarse => Duration::from_millis(u64::try_from(now.get().as_millis()).unwrap() / 4 * 4),
    };
    let mut turn = TurnBudget::default();
    let may = |step| {
        let may = turn.take(clock);
        if may && starts {
            turn.start(clock);
        }
        now.set(now.get() + step);
        may
    };
    steps.into_iter().map(may).take_while(|may| *may).count()
}

#[test]
fn a_turn_ends_after_sixteen_steps_or_a_millisecond() {
    let micros = Duration::from_micros;
    let same = |step| vec![step; 100];
    assert_eq!(taken(same(micros(2)), true), 16);
    for (step, most) in [(2000, 1), (1000, 1), (999, 2), (600, 2), (501, 2), (300, 4)] {
        assert_eq!(taken(same(micros(step)), true), most, "{step} us each");
    }
    // Fast steps before slow ones do not hide them: the coarse clock is four milliseconds late at the most.
    for before in 1..15 {
        let steps = std::iter::repeat_n(micros(2), before).chain(same(micros(2000)));
        assert!(taken(steps, true) <= before + 3, "{before} before");
    }
    assert_eq!(taken(same(Duration::ZERO), false), 16);
    assert!(taken(same(micros(2000)), false) <= 2, "the clock starts with the second step");
}

#[test]
fn what_is_in_no_turn_goes_on() {
    let cx = Context::from_waker(Waker::noop());
    for _ in 0..1000 {
        assert!(poll_proceed(&cx).is_ready() && poll_time(&cx).is_ready());
    }
}

#[test]
fn a_thread_that_serves_no_connection_says_so() {
    let scoreboard = Arc::new(Scoreboard::new(2).unwrap());
    answer_as(&SlotRef::new(&scoreboard, 1));
    assert_eq!(scoreboard.ask(1, tell_serving).as_deref(), Some("no connection"));
}

#[test]
fn both_clocks_are_one() {
    let [coarse, exact] = [Reading::Coarse, Reading::Exact].map(clock);
    assert!(exact.abs_diff(coarse) < Duration::from_millis(500), "{coarse:?} {exact:?}");
}
