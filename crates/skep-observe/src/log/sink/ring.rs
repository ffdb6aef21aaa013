//! The last lines of this process, in memory, for its status.

use std::collections::VecDeque;
use std::sync::Mutex;

static RECENT: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

pub(super) fn push(lines: &[u8], capacity: usize) {
    let mut recent = skep_units::lock(&RECENT);
    for line in String::from_utf8_lossy(lines).lines() {
        while recent.len() >= capacity {
            recent.pop_front();
        }
        recent.push_back(line.to_owned());
    }
}

/// What an output `ring` has, oldest first.
pub(in crate::log) fn recent() -> Vec<String> {
    skep_units::lock(&RECENT).iter().cloned().collect()
}
