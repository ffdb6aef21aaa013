//! Periodic jobs of the application.
//!
//! Each job has a thread, started with the server, and never runs concurrently with itself. An application without jobs has no such thread.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use skep::Site;
use tokio::runtime::Handle;

use crate::background::Background;

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
    /// Starts the jobs of the application. The first runs start at once.
    pub(crate) fn start(site: &Arc<Site>, background: Option<Background>) -> io::Result<Self> {
        let stop = Arc::<Stop>::default();
        let mut threads = Vec::new();
        for index in 0..site.jobs().len() {
            let (site, stop) = (Arc::clone(site), Arc::clone(&stop));
            let runtime = background.as_ref().map(Background::handle).cloned();
            threads.push(thread::Builder::new().name("job".into()).spawn(move || {
                let _entered = runtime.as_ref().map(Handle::enter);
                let job = &site.jobs()[index];
                loop {
                    job.run(&site);
                    if stop.wait(job.period()) {
                        return;
                    }
                }
            })?);
        }
        Ok(Self { site: Arc::clone(site), background, stop, threads })
    }

    /// Starts no further runs, and waits for those in progress, at most for `grace`. Then flushes what caches have buffered.
    pub(crate) fn finish(self, grace: Duration) {
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
