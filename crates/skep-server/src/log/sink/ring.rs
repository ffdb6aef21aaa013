//! The last lines of this process, in memory, for its status.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

static RECENT: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

pub(super) fn push(lines: &[u8], capacity: usize) {
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    for line in String::from_utf8_lossy(lines).lines() {
        while recent.len() >= capacity {
            recent.pop_front();
        }
        recent.push_back(line.to_owned());
    }
}

/// What an output `ring` has, oldest first.
pub(in crate::log) fn recent() -> Vec<String> {
    RECENT.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}
