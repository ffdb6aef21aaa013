//! Writes of other processes: what was made of them here is invalidated before viewers are woken, so that these do not
//! get it once more.
//!
//! Start reading at [`Elsewhere::hear`].

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use skep::cache::LocalCaches;
use skep_units::lock;

use crate::changes::{Changes, SLOTS};

/// How late a process learns from tiers that it shares with others that an entry is invalid.
const LAG: Duration = Duration::from_millis(1_100);

/// What was written elsewhere.
#[derive(Clone)]
pub(crate) enum Heard {
    /// Tables of these slots of the file.
    Slots(Vec<u64>),
    /// Tables by the ids of their tags.
    Tags(Vec<u64>),
    /// Perhaps some table.
    Anything,
}

impl Heard {
    fn is_written(&self, tag: u64) -> bool {
        match self {
            Self::Slots(slots) => slots.contains(&(tag % SLOTS)),
            Self::Tags(tags) => tags.contains(&tag),
            Self::Anything => true,
        }
    }
}

/// Whom this process tells of writes of others.
#[derive(Clone)]
pub(crate) struct Elsewhere {
    changes: Weak<Changes>,
    caches: LocalCaches,
    /// What viewers are notified of once more, when shared tiers know of it.
    again: Arc<Mutex<Vec<Heard>>>,
}

impl Elsewhere {
    pub(crate) fn new(changes: &Arc<Changes>, caches: LocalCaches) -> Self {
        Self { changes: Arc::downgrade(changes), caches, again: Arc::default() }
    }

    pub(crate) fn hear(&self, heard: Heard) {
        if let Err(error) = self.caches.invalidate(|tag| heard.is_written(tag)) {
            tracing::error!(target: "skep::live", %error, "what another process has written may be stale here until it expires");
        }
        self.tell(&heard);
        if self.caches.are_shared() {
            lock(&self.again).push(heard);
        }
    }

    /// Has viewers told once more of what was heard so far, on the thread that hears.
    pub(crate) fn repeat_later(&self) {
        let again = std::mem::take(&mut *lock(&self.again));
        if !again.is_empty() {
            let elsewhere = self.clone();
            tokio::task::spawn_local(async move {
                tokio::time::sleep(LAG).await;
                for heard in &again {
                    elsewhere.tell(heard);
                }
            });
        }
    }

    fn tell(&self, heard: &Heard) {
        let Some(changes) = self.changes.upgrade() else { return };
        match heard {
            Heard::Slots(slots) => changes.written_elsewhere(slots),
            Heard::Tags(tags) => changes.written(tags),
            Heard::Anything => changes.missed(),
        }
    }
}
