//! A running server, and its shutdown.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use skep::Site;
use skep_observe::app_status;
use skep_observe::log::Logs;
use tokio::sync::{mpsc, watch};

use crate::jobs::Jobs;
use crate::listener::SocketFile;
use crate::resources::announce;
use crate::signals::{Outcome, Signals};
use crate::status_server::StatusServer;
use crate::worker_state::{WorkerExit, WorkerState};

/// The exit code after an internal error (`EX_SOFTWARE`).
const INTERNAL_ERROR: u8 = 70;

/// A server that runs in this process. [`stop`](Running::stop) shuts it down and waits; dropping it does not wait.
///
/// [`Server::start`](crate::Server::start) has an example.
#[derive(Debug)]
pub struct Running {
    pub(super) name: String,
    pub(super) urls: Vec<String>,
    pub(super) state: watch::Sender<WorkerState>,
    pub(super) workers: Vec<JoinHandle<()>>,
    pub(super) exits: mpsc::UnboundedReceiver<WorkerExit>,
    /// Dropped before the workers are joined.
    pub(super) site: Option<Arc<Site>>,
    pub(super) jobs: Option<Jobs>,
    /// The status page, if this process serves it.
    pub(super) status: Option<StatusServer>,
    pub(super) grace: Duration,
    /// Socket files, removed when this is dropped.
    pub(super) _files: Vec<SocketFile>,
    pub(super) logs: Option<Logs>,
}

impl Running {
    /// The addresses of the server, such as `http://127.0.0.1:8800`, in the order of the setting `listen`.
    #[must_use]
    pub fn urls(&self) -> &[String] {
        &self.urls
    }

    /// The first of them.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.urls[0]
    }

    /// The application, for what a test does beside requests: `skep::test::Client::of_site(server.site()).mails()` has
    /// the mails of this server.
    ///
    /// # Panics
    /// Never before [`stop`](Self::stop).
    #[must_use]
    pub fn site(&self) -> &Arc<Site> {
        self.site.as_ref().expect("it is there until the server stops")
    }

    /// Stops accepting, finishes requests in progress within the setting `grace`, and returns when everything has
    /// ended.
    pub fn stop(mut self) {
        self.drain();
        self.join();
    }

    fn drain(&self) {
        self.state.send_replace(WorkerState::Draining);
    }

    fn join(&mut self) {
        self.site = None;
        for worker in self.workers.drain(..) {
            // A panic was reported by the panic hook.
            let _ = worker.join();
        }
        if let Some(status) = self.status.take() {
            status.stop();
        }
        if let Some(jobs) = self.jobs.take() {
            jobs.finish(self.grace);
        }
        if let Some(logs) = self.logs.take() {
            logs.finish();
        }
    }

    pub(super) fn announce(&self) {
        announce(&self.name, &self.urls, self.workers.len(), ["thread", "threads"]);
    }

    pub(super) fn run_until_stopped(mut self, signals: Signals) -> ExitCode {
        let (sender, workers) = (self.state.clone(), self.workers.len());
        let set_state = |state| {
            sender.send_replace(state);
        };
        let site = self.site.clone();
        let report = |json| site.as_ref().map_or_else(String::new, |site| app_status::of(site, json));
        let outcome = signals.wait(&mut self.exits, workers, set_state, report);
        drop(site);
        match outcome {
            Outcome::Done => {
                self.join();
                ExitCode::SUCCESS
            }
            Outcome::WorkerFailed => {
                tracing::error!("a worker thread failed: internal error; exiting");
                self.quit(INTERNAL_ERROR)
            }
            Outcome::Quit(signal) => self.quit(128 + signal),
        }
    }

    /// Exits without waiting for requests, but flushes the log.
    fn quit(&mut self, code: u8) -> ExitCode {
        if let Some(logs) = self.logs.take() {
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
