//! By what log and error pages know a request.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use crate::security::keys;
use skep_http::request::RequestId;

/// Ids that do not repeat within a thread, and hardly between threads, processes and machines.
pub(super) struct Ids {
    last: Cell<u64>,
}

impl Ids {
    pub(super) fn new() -> Self {
        // From the system, and not from the standard library's hasher: of that, processes that are forked have the
        // same.
        let seed = if cfg!(target_family = "wasm") { 0 } else { Self::seed() };
        Self { last: Cell::new(seed) }
    }

    fn seed() -> u64 {
        keys::random().map_or_else(|_| RandomState::new().hash_one(0), u64::from_ne_bytes)
    }

    pub(super) fn next(&self) -> RequestId {
        // The memory of a component is copied before its first request, and with it what was drawn by then.
        if cfg!(target_family = "wasm") && self.last.get() == 0 {
            self.last.set(Self::seed());
        }
        // A Weyl sequence with its bits mixed (SplitMix64): all different, and unlike their neighbours.
        let next = self.last.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.last.set(next);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        RequestId::from(mixed ^ (mixed >> 31))
    }
}
