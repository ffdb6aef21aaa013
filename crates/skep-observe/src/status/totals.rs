//! Counters of processes that come and go, as counters that only grow.
//!
//! Each process reports what it has counted since it started. Summed up, the numbers would fall whenever one exits, and
//! a reader would take that for a restart of all. So what was added since the last report of the same process is added
//! to a total.

use std::collections::{BTreeMap, BTreeSet};

/// What a counter counts: the part of the status, and the key in it.
pub(crate) type Key = (String, String);

#[derive(Debug, Default)]
pub(crate) struct Totals {
    last: BTreeMap<(u32, Key), u64>,
    totals: BTreeMap<Key, u64>,
}

impl Totals {
    /// A process reports this number.
    pub(crate) fn report(&mut self, process: u32, key: Key, number: u64) {
        let last = self.last.insert((process, key.clone()), number).unwrap_or(0);
        // A smaller number: the count started again, such as in a process with the id of an earlier one.
        *self.totals.entry(key).or_default() += number.checked_sub(last).unwrap_or(number);
    }

    /// Forgets what processes have reported that are gone. The totals stay.
    pub(crate) fn retain(&mut self, processes: &BTreeSet<u32>) {
        self.last.retain(|(process, _), _| processes.contains(process));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.totals.iter().map(|((part, key), total)| (&**part, &**key, *total))
    }

    pub(crate) fn get(&self, part: &str, key: &str) -> u64 {
        self.totals.get(&(part.to_owned(), key.to_owned())).copied().unwrap_or(0)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/status/totals.rs"]
mod tests;
