//! Which tables were written, and who waits for that: viewers of live pages.
//!
//! A moment is a number that grows with each write that this process hears of. A viewer notes the moment before it
//! makes its page: whatever is written after that is heard, also while the page is made.
//!
//! Start reading at [`Changes::wait`].

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skep::repeat::Reads;
use skep_units::lock;

/// Slots of the file by which processes wake each other: [`WakeupFile::SLOTS`](skep::wakeup::WakeupFile::SLOTS).
#[cfg(not(target_family = "wasm"))]
pub(crate) const SLOTS: u64 = skep::wakeup::WakeupFile::SLOTS;
#[cfg(target_family = "wasm")]
const SLOTS: u64 = 1;

/// What this process knows of writes.
#[derive(Debug, Default)]
pub(crate) struct Changes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    now: u64,
    /// The last moment of a write that is known.
    known: u64,
    /// The moments of writes, by the ids of tags of tables.
    tags: HashMap<u64, u64>,
    /// Of writes of other processes, by slots.
    slots: HashMap<u64, u64>,
    /// Of writes of which the tables are not known.
    everything: u64,
    viewers: Vec<Option<Waiting>>,
    free: Vec<usize>,
}

/// What somebody waits for.
#[derive(Clone, Debug)]
struct Waiting {
    reads: Reads,
    /// Also for what may only have been missed.
    also_missed: bool,
    waker: Waker,
}

impl State {
    fn is_written(&self, reads: &Reads, since: u64) -> bool {
        let is_later = |moment: Option<&u64>| moment.is_some_and(|moment| *moment > since);
        self.known > since && reads.has(|tag| is_later(self.tags.get(&tag)) || is_later(self.slots.get(&(tag % SLOTS))))
    }

    fn has_changed(&self, reads: &Reads, also_missed: bool, since: u64) -> bool {
        also_missed && self.everything > since || self.is_written(reads, since)
    }

    /// Wakes whose page may have changed with the last write.
    fn wake(&mut self) -> Vec<Waker> {
        let Self { viewers, .. } = self;
        let mut viewers = std::mem::take(viewers);
        let since = self.now - 1;
        let is_meant = |viewer: &mut Option<Waiting>| {
            viewer.take_if(|one| self.has_changed(&one.reads, one.also_missed, since)).map(|one| one.waker)
        };
        let woken = viewers.iter_mut().filter_map(is_meant).collect();
        self.viewers = viewers;
        woken
    }
}

impl Changes {
    pub(crate) fn now(&self) -> u64 {
        lock(&self.0).now
    }

    /// These tables were written, by the ids of their tags.
    pub(crate) fn written(&self, tags: &[u64]) {
        self.note(|state| {
            state.known = state.now;
            state.tags.extend(tags.iter().map(|tag| (*tag, state.now)));
        });
    }

    /// Tables of these slots were written.
    pub(crate) fn written_elsewhere(&self, slots: &[u64]) {
        self.note(|state| {
            state.known = state.now;
            state.slots.extend(slots.iter().map(|slot| (*slot, state.now)));
        });
    }

    /// Any table may have been written.
    pub(crate) fn missed(&self) {
        self.note(|state| state.everything = state.now);
    }

    fn note(&self, write: impl FnOnce(&mut State)) {
        let mut state = lock(&self.0);
        state.now += 1;
        write(&mut state);
        let woken = state.wake();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Waits until something was written of these after this moment, or may have been missed: false.
    pub(crate) async fn wait(&self, reads: &Reads, since: u64) -> bool {
        self.wait_for(reads, true, since).await;
        lock(&self.0).is_written(reads, since)
    }

    /// The same without what may have been missed.
    pub(crate) async fn written_after(&self, reads: &Reads, since: u64) {
        self.wait_for(reads, false, since).await;
    }

    async fn wait_for(&self, reads: &Reads, also_missed: bool, since: u64) {
        let mut viewer = Viewer { changes: self, place: None };
        poll_fn(|cx| viewer.poll((reads, also_missed), since, cx)).await;
    }
}

/// Somebody who waits.
struct Viewer<'c> {
    changes: &'c Changes,
    place: Option<usize>,
}

impl Viewer<'_> {
    fn poll(&mut self, (reads, also_missed): (&Reads, bool), since: u64, cx: &Context<'_>) -> Poll<()> {
        let mut state = lock(&self.changes.0);
        if state.has_changed(reads, also_missed, since) {
            return Poll::Ready(());
        }
        let place = *self.place.get_or_insert_with(|| {
            state.free.pop().unwrap_or_else(|| {
                state.viewers.push(None);
                state.viewers.len() - 1
            })
        });
        state.viewers[place] = Some(Waiting { reads: reads.clone(), also_missed, waker: cx.waker().clone() });
        Poll::Pending
    }
}

impl Drop for Viewer<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let mut state = lock(&self.changes.0);
            state.viewers[place] = None;
            state.free.push(place);
        }
    }
}

/// A random time, up to this one.
pub(crate) fn up_to(longest: Duration) -> Duration {
    let share = f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX);
    longest.mul_f64(share)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn what_may_have_been_missed_differs_from_what_was_written() {
        let (changes, reads) = (Changes::default(), Reads::default());
        assert_eq!(changes.wait(&reads, 0).now_or_never(), None);
        changes.missed();
        assert_eq!(changes.wait(&reads, 0).now_or_never(), Some(false));
        assert_eq!(changes.written_after(&reads, 0).now_or_never(), None);
        changes.written(&[7]);
        assert_eq!(changes.wait(&reads, 1).now_or_never(), None, "nobody has read it");
    }
}
