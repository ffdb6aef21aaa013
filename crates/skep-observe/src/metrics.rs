//! What requests cost, counted by the threads that serve them and read by everyone who watches the server.
//!
//! The numbers are in memory that outlives workers: the supervisor makes it once, each worker inherits it. Requests of
//! different threads count in different blocks, so no two cores write to one cache line; every addition is atomic, so
//! two workers that share a block during a swap lose nothing. There is no lock, and a process that is killed leaves
//! nothing half-done that others wait for.
//!
//! | module | what it does |
//! |---|---|
//! | `layout` | where which number is |
//! | `histogram` | buckets of latencies, quantiles |
//! | `recorder` | one thread's view: it counts |
//! | `figures` | what a reader sees: sums over all threads |
//! | `records` | the last errors and slow requests |
//! | `queue` | queues to the process that exports |
//! | `spans` | the spans of traced requests |

pub(crate) mod figures;
mod histogram;
mod layout;
pub(crate) mod queue;
mod recorder;
pub(crate) mod records;
pub(crate) mod spans;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clock::unix_millis;
use crate::sys::shared_words::SharedWords;
pub use layout::Counter;
use layout::{CREATED, MAGIC, Texts, VERSION};
pub use recorder::{Finished, Recorder, Traced, Tracing};

/// The lengths of the queues to the process that exports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queues {
    /// Spans that wait.
    pub spans: usize,
    /// Log lines that wait.
    pub log_records: usize,
}

/// The numbers of all workers of a server, since it started.
#[derive(Debug)]
pub struct Metrics {
    memory: SharedWords,
}

impl Metrics {
    /// Numbers that are 0.
    ///
    /// # Errors
    /// The system does not give as much memory.
    pub fn new(queues: &Queues) -> io::Result<Self> {
        let memory = SharedWords::new(c"skep-metrics", layout::words(queues.spans, queues.log_records))?;
        memory.words()[MAGIC].store(VERSION, Ordering::Relaxed);
        memory.words()[CREATED].store(unix_millis(), Ordering::Relaxed);
        let metrics = Self { memory };
        metrics.set_queues(queues);
        Ok(metrics)
    }

    /// Those that another process has made. `None` if its version had another layout: this one would count in the wrong
    /// places.
    pub fn open(file: OwnedFd) -> io::Result<Option<Self>> {
        let memory = SharedWords::open(file, 1)?;
        let is_same = memory.words()[MAGIC].load(Ordering::Relaxed) == VERSION && memory.words().len() >= layout::WORDS;
        Ok(is_same.then_some(Self { memory }))
    }

    /// The log of this process has its records for the receiver put into the queue from now on.
    pub fn take_log_records(self: &Arc<Self>) {
        let metrics = Arc::clone(self);
        crate::log::install_queue(move |record| metrics.log_records().push(record));
    }

    /// The memory, for processes that inherit it.
    pub fn file(&self) -> &OwnedFd {
        self.memory.file()
    }

    /// Makes services known by name and route, and returns where each is counted. Those for which there is no room
    /// count as the first one.
    pub fn register(&self, names: &[String], routes: &[String]) -> Arc<[u16]> {
        let add = |(name, route): (&String, &String)| {
            let position = self.texts(Texts::SERVICES).find_or_add(name)?;
            self.texts(Texts::ROUTES).set(position, route);
            Some(position)
        };
        names.iter().zip(routes).map(|service| add(service).unwrap_or(0)).collect()
    }

    /// The view of a thread. Threads with the same number share a block.
    pub fn recorder(
        self: &Arc<Self>,
        thread: usize,
        services: Arc<[u16]>,
        slow: Duration,
        tracing: Option<Tracing>,
    ) -> Recorder {
        Recorder::new(Arc::clone(self), thread, services, slow, tracing)
    }
}

#[cfg(test)]
#[path = "../tests/unit/metrics.rs"]
mod tests;
