//! The engine: how components are compiled, and where their instances live.
//!
//! One engine serves all applications and all threads. Instances come from a pool: memory, tables and stacks are reserved once, and
//! what a request has touched is put back to the component's image when its instance goes. Start reading at [`Host::new`].

mod clock;
mod linker;

use std::fmt;
use std::sync::Arc;

use wasmtime::component::Linker;
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::error::Wrong;
use crate::state::State;

pub(crate) use clock::{Clock, Work};
pub(crate) use linker::PACKAGES;

/// What all applications of a process share.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) engine: Engine,
    pub(crate) linker: Arc<Linker<State>>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) counts_fuel: bool,
}

/// What an engine is built for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Instances at once, of all applications together.
    pub(crate) instances: u32,
    /// Whether instructions are counted.
    pub(crate) fuel: bool,
}

/// Core modules that one component may instantiate, on average over all that run: a Rust component has three or four.
const INNER: u32 = 8;

/// What of a memory's pages is put back by copying. Beyond it the system takes pages away and brings them again, one fault each: 1.6 us
/// a page and not 0.25 (docs/isolate.md).
const KEPT_MEMORY: usize = 2 << 20;

/// Entries of one table: an interpreter compiled to a component has some ten thousand functions in it.
const TABLE_ENTRIES: usize = 100_000;

/// A sparse image up to this size is still mapped as one, copy-on-write; larger, and each instance would write all of it.
const DENSE_IMAGE: u64 = 256 << 20;

/// The stack of a guest. Beyond it there is a trap, and nothing else.
const STACK: usize = 1 << 20;

impl Host {
    /// Reserves address space for so many instances; memory is taken when they run.
    pub(crate) fn new(size: Size) -> Result<Self, Wrong> {
        let engine = Engine::new(&config(size)).map_err(|error| Wrong::engine(size, &error))?;
        let mut linker = Linker::new(&engine);
        linker::fill(&mut linker).map_err(|error| Wrong::engine(size, &error))?;
        let clock = Clock::start(&engine).map_err(|error| Wrong::engine(size, &error.into()))?;
        Ok(Self { engine, linker: Arc::new(linker), clock, counts_fuel: size.fuel })
    }
}

/// What decides about compiled code is the same wherever components are compiled: a file of `skep compile` fits every server of
/// this version, unless one of the two counts fuel.
fn config(size: Size) -> Config {
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(size)))
        .epoch_interruption(true)
        .consume_fuel(size.fuel)
        .memory_init_cow(true)
        .memory_guaranteed_dense_image_size(DENSE_IMAGE)
        .max_wasm_stack(STACK)
        // SQLite runs on it, too, with the depths that `skep::sql` allows a guest.
        .async_stack_size(STACK + (4 << 20))
        // No task of one instance runs beside another of it: nothing is made for that.
        .concurrency_support(false);
    config
}

fn pool(size: Size) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    let inner = size.instances.saturating_mul(INNER);
    pool.total_component_instances(size.instances)
        .total_core_instances(inner)
        .total_memories(size.instances.saturating_mul(2))
        .total_tables(size.instances.saturating_mul(4))
        .total_stacks(size.instances)
        .table_elements(TABLE_ENTRIES)
        // As much as 32 bits address: what one may have of it, its limits say.
        .max_memory_size(4 << 30)
        .max_core_instance_size(4 << 20)
        .max_component_instance_size(4 << 20)
        .linear_memory_keep_resident(KEPT_MEMORY)
        .table_keep_resident(64 << 10)
        .max_unused_warm_slots(16)
        // Finds the pages that were written by one call to the system, where it has that call (Linux 6.7).
        .pagemap_scan(Enabled::Auto);
    pool
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}
