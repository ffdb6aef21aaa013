//! Unit tests of `sql::history`.

use super::*;

const BUDGET: Duration = Duration::from_millis(2);
const SHORT: Duration = Duration::from_micros(5);
const LONG: Duration = Duration::from_secs(1);

fn inline(mut history: History, times: u32, took: Duration) -> History {
    (0..times).for_each(|_| history.ran_inline(took, BUDGET));
    history
}

fn on_pool(mut history: History, times: u32, took: Duration) -> History {
    (0..times).for_each(|_| history.ran_on_pool(took, BUDGET));
    history
}

fn stopped(times: u32) -> History {
    let mut history = History::new();
    for _ in 0..times {
        history.was_stopped();
        history = on_pool(history, MOST_PATIENCE, SHORT);
        assert_eq!(history.place(), Executor::Inline);
    }
    history.was_stopped();
    history
}

fn runs_until_back(history: History) -> u32 {
    (0..1_000_000).find(|runs| on_pool(history, *runs, SHORT).place() == Executor::Inline).unwrap()
}

#[test]
fn its_past_says_where_a_statement_belongs() {
    for (what, history, place) in [
        ("an unknown one runs inline", History::new(), Executor::Inline),
        ("a short one stays inline", inline(History::new(), 10_000, SHORT), Executor::Inline),
        ("one that was stopped goes to the pool at once", stopped(0), Executor::Pool),
        ("one that keeps using much goes", inline(History::new(), WEIGHT, BUDGET / 2), Executor::Pool),
        ("between the limits, inline stays inline", inline(History::new(), 10_000, BUDGET / 6), Executor::Inline),
        ("between the limits, the pool keeps it", on_pool(stopped(0), 10_000, BUDGET / 6), Executor::Pool),
    ] {
        assert_eq!(history.place(), place, "{what}");
    }
}

#[test]
fn one_long_run_among_short_ones_does_not_send_it_away() {
    for before in [0, 1, 100] {
        let mut history = inline(inline(History::new(), before, SHORT), 1, LONG);
        for _ in 0..100 {
            history.ran_inline(SHORT, BUDGET);
            assert_eq!(history.place(), Executor::Inline);
        }
    }
}

#[test]
fn it_comes_back_after_enough_quick_runs_in_a_row() {
    let history = on_pool(on_pool(stopped(0), PATIENCE - 1, SHORT), 1, LONG);
    assert_eq!(runs_until_back(history), PATIENCE, "a slow run starts the count again");
}

#[test]
fn each_further_stop_doubles_what_it_needs_up_to_a_limit() {
    for (stops, patience) in [(0, PATIENCE), (1, 2 * PATIENCE), (2, 4 * PATIENCE), (20, MOST_PATIENCE)] {
        assert_eq!(runs_until_back(stopped(stops)), patience, "{stops}");
    }
}

#[test]
fn a_long_time_without_trouble_restores_the_trust() {
    let mut history = inline(on_pool(stopped(20), MOST_PATIENCE, SHORT), TRUSTED, SHORT);
    history.was_stopped();
    assert_eq!(runs_until_back(history), PATIENCE);
}
