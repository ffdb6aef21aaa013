//! Wakes who waits for jobs: at once in the same process, and in others that have the same SQLite file by a file that
//! they watch ([`WakeupFile`](skep::wakeup::WakeupFile)). PostgreSQL notifies by itself.
//!
//! Nothing polls but a look once a minute, for what nobody was woken for: `runner.rs`.

#[cfg(not(target_family = "wasm"))]
pub(crate) use native::Wake;

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::io;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex, OnceLock};
    use std::thread;

    use skep::wakeup::{WakeupFile, Watch};
    use skep_units::lock;
    use tokio::sync::Notify;

    #[derive(Debug, Default)]
    pub(crate) struct Wake {
        notify: Notify,
        /// Jobs are run in this process, so nobody else needs to be woken.
        is_heard: AtomicBool,
        /// None without a file that processes share.
        file: OnceLock<Arc<WakeupFile>>,
        watch: Mutex<Option<Watch>>,
    }

    impl Wake {
        pub(crate) fn set_path(&self, path: PathBuf) {
            _ = self.file.set(Arc::new(WakeupFile::new(path)));
        }

        /// There may be a job that is due, or a timer to be set again.
        pub(crate) fn wake(&self) {
            self.notify.notify_one();
            if !self.is_heard.load(Ordering::Relaxed)
                && let Some(Err(error)) = self.file.get().map(|file| file.wake(0))
            {
                tracing::warn!(target: "skep::job", %error, "cannot wake the process that runs jobs; it looks once a minute");
            }
        }

        pub(crate) async fn woken(&self) {
            self.notify.notified().await;
        }

        /// Wakes who waits in this process when another one has written, until [`mute`](Self::mute).
        pub(crate) fn hear(self: &Arc<Self>) -> io::Result<()> {
            self.is_heard.store(true, Ordering::Relaxed);
            let Some(file) = self.file.get() else { return Ok(()) };
            let wake = Arc::clone(self);
            let (watch, wakeups) = file.watch()?;
            let hear = move || wakeups.for_each(|_| wake.notify.notify_one());
            thread::Builder::new().name("jobs wake".into()).spawn(hear)?;
            *lock(&self.watch) = Some(watch);
            Ok(())
        }

        /// No jobs are run in this process any more.
        pub(crate) fn mute(&self) {
            self.is_heard.store(false, Ordering::Relaxed);
            drop(lock(&self.watch).take());
            // For another process to take over.
            self.wake();
        }
    }
}

/// In a component, jobs are looked for each second.
#[cfg(target_family = "wasm")]
#[derive(Debug, Default)]
pub(crate) struct Wake;

#[cfg(target_family = "wasm")]
impl Wake {
    #[expect(clippy::unused_self, reason = "as elsewhere")]
    pub(crate) fn wake(&self) {}
}
