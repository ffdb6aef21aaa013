//! How many requests a thread handles, at a time and in total. All users of a budget are on one thread.

use std::cell::{Cell, RefCell};
use std::task::Waker;

#[derive(Debug, Default)]
pub(crate) struct RequestBudget {
    /// Free permits.
    permits: Cell<usize>,
    /// Connections without a response so far: a permit is reserved for each.
    reserved: Cell<usize>,
    /// Requests that may still start.
    left: Cell<u64>,
    waiting: RefCell<Vec<Waker>>,
}

impl RequestBudget {
    pub(crate) fn unlimited() -> Self {
        Self::new(usize::MAX, u64::MAX)
    }

    pub(crate) fn new(concurrent: usize, total: u64) -> Self {
        Self { permits: Cell::new(concurrent), left: Cell::new(total), ..Self::default() }
    }

    /// Counts a request. True if it was the last one.
    pub(crate) fn count_request(&self) -> bool {
        self.left.set(self.left.get().saturating_sub(1));
        self.is_exhausted()
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// True if there is a permit for the first request of another connection.
    pub(crate) fn has_permit(&self) -> bool {
        self.permits.get() > self.reserved.get()
    }

    /// Reserves a permit for a new connection.
    pub(crate) fn reserve(&self) {
        self.reserved.set(self.reserved.get() + 1);
    }

    /// The connection has had its first response, or is closed.
    pub(crate) fn release_reservation(&self) {
        self.reserved.set(self.reserved.get() - 1);
    }

    /// Takes a permit, or wakes `waker` when one is free.
    pub(crate) fn poll_permit(&self, waker: &Waker) -> bool {
        let free = self.permits.get();
        if free == 0 {
            self.waiting.borrow_mut().push(waker.clone());
            return false;
        }
        self.permits.set(free - 1);
        true
    }

    /// True if a request waits for it.
    pub(crate) fn release_permit(&self) -> bool {
        let free = self.permits.get();
        self.permits.set(free + 1);
        let waiting = self.waiting.take();
        waiting.iter().for_each(Waker::wake_by_ref);
        !waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_given_back_and_the_request_quota_is_not() {
        let budget = RequestBudget::new(1, 2);
        assert!(budget.poll_permit(Waker::noop()) && !budget.has_permit());
        assert!(!budget.poll_permit(Waker::noop()));
        assert!(budget.release_permit(), "one waits");
        assert!(budget.poll_permit(Waker::noop()));
        assert!(!budget.release_permit(), "it has it");
        assert!(budget.has_permit());
        budget.reserve();
        assert!(!budget.has_permit() && budget.poll_permit(Waker::noop()), "its reserved permit");
        assert!(!budget.count_request() && budget.count_request() && budget.is_exhausted());
    }
}
