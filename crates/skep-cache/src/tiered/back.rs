//! What is written to the near tier now and to the far one later.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Time;
use crate::driver::Record;

/// Entries by key; at most [`MOST`] before somebody has to flush.
#[derive(Debug, Default)]
pub(super) struct Back {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    records: HashMap<Box<[u8]>, Record>,
    since: Option<Time>,
}

const MOST: usize = 1_024;
const LONGEST: Duration = Duration::from_secs(1);

impl Back {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an entry. Whether it is time to flush.
    pub(super) fn put(&self, key: &[u8], record: Record, now: Time) -> bool {
        let mut kept = self.lock();
        kept.records.insert(key.into(), record);
        let since = *kept.since.get_or_insert(now);
        kept.records.len() >= MOST || now.since(since) >= LONGEST
    }

    pub(super) fn get(&self, key: &[u8], now: Time) -> Option<Record> {
        let kept = self.lock();
        if kept.records.is_empty() {
            return None;
        }
        kept.records.get(key).filter(|record| record.entry().is_live(now)).cloned()
    }

    pub(super) fn forget(&self, key: &[u8]) {
        self.lock().records.remove(key);
    }

    pub(super) fn clear(&self, prefix: &[u8]) {
        self.lock().records.retain(|key, _| !key.starts_with(prefix));
    }

    /// All that is kept, which is the caller's to store.
    pub(super) fn take(&self) -> Vec<(Box<[u8]>, Record)> {
        let mut kept = self.lock();
        kept.since = None;
        kept.records.drain().collect()
    }

    /// What could not be stored is kept again, unless there is something newer by now. Beyond the bound it is lost.
    pub(super) fn restore(&self, entries: Vec<(Box<[u8]>, Record)>) {
        let mut kept = self.lock();
        for (key, record) in entries {
            if kept.records.len() < 2 * MOST {
                kept.records.entry(key).or_insert(record);
            }
        }
    }
}
