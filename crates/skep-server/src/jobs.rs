//! What an application does again and again beside its requests.
//!
//! One thread for each job, started with the server; a job never runs twice at a time. An application without jobs has
//! no such thread.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use skep::Site;
use tokio::runtime::Handle;

/// The threads of all jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    stop: Arc<Stop>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Jobs {
    /// Starts what the application asked for. The first runs come at once.
    pub(crate) fn start(site: &Arc<Site>, runtime: Option<&Handle>) -> io::Result<Self> {
        let stop = Arc::<Stop>::default();
        let mut threads = Vec::new();
        for index in 0..site.jobs().len() {
            let (site, stop, runtime) = (Arc::clone(site), Arc::clone(&stop), runtime.cloned());
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
        Ok(Self { stop, threads })
    }

    /// Lets no job begin again, and waits for those that run, but not longer than `grace`.
    pub(crate) fn finish(self, grace: Duration) {
        *self.stop.asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.changed.notify_all();
        let deadline = Instant::now() + grace;
        for thread in self.threads {
            while !thread.is_finished() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

impl Stop {
    /// True if the end was asked for before the time was over.
    fn wait(&self, period: Duration) -> bool {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let (asked, _) =
            self.changed.wait_timeout_while(asked, period, |asked| !*asked).unwrap_or_else(PoisonError::into_inner);
        *asked
    }
}
