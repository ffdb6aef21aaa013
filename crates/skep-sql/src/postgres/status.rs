//! What the status says of connections: of all pools of the process together.

use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};

use skep_units::lock;

use super::PerProcess;
use crate::pool::Usage;
use crate::status::Part;

/// What has become of connections since the process started.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) opened: AtomicU64,
    /// Those that PostgreSQL or the network has ended.
    pub(super) lost: AtomicU64,
    /// Attempts to open one.
    pub(super) failed: AtomicU64,
}

impl Usage {
    /// Those of both.
    pub(super) fn plus(self, other: Self) -> Self {
        let Self { connections, busy, waiting } = other;
        Self { connections: self.connections + connections, busy: self.busy + busy, waiting: self.waiting + waiting }
    }
}

impl PerProcess {
    /// Its own, and that of its replica.
    pub(crate) fn status(&self) -> Vec<Part> {
        let mut parts = vec![self.part("pool postgres")];
        if let Some(replica) = &self.replica {
            let word = if replica.is_recent() { "it is asked" } else { "it is passed over" };
            parts.push(replica.shared.part("pool replica").line(word));
        }
        parts
    }

    fn part(&self, name: &str) -> Part {
        let pools = lock(&self.pools).clone();
        let all = pools.iter().filter_map(Weak::upgrade).map(|pool| pool.usage()).fold(Usage::default(), Usage::plus);
        let streams = self.streams.open();
        let Usage { connections, busy, waiting } = all;
        let (connections, busy) = (connections + streams, busy + streams);
        let [opened, lost, failed] =
            [&self.counts.opened, &self.counts.lost, &self.counts.failed].map(|count| count.load(Ordering::Relaxed));
        Part::new(name)
            .line(format!(
                "{connections} connections to {}, {busy} busy, {waiting} wait for one",
                self.shown_address.display()
            ))
            .line(format!("{opened} were opened, {lost} were lost, {failed} attempts to open one failed"))
            .value("connections", connections)
            .value("busy", busy)
            .value("waiting", waiting)
            .value("opened", opened)
            .value("lost", lost)
            .value("failed", failed)
    }
}
