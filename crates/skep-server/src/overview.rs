//! What the supervisor says of itself and its workers, or a process without one of itself: `status`, as values.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use crate::sys::scoreboard::Slot;

/// The reply to `status json`. Times are in seconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Overview {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) previous: Option<String>,
    pub(crate) mpm: String,
    /// The supervisor's.
    pub(crate) process: u32,
    pub(crate) uptime: f64,
    pub(crate) memory: u64,
    pub(crate) crashes: u64,
    pub(crate) crash_loop: bool,
    pub(crate) swaps: u64,
    /// Workers that were replaced by others of the same version.
    pub(crate) replaced: u64,
    pub(crate) swap_succeeded: Option<bool>,
    pub(crate) swap: Option<String>,
    pub(crate) swap_age: Option<f64>,
    pub(crate) urls: Vec<String>,
    pub(crate) status_url: Option<String>,
    pub(crate) workers: Vec<WorkerOverview>,
    /// Users and addresses whose log level is raised: `user anna: DEBUG for 15m`.
    pub(crate) raised: Vec<String>,
    /// `None`: its worker did not report in time.
    pub(crate) application: Option<Vec<PartOverview>>,
}

/// A worker process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WorkerOverview {
    pub(crate) number: u32,
    pub(crate) process: u32,
    pub(crate) version: String,
    /// `starting`, `ready`, `retiring`.
    pub(crate) state: String,
    pub(crate) since: f64,
    pub(crate) requests: u64,
    pub(crate) memory: u64,
    /// Seconds of processor time that its processes have taken, those that are gone excepted.
    pub(crate) processor: f64,
    pub(crate) slots: Vec<SlotOverview>,
}

/// A thread, or with `prefork` a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SlotOverview {
    /// Process 2 of worker 3 is `3.2`.
    pub(crate) number: u32,
    pub(crate) process: u32,
    pub(crate) thread: u32,
    pub(crate) requests: u64,
    pub(crate) connections: u32,
    pub(crate) busy: bool,
    /// It accepts nothing more.
    pub(crate) retiring: bool,
    pub(crate) running: u32,
    /// Since the last heartbeat.
    pub(crate) silent: f64,
}

/// A part of the status of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartOverview {
    /// With `prefork`, the process that reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<u32>,
    /// `None`: the process did not report in time.
    pub(crate) name: Option<String>,
    #[serde(flatten)]
    pub(crate) values: BTreeMap<String, serde_json::Value>,
}

impl SlotOverview {
    /// Those that are in use.
    pub(crate) fn all(slots: &[Slot]) -> Vec<Self> {
        slots
            .iter()
            .zip(1..)
            .filter(|(slot, _)| slot.is_claimed())
            .map(|(slot, number)| Self::of(slot, number))
            .collect()
    }

    fn of(slot: &Slot, number: u32) -> Self {
        Self {
            number,
            process: slot.process.load(Ordering::Relaxed),
            thread: slot.thread.load(Ordering::Relaxed),
            requests: slot.requests.load(Ordering::Relaxed),
            connections: slot.connections.load(Ordering::Relaxed),
            busy: slot.busy.load(Ordering::Relaxed) != 0,
            retiring: slot.retiring.load(Ordering::Relaxed) != 0,
            running: slot.running.load(Ordering::Relaxed),
            silent: slot.silent().as_secs_f64(),
        }
    }
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

    pub(crate) fn connections(&self) -> u64 {
        self.slots().map(|slot| u64::from(slot.connections)).sum()
    }

    pub(crate) fn running(&self) -> u64 {
        self.slots().map(|slot| u64::from(slot.running)).sum()
    }
}
