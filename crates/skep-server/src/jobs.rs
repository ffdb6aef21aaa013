//! Periodic jobs and background work of the application.
//!
//! Each has a thread, started with the server, and never runs concurrently with itself. An application without any has
//! no such thread.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use skep::Site;
use skep::app::Background as AppBackground;
use tokio::runtime::Handle;

use crate::background::Background;

/// From the end of background work that returned while the application runs to its next run.
const AGAIN: Duration = Duration::from_secs(1);

/// The threads of all jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    site: Arc<Site>,
    background: Option<Background>,
    stop: Arc<Stop>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Jobs {
    /// Starts the jobs of the application. The first runs start at once. Background work learns what it has of `grace`.
    pub(crate) fn start(site: &Arc<Site>, background: Option<Background>, grace: Duration) -> io::Result<Self> {
        let stop = Arc::<Stop>::default();
        let mut threads = Vec::new();
        let periodic = site.jobs().len();
        for index in 0..periodic + site.background().len() {
            let (site, stop) = (Arc::clone(site), Arc::clone(&stop));
            let runtime = background.as_ref().map(Background::handle).cloned();
            threads.push(thread::Builder::new().name("job".into()).spawn(move || {
                let _entered = runtime.as_ref().map(Handle::enter);
                loop {
                    let pause = match site.jobs().get(index) {
                        Some(job) => {
                            job.run(&site);
                            job.period()
                        }
                        None => {
                            site.background()[index - periodic].run(&AppBackground { site: &site, grace });
                            if site.draining().has_begun() {
                                return;
                            }
                            AGAIN
                        }
                    };
                    if stop.wait(pause) {
                        return;
                    }
                }
            })?);
        }
        Ok(Self { site: Arc::clone(site), background, stop, threads })
    }

    /// Starts no further runs, and waits for those in progress, at most for `grace`. Then flushes what caches have
    /// buffered.
    pub(crate) fn finish(self, grace: Duration) {
        self.site.drain();
        *skep_units::lock(&self.stop.asked) = true;
        self.stop.changed.notify_all();
        let deadline = Instant::now() + grace;
        for thread in self.threads {
            while !thread.is_finished() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(5));
            }
        }
        let _entered = self.background.as_ref().map(|background| background.handle().enter());
        if let Err(error) = self.site.flush_caches() {
            tracing::warn!("cannot flush a cache: {error}");
        }
    }
}

impl Stop {
    /// True if the stop was requested before the time was over.
    fn wait(&self, period: Duration) -> bool {
        let asked = skep_units::lock(&self.asked);
        let (asked, _) =
            self.changed.wait_timeout_while(asked, period, |asked| !*asked).unwrap_or_else(PoisonError::into_inner);
        *asked
    }
}
