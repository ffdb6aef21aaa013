//! Who is present by a connection of this process, and what of that the database does not have yet.
//!
//! Start reading at [`Members::due`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use skep_units::lock;

/// Who comes back within this time has not left: a page that is loaded again.
const LINGER: Duration = Duration::from_secs(2);

/// Somebody at a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tracked {
    pub(crate) presence: &'static str,
    pub(crate) key: String,
    pub(crate) id: String,
    /// As JSON.
    pub(crate) who: String,
}

impl Tracked {
    fn is_same(&self, other: &Self) -> bool {
        (self.presence, &self.key, &self.id) == (other.presence, &other.key, &other.id)
    }
}

#[derive(Debug)]
struct Member {
    tracked: Tracked,
    /// The database has it as it is here.
    is_stored: bool,
    /// When it is removed.
    leaves: Option<Instant>,
}

/// Who is present by a process.
#[derive(Default)]
pub(crate) struct Members {
    state: Mutex<Connections>,
    /// Wakes the thread that writes; a component has none.
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

#[derive(Debug, Default)]
struct Connections {
    last: i64,
    members: BTreeMap<i64, Member>,
}

/// What is to be written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    /// By their numbers.
    pub(crate) here: Vec<(i64, Tracked)>,
    pub(crate) gone: Vec<(i64, Tracked)>,
    /// There is somebody, written or not.
    pub(crate) is_anybody: bool,
    /// When the next one leaves.
    pub(crate) next: Option<Instant>,
}

impl Members {
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn wake_by(&self, wake: impl Fn() + Send + Sync + 'static) {
        _ = self.wake.set(Box::new(wake));
    }

    fn wake(&self) {
        if let Some(wake) = self.wake.get() {
            wake();
        }
    }

    pub(crate) fn join(self: &Arc<Self>, tracked: Tracked) -> Present {
        let mut state = lock(&self.state);
        state.last += 1;
        let number = state.last;
        // A component has nobody who would write and remove it.
        if !cfg!(target_family = "wasm") {
            state.members.insert(number, Member { tracked, is_stored: false, leaves: None });
        }
        drop(state);
        self.wake();
        Present { members: Arc::clone(self), number }
    }

    /// What the database does not have yet.
    pub(crate) fn due(&self, now: Instant) -> Due {
        let mut state = lock(&self.state);
        // Who has left before anybody heard of it was never there.
        state.members.retain(|_, member| member.is_stored || member.leaves.is_none());
        let mut due = Due { is_anybody: !state.members.is_empty(), ..Due::default() };
        for (number, member) in &state.members {
            match member.leaves {
                Some(leaves) if leaves <= now => due.gone.push((*number, member.tracked.clone())),
                Some(leaves) => due.next = Some(due.next.map_or(leaves, |next| next.min(leaves))),
                None if !member.is_stored => due.here.push((*number, member.tracked.clone())),
                None => {}
            }
        }
        due
    }

    /// This was written.
    pub(crate) fn written(&self, due: &Due) {
        let mut state = lock(&self.state);
        for (number, _) in &due.gone {
            state.members.remove(number);
        }
        for (number, tracked) in &due.here {
            if let Some(member) = state.members.get_mut(number) {
                member.is_stored = member.tracked == *tracked;
            }
        }
    }

    /// Others have taken this process for dead: all is written again.
    pub(crate) fn forget_written(&self) {
        lock(&self.state).members.values_mut().for_each(|member| member.is_stored = false);
    }
}

/// Somebody who is present until this is dropped: of [`Presence::join`](crate::Presence::join).
#[must_use = "who is present has left once this is dropped"]
pub struct Present {
    members: Arc<Members>,
    number: i64,
}

impl std::fmt::Debug for Present {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Present").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Present {
    /// True if it is the same one at the same key, whose `who` is this one from now on.
    fn becomes(&self, now: &Tracked) -> bool {
        let mut state = lock(&self.members.state);
        let Some(member) = state.members.get_mut(&self.number).filter(|member| member.tracked.is_same(now)) else {
            return false;
        };
        if member.tracked == *now {
            return true;
        }
        (member.tracked.who, member.is_stored) = (now.who.clone(), false);
        drop(state);
        self.members.wake();
        true
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        let mut state = lock(&self.members.state);
        if let Some(member) = state.members.get_mut(&self.number) {
            member.leaves = Some(Instant::now() + LINGER);
        }
        drop(state);
        self.members.wake();
    }
}

/// Has these be present in place of those.
pub(crate) fn replace(present: &mut Vec<Present>, mut now: Vec<Tracked>, join: impl FnMut(Tracked) -> Option<Present>) {
    present.retain(|one| match now.iter().position(|tracked| one.becomes(tracked)) {
        Some(at) => {
            now.swap_remove(at);
            true
        }
        None => false,
    });
    present.extend(now.into_iter().filter_map(join));
}

#[cfg(test)]
#[path = "../tests/unit/members.rs"]
mod tests;
