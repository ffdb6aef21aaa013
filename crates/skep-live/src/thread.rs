//! A thread of this process that waits for what other processes commit: by a file that they write (SQLite), or by
//! `listen` (PostgreSQL).
//!
//! It is started by the first who needs it, after any fork, and ends with the application.

use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use skep::sql::{self, Database};
use skep::wakeup::{WakeupFile, Watch};
use skep::{Result, Site};
use skep_units::lock;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::changes::up_to;
use crate::topics::is_postgres;

/// How long nobody looks if nobody is woken: a safety net, for a process that dies between its commit and the wake-up.
const LOOK: Duration = Duration::from_mins(1);

/// When the database is looked at next though nobody may have been woken: processes look at different times.
pub(crate) struct NextPoll(Instant);

impl Default for NextPoll {
    fn default() -> Self {
        Self(Instant::now() + LOOK + up_to(LOOK / 6))
    }
}

/// The pause after an error of the database.
const PAUSE: Duration = Duration::from_secs(1);

/// The thread, and who may be woken beside it.
#[derive(Default)]
pub(crate) struct Worker {
    shared: Arc<Signals>,
    opened: OnceLock<Opened>,
    /// Since it was started: in this process, or in the one that forked it.
    running: Mutex<Option<(u32, JoinHandle<()>)>>,
    watch: Mutex<Option<Watch>>,
}

struct Opened {
    database: Database,
    /// None where the database notifies, and in tests.
    file: Option<Arc<WakeupFile>>,
}

/// What the thread shares with those who wake it.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    notify: Notify,
    has_ended: AtomicBool,
    /// A thread hears of the file.
    is_watching: AtomicBool,
}

impl Signals {
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Waits until it is woken, or until it is time to look: false. However often it is woken, it looks.
    pub(crate) async fn woken(&self, look: &mut NextPoll) -> bool {
        _ = timeout_at(look.0, self.notify.notified()).await;
        let is_time = Instant::now() >= look.0;
        if is_time {
            *look = NextPoll::default();
        }
        !is_time
    }

    /// Waits until it is woken, or until this moment.
    pub(crate) async fn woken_until(&self, moment: Option<std::time::Instant>) {
        match moment {
            Some(moment) => _ = timeout_at(moment.into(), self.notify.notified()).await,
            None => self.notify.notified().await,
        }
    }

    pub(crate) async fn pause(&self) {
        tokio::time::sleep(PAUSE).await;
    }

    pub(crate) fn wake(&self) {
        self.notify.notify_one();
    }
}

impl Worker {
    pub(crate) fn open(&self, site: &Site, name: &str) {
        let has_file = !site.setup().temporary_database && !is_postgres(site.db().dialect());
        let file = has_file.then(|| Arc::new(WakeupFile::new(site.data().join(format!("{name}.wake")))));
        _ = self.opened.set(Opened { database: site.db().clone(), file });
    }

    /// The same for a thread that no other process wakes.
    pub(crate) fn open_alone(&self, site: &Site) {
        _ = self.opened.set(Opened { database: site.db().clone(), file: None });
    }

    /// What wakes the thread.
    pub(crate) fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        let shared = Arc::clone(&self.shared);
        move || shared.wake()
    }

    pub(crate) fn is_on_postgres(&self) -> bool {
        self.opened.get().is_some_and(|opened| is_postgres(opened.database.dialect()))
    }

    /// Wakes the thread.
    pub(crate) fn wake(&self) {
        self.shared.wake();
    }

    /// Wakes other processes, to which it names slots. False if there is no file for that.
    pub(crate) fn wake_others(&self, slots: &[u64]) -> bool {
        let Some(file) = self.opened.get().and_then(|opened| opened.file.as_ref()) else { return false };
        let woken = slots.iter().try_for_each(|slot| file.wake(*slot));
        if let Err(error) = &woken {
            tracing::warn!(target: "skep::live", %error, "other processes cannot be woken; they look once a minute");
        }
        woken.is_ok()
    }

    /// True if this process is woken by what it writes into the file itself, too.
    pub(crate) fn is_watching(&self) -> bool {
        cfg!(target_os = "linux") && self.shared.is_watching.load(Ordering::Relaxed)
    }

    /// Starts the thread, unless it runs: it does `work` with the database, and `woken` is called with the slots that
    /// other processes name. True if it did not run.
    pub(crate) fn start<F>(
        &self,
        name: &'static str,
        woken: impl Fn(&[u64]) + Send + 'static,
        work: impl FnOnce(sql::Local, Arc<Signals>) -> F + Send + 'static,
    ) -> Result<bool>
    where
        F: Future<Output = ()>,
    {
        let (mut running, process) = (lock(&self.running), std::process::id());
        let runs = running.as_ref().is_some_and(|(of, _)| *of == process);
        let Some(opened) = self.opened.get().filter(|_| !runs) else { return Ok(false) };
        if let Some(file) = &opened.file
            && let Err(error) = self.watch(file, woken)
        {
            tracing::warn!(target: "skep::live", %error, "nobody wakes this process: what others write, {name} show within a minute");
        }
        let thread = spawn(name, opened.database.clone(), Arc::clone(&self.shared), work)?;
        *running = Some((process, thread));
        Ok(true)
    }

    /// Hears of the file on a thread of its own.
    fn watch(&self, file: &Arc<WakeupFile>, woken: impl Fn(&[u64]) + Send + 'static) -> io::Result<()> {
        let (shared, (watch, wakeups)) = (Arc::clone(&self.shared), file.watch()?);
        shared.is_watching.store(true, Ordering::Relaxed);
        let hear = move || {
            wakeups.for_each(|slots| {
                woken(&slots);
                shared.wake();
            });
            shared.is_watching.store(false, Ordering::Relaxed);
        };
        let started = thread::Builder::new().name("live wake".into()).spawn(hear);
        *lock(&self.watch) = Some(watch);
        started.map(drop).inspect_err(|_| self.shared.is_watching.store(false, Ordering::Relaxed))
    }
}

fn spawn<F: Future<Output = ()>>(
    name: &'static str,
    database: Database,
    shared: Arc<Signals>,
    work: impl FnOnce(sql::Local, Arc<Signals>) -> F + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let run = move || {
        let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
        let Ok(runtime) = runtime.inspect_err(|error| tracing::error!(target: "skep::live", %error, "{name}")) else {
            return;
        };
        runtime.block_on(async { work(database.local(), shared).await });
    };
    thread::Builder::new().name(name.to_owned()).spawn(run)
}

/// What the thread does last is done before the process ends.
impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::Relaxed);
        self.shared.wake();
        let running = lock(&self.running).take();
        if let Some((process, running)) = running
            && process == std::process::id()
            && running.thread().id() != thread::current().id()
        {
            // A panic was reported by the panic hook.
            let _ = running.join();
        }
    }
}

/// Hears of a channel of PostgreSQL for as long as the thread runs.
pub(crate) async fn listen(db: sql::Local, channel: &'static str, then: impl Fn(Option<&str>)) {
    while let Err(error) = db.relay(channel, &then).await {
        tracing::warn!(target: "skep::live", %error, "PostgreSQL cannot be listened to");
        tokio::time::sleep(PAUSE * 5).await;
        then(None);
    }
}
