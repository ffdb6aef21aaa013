//! Buffered writes (write-back).

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use skep_units::lock;

use crate::clock::Time;
use crate::driver::Record;

/// Buffered entries by key; a flush is due at [`MAX_ENTRIES`] or after [`MAX_AGE`].
#[derive(Debug, Default)]
pub(super) struct WriteBuffer(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    records: HashMap<Box<[u8]>, Record>,
    since: Option<Time>,
}

const MAX_ENTRIES: usize = 1_024;
const MAX_AGE: Duration = Duration::from_secs(1);

impl WriteBuffer {
    /// Buffers an entry. Whether a flush is due.
    pub(super) fn put(&self, key: &[u8], record: Record, now: Time) -> bool {
        let mut state = lock(&self.0);
        state.records.insert(key.into(), record);
        let since = *state.since.get_or_insert(now);
        state.records.len() >= MAX_ENTRIES || now.since(since) >= MAX_AGE
    }

    pub(super) fn get(&self, key: &[u8], now: Time) -> Option<Record> {
        let state = lock(&self.0);
        if state.records.is_empty() {
            return None;
        }
        state.records.get(key).filter(|record| record.entry().is_live(now)).cloned()
    }

    pub(super) fn forget(&self, key: &[u8]) {
        lock(&self.0).records.remove(key);
    }

    pub(super) fn clear(&self, prefix: &[u8]) {
        lock(&self.0).records.retain(|key, _| !key.starts_with(prefix));
    }

    /// Takes all entries, to be stored by the caller.
    pub(super) fn take(&self) -> Vec<(Box<[u8]>, Record)> {
        let mut state = lock(&self.0);
        state.since = None;
        state.records.drain().collect()
    }

    /// Buffers entries again that could not be stored, unless there are newer ones. Beyond the limit they are lost.
    pub(super) fn restore(&self, entries: Vec<(Box<[u8]>, Record)>) {
        let mut state = lock(&self.0);
        for (key, record) in entries {
            if state.records.len() < 2 * MAX_ENTRIES {
                state.records.entry(key).or_insert(record);
            }
        }
    }
}
