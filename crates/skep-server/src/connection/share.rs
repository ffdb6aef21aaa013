//! How many requests a thread handles: at once, and in all.

use std::cell::{Cell, RefCell};
use std::task::Waker;

/// How many requests a thread may handle at once, and in all. Plain numbers: who waits is woken when a turn is free.
#[derive(Debug)]
pub(crate) struct Share {
    /// Turns that are free.
    turns: Cell<usize>,
    /// Connections that had no answer yet: each may take a turn at any moment.
    newcomers: Cell<usize>,
    /// Requests that may still begin.
    left: Cell<u64>,
    waiting: RefCell<Vec<Waker>>,
}

impl Share {
    /// As many as come.
    pub(crate) fn unlimited() -> Self {
        Self::new(usize::MAX, u64::MAX)
    }

    /// So many at once, and so many in all.
    pub(crate) fn new(at_once: usize, in_all: u64) -> Self {
        Self {
            turns: Cell::new(at_once),
            newcomers: Cell::new(0),
            left: Cell::new(in_all),
            waiting: RefCell::default(),
        }
    }

    /// A request has come. True if it is the last one.
    pub(crate) fn begin(&self) -> bool {
        self.left.set(self.left.get().saturating_sub(1));
        self.is_spent()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// True if one more connection would find a turn for its first request.
    pub(crate) fn has_turn(&self) -> bool {
        self.turns.get() > self.newcomers.get()
    }

    /// A connection has come.
    pub(crate) fn welcome(&self) {
        self.newcomers.set(self.newcomers.get() + 1);
    }

    /// It had its first answer, or is gone.
    pub(crate) fn settle(&self) {
        self.newcomers.set(self.newcomers.get() - 1);
    }

    /// Takes a turn, or has `waker` called when one is free.
    pub(crate) fn poll_turn(&self, waker: &Waker) -> bool {
        let free = self.turns.get();
        if free == 0 {
            self.waiting.borrow_mut().push(waker.clone());
            return false;
        }
        self.turns.set(free - 1);
        true
    }

    /// Gives a turn back.
    pub(crate) fn end_turn(&self) {
        let free = self.turns.get();
        self.turns.set(free + 1);
        if free == 0 {
            self.waiting.take().iter().for_each(Waker::wake_by_ref);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_given_back_and_requests_are_not() {
        let share = Share::new(1, 2);
        assert!(share.poll_turn(Waker::noop()) && !share.has_turn());
        assert!(!share.poll_turn(Waker::noop()));
        share.end_turn();
        assert!(share.has_turn());
        share.welcome();
        assert!(!share.has_turn() && share.poll_turn(Waker::noop()), "the newcomer's own turn");
        assert!(!share.begin() && share.begin() && share.is_spent());
    }
}
