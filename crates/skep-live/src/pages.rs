//! The live pages of an application: what this process hears of writes, and tells others of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use skep::{Result, Site};
use skep_units::lock;

use crate::changes::Changes;
use crate::members::Tracked;

#[cfg(not(target_family = "wasm"))]
use native::Others;

/// What all viewers of a process share.
#[derive(Default)]
pub(crate) struct LivePages {
    pub(crate) changes: Arc<Changes>,
    /// Whom pages track that are made for the first time of those who begin to follow them, by request.
    first: Mutex<HashMap<u64, Vec<Tracked>>>,
    #[cfg(not(target_family = "wasm"))]
    others: Arc<Others>,
}

skep_units::opaque_debug!(LivePages);

impl LivePages {
    pub(crate) fn open(&self, site: &Site) -> Result<()> {
        #[cfg(not(target_family = "wasm"))]
        self.others.open(site)?;
        _ = site;
        Ok(())
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

    /// Notes whom the page of this request tracks, as long as the returned value is there.
    pub(crate) fn begin(&self, id: u64) -> First<'_> {
        lock(&self.first).insert(id, Vec::new());
        First { pages: self, id }
    }

    pub(crate) fn note(&self, id: u64, tracked: Tracked) {
        if let Some(noted) = lock(&self.first).get_mut(&id) {
            noted.push(tracked);
        }
    }

    /// Has this process hear of writes of others.
    pub(crate) fn start(&self) -> Result<()> {
        #[cfg(not(target_family = "wasm"))]
        self.others.start(&self.changes)?;
        Ok(())
    }
}

/// The first making of a page that is followed.
pub(crate) struct First<'p> {
    pages: &'p LivePages,
    id: u64,
}

impl First<'_> {
    pub(crate) fn tracked(&self) -> Vec<Tracked> {
        lock(&self.pages.first).get_mut(&self.id).map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for First<'_> {
    fn drop(&mut self) {
        lock(&self.pages.first).remove(&self.id);
    }
}

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::fmt::Write;
    use std::sync::{Arc, Mutex, OnceLock};

    use skep::cache::LocalCaches;
    use skep::sql;
    use skep::{Result, Site};
    use skep_units::lock;

    use super::Changes;
    use crate::elsewhere::{Elsewhere, Heard};
    use crate::thread::{NextPoll, Signals, Worker, listen};
    use crate::topics::own;

    /// The channel of PostgreSQL.
    const CHANNEL: &str = "skep_write";

    /// Tables that one notification names; of more, it says that there were some.
    const MOST: usize = 300;

    /// Other processes.
    #[derive(Default)]
    pub(super) struct Others {
        worker: Worker,
        outgoing: Arc<Mutex<Vec<u64>>>,
        caches: OnceLock<LocalCaches>,
    }

    impl Others {
        pub(super) fn open(&self, site: &Site) -> Result<()> {
            _ = self.caches.set(site.local_caches()?);
            self.worker.open(site, "live");
            Ok(())
        }

        /// Tells others of a write. True if this process hears of it in the same way.
        pub(super) fn tell(&self, changes: &Arc<Changes>, tags: &[u64]) -> bool {
            if !self.worker.is_on_postgres() {
                return self.worker.wake_others(tags) && self.worker.is_watching();
            }
            lock(&self.outgoing).extend(tags);
            match self.start(changes) {
                Ok(()) => self.worker.wake(),
                Err(error) => tracing::warn!(target: "skep::live", "others do not hear of writes: {error}"),
            }
            false
        }

        pub(super) fn start(&self, changes: &Arc<Changes>) -> Result<()> {
            let Some(caches) = self.caches.get() else { return Ok(()) };
            let elsewhere = Elsewhere::new(changes, caches.clone());
            let (by_file, outgoing) = (elsewhere.clone(), Arc::clone(&self.outgoing));
            let by_thread = (elsewhere.clone(), self.worker.is_on_postgres());
            let woken = move |slots: &[u64]| by_file.hear(Heard::Slots(slots.to_vec()));
            if self.worker.start("live pages", woken, move |db, shared| run(db, shared, outgoing, by_thread))? {
                // What was written before this process began to hear.
                elsewhere.hear(Heard::Anything);
            }
            Ok(())
        }
    }

    /// Sends notifications, hears those of others, and once a minute takes it that something was missed.
    async fn run(
        db: sql::Local,
        shared: Arc<Signals>,
        outgoing: Arc<Mutex<Vec<u64>>>,
        (elsewhere, is_on_postgres): (Elsewhere, bool),
    ) {
        // By this, the process knows its own notifications. It is drawn here, after any fork.
        let own_id = getrandom::u64().unwrap_or_else(|_| std::process::id().into());
        let (heard, waker) = (elsewhere.clone(), Arc::clone(&shared));
        let hear = move |said: Option<&str>| {
            if let Some(said) = parse(own_id, said) {
                heard.hear(said);
                waker.wake();
            }
        };
        let listening = tokio::task::spawn_local(listen(db.clone(), CHANNEL, hear));
        let (mut look, mut last) = (NextPoll::default(), None);
        while !shared.has_ended() {
            elsewhere.repeat_later();
            let tags = std::mem::take(&mut *lock(&outgoing));
            if !tags.is_empty()
                && let Err(error) = notify(&db, own_id, &tags).await
            {
                tracing::warn!(target: "skep::live", "others do not hear of a write yet: {error}");
                lock(&outgoing).extend(tags);
                shared.pause().await;
            } else if !shared.woken(&mut look).await {
                let place = place(&db, is_on_postgres).await;
                if place.is_none() || place != last {
                    elsewhere.hear(Heard::Anything);
                }
                last = place;
            }
        }
        listening.abort();
    }

    /// How far PostgreSQL has written: if that is where it was, nothing was missed. Of SQLite it is not known.
    async fn place(db: &sql::Local, is_on_postgres: bool) -> Option<String> {
        if !is_on_postgres {
            return None;
        }
        db.one(own::<String>("select cast(pg_current_wal_lsn() as text)", ())).await.ok().flatten()
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

    /// What another process says; nothing, if it is this one.
    fn parse(id: u64, said: Option<&str>) -> Option<Heard> {
        let numbers = said.map(|said| said.split(' ').map(|word| u64::from_str_radix(word, 16)).collect());
        match numbers {
            Some(Ok::<Vec<u64>, _>(numbers)) if numbers.first() == Some(&id) => None,
            Some(Ok(numbers)) if numbers.len() > 1 => Some(Heard::Tags(numbers[1..].to_vec())),
            _ => Some(Heard::Anything),
        }
    }
}
