//! Who is present by a connection of this process, and what of that the database does not have yet.
//!
//! Start reading at [`Members::due`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use skep_units::lock;

/// Who comes back within this time has not left: a page that is loaded again, or a browser that connects to the next
/// version of the application, for which it waits up to 3 s ([`pause`](crate::send::pause)).
pub(crate) const LINGER: Duration = Duration::from_secs(5);

/// Somebody at a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Of its row.
    number: i64,
    connections: usize,
    /// The database may have it, in this way or another.
    has_row: bool,
    /// The database has it as it is here.
    is_current: bool,
    /// When it is removed: it has no connection.
    leaves: Option<Instant>,
}

impl Member {
    fn new(number: i64) -> Self {
        Self { number, connections: 1, has_row: false, is_current: false, leaves: None }
    }
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
    members: BTreeMap<Arc<Tracked>, Member>,
}

impl Connections {
    /// Who has another connection, or has just lost the last one, is not written again.
    fn join(&mut self, tracked: &Arc<Tracked>) {
        if let Some(member) = self.members.get_mut(tracked) {
            (member.connections, member.leaves) = (member.connections + 1, None);
        } else {
            self.last += 1;
            self.members.insert(Arc::clone(tracked), Member::new(self.last));
        }
    }

    fn leave(&mut self, tracked: &Tracked) {
        let Some(member) = self.members.get_mut(tracked) else { return };
        member.connections -= 1;
        if member.connections == 0 {
            member.leaves = Some(Instant::now() + LINGER);
        }
    }

    /// Gives who has one connection, and is to be known otherwise, the same row.
    fn change(&mut self, from: &Tracked, to: &Arc<Tracked>) {
        let is_alone = self.members.get(from).is_some_and(|member| member.connections == 1);
        if is_alone
            && !self.members.contains_key(to)
            && let Some(member) = self.members.remove(from)
        {
            self.members.insert(Arc::clone(to), Member { is_current: false, ..member });
        } else {
            self.leave(from);
            self.join(to);
        }
    }
}

/// What is to be written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    /// By their numbers.
    pub(crate) here: Vec<(i64, Arc<Tracked>)>,
    pub(crate) gone: Vec<(i64, Arc<Tracked>)>,
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
        let tracked = Arc::new(tracked);
        // A component has nobody who would write and remove it.
        if !cfg!(target_family = "wasm") {
            lock(&self.state).join(&tracked);
        }
        self.wake();
        Present { members: Arc::clone(self), tracked }
    }

    /// What the database does not have yet.
    pub(crate) fn due(&self, now: Instant) -> Due {
        let mut state = lock(&self.state);
        // Who has left before anybody heard of it was never there.
        state.members.retain(|_, member| member.has_row || member.leaves.is_none());
        let mut due = Due { is_anybody: !state.members.is_empty(), ..Due::default() };
        for (tracked, member) in &mut state.members {
            match member.leaves {
                Some(leaves) if leaves <= now => due.gone.push((member.number, Arc::clone(tracked))),
                Some(leaves) => due.next = Some(due.next.map_or(leaves, |next| next.min(leaves))),
                None if !member.is_current => {
                    member.has_row = true;
                    due.here.push((member.number, Arc::clone(tracked)));
                }
                None => {}
            }
        }
        due.here.sort_unstable_by_key(|(number, _)| *number);
        due
    }

    /// This was written.
    pub(crate) fn written(&self, due: &Due) {
        let mut state = lock(&self.state);
        for (_, tracked) in &due.gone {
            match state.members.get_mut(tracked) {
                // Who came back meanwhile is written again.
                Some(member) if member.leaves.is_none() => (member.has_row, member.is_current) = (false, false),
                _ => drop(state.members.remove(tracked)),
            }
        }
        for (number, tracked) in &due.here {
            if let Some(member) = state.members.get_mut(tracked).filter(|member| member.number == *number) {
                member.is_current = true;
            }
        }
    }

    /// Others have taken this process for dead: all is written again.
    pub(crate) fn forget_written(&self) {
        lock(&self.state).members.values_mut().for_each(|member| member.is_current = false);
    }
}

/// Somebody who is present until this is dropped: of [`Presence::join`](crate::Presence::join).
#[must_use = "who is present has left once this is dropped"]
pub struct Present {
    members: Arc<Members>,
    tracked: Arc<Tracked>,
}

impl std::fmt::Debug for Present {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Present").field("tracked", &self.tracked).finish_non_exhaustive()
    }
}

impl Present {
    /// True if it is the same one at the same key, whose `who` is this one from now on.
    fn becomes(&mut self, now: &Tracked) -> bool {
        if *self.tracked != *now && self.tracked.is_same(now) {
            let now = Arc::new(now.clone());
            if !cfg!(target_family = "wasm") {
                lock(&self.members.state).change(&self.tracked, &now);
            }
            self.tracked = now;
            self.members.wake();
        }
        *self.tracked == *now
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        lock(&self.members.state).leave(&self.tracked);
        self.members.wake();
    }
}

/// Has these be present in place of those.
pub(crate) fn replace(present: &mut Vec<Present>, mut now: Vec<Tracked>, join: impl FnMut(Tracked) -> Option<Present>) {
    present.retain_mut(|one| match now.iter().position(|tracked| one.becomes(tracked)) {
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
