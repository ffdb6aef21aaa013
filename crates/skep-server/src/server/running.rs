//! A server that runs, and its end.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use skep::Site;
use tokio::sync::{mpsc, watch};

use super::{Ended, report, say};
use crate::jobs::Jobs;
use crate::listener::SocketFile;
use crate::log::Logs;
use crate::signals::{Outcome, Signals};
use crate::worker::Life;

/// Something in a worker thread went wrong that is our fault (`EX_SOFTWARE`).
const BROKEN: u8 = 70;

/// A server that runs in this process. [`stop`](Running::stop) ends it and waits for that; dropping it does not wait.
#[derive(Debug)]
pub struct Running {
    pub(super) name: String,
    pub(super) urls: Vec<String>,
    pub(super) life: watch::Sender<Life>,
    pub(super) workers: Vec<JoinHandle<()>>,
    pub(super) ended: mpsc::UnboundedReceiver<Ended>,
    /// Until its threads have ended.
    pub(super) site: Option<Arc<Site>>,
    pub(super) jobs: Option<Jobs>,
    pub(super) grace: Duration,
    /// Removed from disk with this.
    pub(super) _files: Vec<SocketFile>,
    pub(super) logs: Option<Logs>,
}

impl Running {
    /// Where the server can be reached, such as `http://127.0.0.1:8800`, in the order of the setting `listen`.
    #[must_use]
    pub fn urls(&self) -> &[String] {
        &self.urls
    }

    /// Accepts nothing more, lets requests finish for as long as `grace` says, and returns when all is done.
    pub fn stop(mut self) {
        self.drain();
        self.join();
    }

    fn drain(&self) {
        self.life.send_replace(Life::Drain);
    }

    fn join(&mut self) {
        self.site = None;
        for worker in self.workers.drain(..) {
            // How it ended has been told.
            let _ = worker.join();
        }
        if let Some(jobs) = self.jobs.take() {
            jobs.finish(self.grace);
        }
        if let Some(mut logs) = self.logs.take() {
            logs.finish();
        }
    }

    /// Says that it runs.
    pub(super) fn announce(&self) {
        let threads = match self.workers.len() {
            1 => "1 thread".to_owned(),
            count => format!("{count} threads"),
        };
        let line = format!("{} listens on {} ({threads})\n", self.name, self.urls.join(" and "));
        let _ = say(&line);
    }

    pub(super) fn until_told(mut self, signals: Signals) -> ExitCode {
        let (switch, workers) = (self.life.clone(), self.workers.len());
        let tell = |life| {
            switch.send_replace(life);
        };
        let site = self.site.clone();
        let report = |json| site.as_ref().map_or_else(String::new, |site| report::of(site, json));
        let outcome = signals.wait(&mut self.ended, workers, tell, report);
        drop(site);
        match outcome {
            Outcome::Done => {
                self.join();
                ExitCode::SUCCESS
            }
            Outcome::Broken => {
                tracing::error!("a worker thread ended by a fault of the server; giving up");
                self.at_once(BROKEN)
            }
            Outcome::AtOnce(signal) => self.at_once(128 + signal),
        }
    }

    /// Ends the process without waiting for requests, but not without what the log has.
    fn at_once(&mut self, code: u8) -> ExitCode {
        if let Some(mut logs) = self.logs.take() {
            logs.finish();
        }
        ExitCode::from(code)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.drain();
    }
}
