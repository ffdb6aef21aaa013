//! Memory that idle slots keep after a burst, given back to the system.
//!
//! A slot of the pool keeps up to `KEPT_MEMORY` of what its last instance has written: the next one gets it without
//! page faults. wasmtime never gives it back by itself. So after some quiet seconds the slots beyond the warm ones are
//! taken by empty instances, and emptied.
//!
//! Start reading at [`IdleSlots::tidy`].

use std::thread;

use wasmtime::{Engine, Instance, Module, PoolingAllocatorMetrics, Result, Store};

use super::{ADDRESSES, KEPT_MEMORY, WARM};
use crate::sys;

/// Memory that idle slots may keep for good.
const KEPT: usize = KEPT_MEMORY * WARM as usize;

/// Seconds for which it is not used before it is given back.
const QUIET: u32 = 10;

/// The least memory of an instance: a page.
const EMPTY: &[u8] = b"\0asm\x01\0\0\0\x05\x03\x01\0\x01\x07\x05\x01\x01m\x02\0";

/// What idle slots have kept lately.
#[derive(Default)]
pub(super) struct IdleSlots {
    /// Seconds for which it was too much.
    seconds: u32,
    /// The least of these seconds.
    least: usize,
}

impl IdleSlots {
    /// Looks at them once in a second.
    pub(super) fn tidy(&mut self, engine: &Engine) {
        let Some(metrics) = engine.pooling_allocator_metrics() else { return };
        let kept = metrics.unused_memory_bytes_resident();
        if kept <= KEPT {
            self.seconds = 0;
            return;
        }
        self.least = if self.seconds == 0 { kept } else { self.least.min(kept) };
        self.seconds += 1;
        if self.seconds >= QUIET {
            self.seconds = 0;
            release(engine, &metrics, kept.saturating_sub(self.least.saturating_sub(KEPT)));
        }
    }
}

/// Empties slots until they keep this many bytes. Each thread has a part of the pool from which it takes slots first.
fn release(engine: &Engine, metrics: &PoolingAllocatorMetrics, bytes: usize) {
    let parts = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    for _ in 0..parts {
        thread::scope(|scope| {
            let emptied = scope.spawn(|| release_part(engine, metrics, bytes)).join();
            if let Ok(Err(error)) = emptied {
                tracing::debug!(target: "skep::isolate", "idle memory is kept: {error:#}");
            }
        });
    }
}

fn release_part(engine: &Engine, metrics: &PoolingAllocatorMetrics, bytes: usize) -> Result<()> {
    // A module of its own each time: slots that were emptied before would come first.
    let module = Module::new(engine, EMPTY)?;
    // All of them are held until the end, or one slot would come again and again.
    let mut held = Vec::new();
    while metrics.unused_memory_bytes_resident() > bytes {
        let warm = metrics.unused_warm_memories();
        let mut store = Store::new(engine, ());
        let instance = Instance::new(&mut store, &module, &[])?;
        if let Some(memory) = instance.get_memory(&mut store, "m") {
            sys::empty(memory, &store, ADDRESSES);
        }
        held.push(store);
        if metrics.unused_warm_memories() >= warm {
            // This one was never used: no other is left.
            break;
        }
    }
    Ok(())
}
