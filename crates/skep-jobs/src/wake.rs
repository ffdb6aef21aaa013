//! Wakes who waits for jobs: at once in the same process, and in others that have the same SQLite file by a write to a file that they watch
//! (inotify). PostgreSQL notifies by itself.
//!
//! Nothing polls but a look once a minute, for what nobody was woken for: `runner.rs`.

#[cfg(not(target_family = "wasm"))]
pub(crate) use native::Wake;

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, OnceLock};
    use std::thread;

    use tokio::sync::Notify;

    #[derive(Debug, Default)]
    pub(crate) struct Wake {
        notify: Notify,
        /// Jobs are run in this process, so nobody else needs to be woken.
        is_heard: AtomicBool,
        /// None without a file that processes share.
        path: OnceLock<PathBuf>,
        file: OnceLock<File>,
    }

    impl Wake {
        pub(crate) fn set_path(&self, path: PathBuf) {
            _ = self.path.set(path);
        }

        /// There may be a job that is due, or a timer to be set again.
        pub(crate) fn wake(&self) {
            self.notify.notify_one();
            if !self.is_heard.load(Ordering::Relaxed)
                && let Some(Err(error)) = self.path.get().map(|_| self.write())
            {
                tracing::warn!(target: "skep::job", %error, "cannot wake the process that runs jobs; it looks once a minute");
            }
        }

        pub(crate) async fn woken(&self) {
            self.notify.notified().await;
        }

        fn file(&self) -> io::Result<&File> {
            if let Some(file) = self.file.get() {
                return Ok(file);
            }
            let path = self.path.get().ok_or(io::ErrorKind::NotFound)?;
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            Ok(self.file.get_or_init(|| file))
        }

        #[cfg(unix)]
        fn write(&self) -> io::Result<()> {
            // Always the same byte, so it stays one.
            std::os::unix::fs::FileExt::write_all_at(self.file()?, &[0], 0)
        }

        #[cfg(not(unix))]
        fn write(&self) -> io::Result<()> {
            self.file().map(drop)
        }

        /// Wakes who waits in this process when another one has written, on a thread that ends after [`mute`](Self::mute).
        #[cfg(target_os = "linux")]
        pub(crate) fn hear(self: &Arc<Self>) -> io::Result<()> {
            use rustix::fs::inotify;

            self.is_heard.store(true, Ordering::Relaxed);
            let Some(path) = self.path.get() else { return Ok(()) };
            self.file()?;
            let changes = inotify::init(inotify::CreateFlags::CLOEXEC)?;
            inotify::add_watch(&changes, path, inotify::WatchFlags::MODIFY)?;
            let wake = Arc::clone(self);
            let hear = move || {
                loop {
                    match rustix::io::retry_on_intr(|| rustix::io::read(&changes, &mut [0; 1024])) {
                        Ok(_) if wake.is_heard.load(Ordering::Relaxed) => wake.notify.notify_one(),
                        Ok(_) => return,
                        Err(error) => {
                            tracing::warn!(target: "skep::job", %error, "jobs of other processes are looked for once a minute only");
                            return;
                        }
                    }
                }
            };
            thread::Builder::new().name("jobs wake".into()).spawn(hear).map(drop)
        }

        #[cfg(not(target_os = "linux"))]
        pub(crate) fn hear(self: &Arc<Self>) -> io::Result<()> {
            self.is_heard.store(true, Ordering::Relaxed);
            Ok(())
        }

        /// No jobs are run in this process any more.
        pub(crate) fn mute(&self) {
            self.is_heard.store(false, Ordering::Relaxed);
            // For the thread to see it, and for another process to take over.
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
