//! What the supervisor says of itself and its workers, or a process without one of itself: `status`, as values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The reply to `status json`. Times are in seconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overview {
    /// The application and its version.
    pub name: String,
    /// Of the executable: the beginning of its hash.
    pub version: String,
    /// The version before the last swap.
    pub previous: Option<String>,
    /// `thread` or `prefork`.
    pub mpm: String,
    /// The supervisor's.
    pub process: u32,
    /// The supervisor's, too, as is the memory.
    pub uptime: f64,
    /// Proportional set size.
    pub memory: u64,
    /// Workers that exited although nothing asked them to.
    pub crashes: u64,
    /// Workers exit early again and again.
    pub crash_loop: bool,
    /// Swaps that succeeded.
    pub swaps: u64,
    /// Workers that were replaced by others of the same version.
    pub replaced: u64,
    /// Whether the last swap did.
    pub swap_succeeded: Option<bool>,
    /// What it did, or why it failed.
    pub swap: Option<String>,
    /// How long ago it was.
    pub swap_age: Option<f64>,
    /// Where the server listens.
    pub urls: Vec<String>,
    /// Where the status page is.
    pub status_url: Option<String>,
    /// The one that serves is the first.
    pub workers: Vec<WorkerOverview>,
    /// Users and addresses whose log level is raised: `user anna: DEBUG for 15m`.
    pub raised: Vec<String>,
    /// `None`: its worker did not report in time.
    pub application: Option<Vec<PartOverview>>,
}

/// A worker process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerOverview {
    /// Its name: that of its first process is `NUMBER.1`.
    pub number: u32,
    /// The process id.
    pub process: u32,
    /// The version that it runs.
    pub version: String,
    /// `starting`, `ready`, `retiring`.
    pub state: String,
    /// For how long it has been ready, or has been starting.
    pub since: f64,
    /// Since its start, those of processes that are gone included.
    pub requests: u64,
    /// Proportional set size of its first process.
    pub memory: u64,
    /// Seconds of processor time that its processes have taken, those that are gone excepted.
    pub processor: f64,
    /// Its threads, or with `prefork` its processes.
    pub slots: Vec<SlotOverview>,
}

/// A thread, or with `prefork` a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlotOverview {
    /// Process 2 of worker 3 is `3.2`.
    pub number: u32,
    /// The process id.
    pub process: u32,
    /// The thread id.
    pub thread: u32,
    /// Since it started.
    pub requests: u64,
    /// Open ones.
    pub connections: u32,
    /// It has as many requests or connections as it takes.
    pub busy: bool,
    /// It accepts nothing more.
    pub retiring: bool,
    /// Requests in flight.
    pub running: u32,
    /// Since the last heartbeat.
    pub silent: f64,
}

/// A part of the status of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartOverview {
    /// With `prefork`, the process that reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// `None`: the process did not report in time.
    pub name: Option<String>,
    /// What it says.
    #[serde(flatten)]
    pub values: BTreeMap<String, serde_json::Value>,
}

impl Overview {
    /// All processes of the server: their roles and ids.
    pub(crate) fn processes(&self) -> Vec<(&'static str, u32)> {
        let mut all = vec![("supervisor", self.process)];
        for worker in &self.workers {
            all.push(("worker", worker.process));
            all.extend(worker.slots.iter().map(|slot| ("worker", slot.process)));
        }
        let mut seen = std::collections::BTreeSet::new();
        // Without a supervisor, the one process is a worker.
        all.reverse();
        all.retain(|(_, process)| *process != 0 && seen.insert(*process));
        all
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = &SlotOverview> {
        self.workers.iter().flat_map(|worker| &worker.slots)
    }

    /// True if this process is there and has a request in flight.
    pub(crate) fn is_busy(&self, process: u32) -> bool {
        self.slots().any(|slot| slot.process == process && slot.running > 0)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.slots().map(|slot| u64::from(slot.connections)).sum()
    }

    pub(crate) fn running(&self) -> u64 {
        self.slots().map(|slot| u64::from(slot.running)).sum()
    }
}
