//! The live pages of an application: what this process hears of writes, and tells others of its own.

use std::sync::Arc;

use skep::{Result, Site};

use crate::changes::Changes;

#[cfg(not(target_family = "wasm"))]
use native::Others;

/// What all viewers of a process share.
#[derive(Default)]
pub(crate) struct LivePages {
    pub(crate) changes: Arc<Changes>,
    #[cfg(not(target_family = "wasm"))]
    others: Arc<Others>,
}

skep_units::opaque_debug!(LivePages);

impl LivePages {
    pub(crate) fn open(&self, site: &Site) {
        #[cfg(not(target_family = "wasm"))]
        self.others.open(site);
        _ = site;
    }

    /// What hears of writes of this process. It ends with the application, which has the database that has it.
    pub(crate) fn observer(&self) -> impl Fn(&[u64]) + Send + Sync + 'static {
        let changes = Arc::downgrade(&self.changes);
        #[cfg(not(target_family = "wasm"))]
        let others = Arc::downgrade(&self.others);
        move |tags| {
            let Some(changes) = changes.upgrade() else { return };
            #[cfg(not(target_family = "wasm"))]
            if others.upgrade().is_some_and(|others| others.tell(&changes, tags)) {
                return;
            }
            changes.written(tags);
        }
    }

    /// Has this process hear of writes of others.
    pub(crate) fn start(&self) -> Result<()> {
        #[cfg(not(target_family = "wasm"))]
        self.others.start(&self.changes)?;
        Ok(())
    }
}

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::fmt::Write;
    use std::sync::atomic::{AtomicBool, Ordering};

    use std::sync::{Arc, Mutex, Weak};

    use skep::sql;
    use skep::{Result, Site};
    use skep_units::lock;

    use super::Changes;
    use crate::thread::{Shared, Worker, listen};
    use crate::topics::own;

    /// The channel of PostgreSQL.
    const CHANNEL: &str = "skep_write";

    /// Tables that one notification names; of more, it says that there were some.
    const MOST: usize = 300;

    /// Other processes.
    pub(super) struct Others {
        worker: Worker,
        /// What this process hears of its own writes comes by the file, too.
        is_watching: AtomicBool,
        outgoing: Arc<Mutex<Vec<u64>>>,
        /// By which this process knows its own notifications.
        own: u64,
    }

    impl Default for Others {
        fn default() -> Self {
            let own = getrandom::u64().unwrap_or_default();
            Self { worker: Worker::default(), is_watching: AtomicBool::new(false), outgoing: Arc::default(), own }
        }
    }

    impl Others {
        pub(super) fn open(&self, site: &Site) {
            self.worker.open(site, "live");
        }

        /// Tells others of a write. True if this process hears of it in the same way.
        pub(super) fn tell(&self, changes: &Arc<Changes>, tags: &[u64]) -> bool {
            if !self.worker.is_on_postgres() {
                return self.worker.wake_others(tags) && self.is_watching.load(Ordering::Relaxed);
            }
            lock(&self.outgoing).extend(tags);
            match self.start(changes) {
                Ok(()) => self.worker.wake(),
                Err(error) => tracing::warn!(target: "skep::live", "others do not hear of writes: {error}"),
            }
            false
        }

        pub(super) fn start(&self, changes: &Arc<Changes>) -> Result<()> {
            let (elsewhere, changes, own) = (Arc::downgrade(changes), Arc::downgrade(changes), self.own);
            let woken = move |slots: &[u64]| {
                if let Some(changes) = elsewhere.upgrade() {
                    changes.written_elsewhere(slots);
                }
            };
            let outgoing = Arc::clone(&self.outgoing);
            self.worker.start("live pages", woken, move |db, shared| run(db, shared, outgoing, (changes, own)))?;
            self.is_watching.store(self.worker.is_watching(), Ordering::Relaxed);
            Ok(())
        }
    }

    /// Sends notifications, hears those of others, and once a minute takes it that something was missed.
    async fn run(
        db: sql::Local,
        shared: Arc<Shared>,
        outgoing: Arc<Mutex<Vec<u64>>>,
        (changes, own_id): (Weak<Changes>, u64),
    ) {
        let heard = changes.clone();
        let hear = move |said: Option<&str>| {
            if let Some(changes) = heard.upgrade() {
                receive(&changes, own_id, said);
            }
        };
        let listening = tokio::task::spawn_local(listen(db.clone(), CHANNEL, hear));
        while !shared.has_ended() {
            let tags = std::mem::take(&mut *lock(&outgoing));
            if !tags.is_empty()
                && let Err(error) = notify(&db, own_id, &tags).await
            {
                tracing::warn!(target: "skep::live", "others do not hear of a write yet: {error}");
                lock(&outgoing).extend(tags);
                shared.pause().await;
            } else if !shared.woken().await
                && let Some(changes) = changes.upgrade()
            {
                changes.missed();
            }
        }
        listening.abort();
    }

    async fn notify(db: &sql::Local, id: u64, tags: &[u64]) -> sql::Result<()> {
        let mut text = format!("{id:x}");
        for tag in tags.iter().filter(|_| tags.len() <= MOST) {
            // Writing into memory does not fail.
            _ = write!(text, " {tag:x}");
        }
        let notify = own::<String>("select cast(pg_notify('skep_write', ?) as text)", &text);
        db.one(notify).await.map(drop)
    }

    /// Notes what another process says.
    fn receive(changes: &Changes, id: u64, said: Option<&str>) {
        let numbers = said.map(|said| said.split(' ').map(|word| u64::from_str_radix(word, 16)).collect());
        match numbers {
            Some(Ok::<Vec<u64>, _>(numbers)) if numbers.first() == Some(&id) => {}
            Some(Ok(numbers)) if numbers.len() > 1 => changes.written(&numbers[1..]),
            _ => changes.missed(),
        }
    }
}
