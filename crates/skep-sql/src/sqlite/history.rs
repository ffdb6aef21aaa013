//! Where a statement runs next: on its handler's thread, or on the pool.
//!
//! A short query is done in less time than it takes to hand it to another thread; a long one would stall every other
//! request of its thread. Nobody can tell from the text which it is, so its own past decides. The rules:
//!
//! - An unknown statement runs inline, and is stopped when the budget is used up. That is the most it can cost.
//! - One that was stopped, or whose mean is above a quarter of the budget, goes to the pool. The mean begins at zero
//!   and one run counts as the budget at most, so that one or two runs cannot send a statement away: a thread that had
//!   to wait for its core is no fault of the statement's.
//! - One on the pool comes back after `patience` quick runs in a row, quick meaning below an eighth of the budget.
//! - Each time it is stopped again, it needs twice as many, so that a statement that is slow now and then does not
//!   waste its budget again and again. A thousand inline runs without trouble restore the trust.
//!
//! No clock is read here; the caller passes times.

use std::time::Duration;

/// Quick runs on the pool that a statement needs before it comes back, the first time and at most.
const PATIENCE: u32 = 8;
const MOST_PATIENCE: u32 = 1024;

/// Inline runs after which an earlier stop is forgotten.
const TRUSTED: u32 = 1000;

/// How much the last run weighs in the mean: one in eight.
const WEIGHT: u32 = 8;

/// Where a statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Executor {
    /// On the handler's own thread.
    Inline,
    /// On the pool.
    Pool,
}

/// What one statement did so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct History {
    place: Executor,
    /// Of the runs since it came to this place.
    mean: Duration,
    /// Good runs in a row: quick ones on the pool, any inline.
    good: u32,
    /// What it needs to come back, and what it will need after the next stop.
    patience: u32,
    next_patience: u32,
}

impl History {
    /// Nothing is known yet.
    pub(crate) const fn new() -> Self {
        Self { place: Executor::Inline, mean: Duration::ZERO, good: 0, patience: PATIENCE, next_patience: PATIENCE }
    }

    /// Where the next run belongs.
    pub(crate) fn place(&self) -> Executor {
        self.place
    }

    /// It ran inline to its end.
    pub(crate) fn ran_inline(&mut self, took: Duration, budget: Duration) {
        self.mean = (self.mean * (WEIGHT - 1) + took.min(budget)) / WEIGHT;
        self.good = self.good.saturating_add(1);
        if self.good == TRUSTED {
            self.next_patience = PATIENCE;
        }
        if self.mean > budget / 4 {
            self.move_to(Executor::Pool);
        }
    }

    /// It was stopped inline when its budget was used up.
    pub(crate) fn was_stopped(&mut self) {
        self.patience = self.next_patience;
        self.next_patience = (self.patience * 2).min(MOST_PATIENCE);
        self.move_to(Executor::Pool);
    }

    /// It ran on the pool to its end.
    pub(crate) fn ran_on_pool(&mut self, took: Duration, budget: Duration) {
        self.good = if took < budget / 8 { self.good + 1 } else { 0 };
        if self.place == Executor::Pool && self.good >= self.patience {
            self.move_to(Executor::Inline);
        }
    }

    fn move_to(&mut self, place: Executor) {
        (self.place, self.mean, self.good) = (place, Duration::ZERO, 0);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/sqlite/history.rs"]
mod tests;
