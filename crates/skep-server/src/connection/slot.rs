//! Memory for the futures of requests, which a thread uses again.
//!
//! The future of a request is large: an idle connection has no room for it, and a general allocator takes longer for
//! two kilobytes than many a handler does.

use std::any::Any;
use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use super::Context;

/// As many requests are in progress at a time, mostly.
const MOST_SPARE: usize = 16;

/// The slots that are not in use; of one type, which nobody can name.
#[derive(Default)]
pub(super) struct SpareSlots(RefCell<Option<Box<dyn Any>>>);

/// A future in its place.
pub(super) struct Slot<F>(Pin<Box<Option<F>>>);

impl<F: Future + 'static> Slot<F> {
    /// Makes the future in its place.
    pub(super) fn new(context: &Context, make: impl FnOnce() -> F) -> Self {
        let mut place = context.slots.take().unwrap_or_else(|| Box::pin(None));
        place.set(Some(make()));
        Self(place)
    }

    pub(super) fn poll(&mut self, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        self.0.as_mut().as_pin_mut().map_or(Poll::Pending, |future| future.poll(cx))
    }

    /// Drops the future, and keeps its place for another one.
    pub(super) fn give_back(mut self, context: &Context) {
        self.0.set(None);
        context.slots.put(self.0);
    }
}

impl SpareSlots {
    fn take<T: 'static>(&self) -> Option<T> {
        self.0.borrow_mut().as_mut()?.downcast_mut::<Vec<T>>()?.pop()
    }

    fn put<T: 'static>(&self, slot: T) {
        let mut spare = self.0.borrow_mut();
        let spare = spare.get_or_insert_with(|| Box::new(Vec::<T>::new()));
        if let Some(spare) = spare.downcast_mut::<Vec<T>>().filter(|spare| spare.len() < MOST_SPARE) {
            spare.push(slot);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/connection/slot.rs"]
mod tests;
