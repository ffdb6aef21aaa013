//! The engine: how components are compiled, and where their instances live.
//!
//! One engine serves all applications and all threads, and a second one those of WASI 0.3, made when the first of them comes: what lets functions of
//! one instance run beside each other costs each store something, and components of WASI 0.2 would have it for nothing. Instances come from a pool: memory, tables and stacks are reserved once, and
//! what a request has touched is put back to the component's image when its instance goes. Start reading at [`Host::new`].

mod clock;
mod linker;
mod version;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::error::Wrong;
use crate::state::State;

pub(crate) use clock::{Clock, Work};
pub(crate) use linker::has;
pub(crate) use version::{Version, any_of_its_own, is_third};

/// What all applications of a process share, as those of WASI 0.2 see it, or those of 0.3: [`Host::concurrent`].
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) engine: Engine,
    pub(crate) linker: Arc<Linker<State>>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) counts_fuel: bool,
    size: Size,
    /// The second engine, and what its components may import.
    second: Arc<Mutex<Option<Side>>>,
}

/// An engine, and what its components may import.
type Side = (Engine, Arc<Linker<State>>);

/// What an engine is built for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Instances at once, of all applications together.
    pub(crate) instances: u32,
    /// Whether instructions are counted.
    pub(crate) fuel: bool,
}

/// Core modules that one component may instantiate: a Rust component has three or four, an interpreter with its libraries some twenty.
const INNER: u32 = 32;

/// Memories of one component.
const MEMORIES: u32 = 2;

/// Tables of one component.
const TABLES: u32 = 4;

/// What of a memory's pages is put back by copying. Beyond it the system takes pages away and brings them again, one fault each: 1.6 us
/// a page and not 0.25 (docs/isolate.md).
const KEPT_MEMORY: usize = 2 << 20;

/// Entries of one table: an interpreter compiled to a component has some ten thousand functions in it.
const TABLE_ENTRIES: usize = 100_000;

/// A sparse image up to this size is still mapped as one, copy-on-write; larger, and each instance would write all of it.
const DENSE_IMAGE: u64 = 256 << 20;

/// The stack of a guest. Beyond it there is a trap, and nothing else.
const STACK: usize = 1 << 20;

/// Instances of the second engine: beside the 10 000 of the first, there is address space for so many.
pub(crate) const MOST_CONCURRENT: u32 = 4000;

impl Host {
    /// Reserves address space for so many instances; memory is taken when they run.
    pub(crate) fn new(size: Size) -> Result<Self, Wrong> {
        let clock = Clock::start().map_err(|error| Wrong::engine(size, &error.into()))?;
        let (engine, linker) = side(size, false, &clock)?;
        Ok(Self { engine, linker, clock, counts_fuel: size.fuel, size, second: Arc::default() })
    }

    /// The same as components see it whose functions run beside each other, which is what WASI 0.3 is made of.
    pub(crate) fn concurrent(&self) -> Result<Self, Wrong> {
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        let (engine, linker) = match &*second {
            Some(side) => side.clone(),
            None => {
                let size = Size { instances: self.size.instances.min(MOST_CONCURRENT), ..self.size };
                second.insert(side(size, true, &self.clock)?).clone()
            }
        };
        drop(second);
        Ok(Self { engine, linker, ..self.clone() })
    }

    /// The same as this component sees it.
    pub(crate) fn of(&self, component: &Component) -> Result<Self, Wrong> {
        if Engine::same(component.engine(), &self.engine) { Ok(self.clone()) } else { self.concurrent() }
    }
}

fn side(size: Size, concurrent: bool, clock: &Arc<Clock>) -> Result<Side, Wrong> {
    let wrong = |error| Wrong::engine(size, &error);
    let engine = Engine::new(&config(size, concurrent)).map_err(wrong)?;
    let mut linker = Linker::new(&engine);
    linker::fill(&mut linker).map_err(wrong)?;
    if concurrent {
        linker::fill_concurrent(&mut linker).map_err(wrong)?;
    }
    clock.drive(&engine);
    Ok((engine, Arc::new(linker)))
}

/// What decides about compiled code is the same wherever components are compiled: a file of `skep compile` fits every server of
/// this version, unless one of the two counts fuel.
fn config(size: Size, concurrent: bool) -> Config {
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
        // Without it no task of one instance runs beside another of it, and nothing is made for that.
        .concurrency_support(concurrent)
        .wasm_component_model_async(concurrent);
    config
}

fn pool(size: Size) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    let inner = size.instances.saturating_mul(INNER);
    pool.total_component_instances(size.instances)
        .total_core_instances(inner)
        .total_memories(size.instances.saturating_mul(MEMORIES))
        .total_tables(size.instances.saturating_mul(TABLES))
        // What one component has is no other's: it is refused when it is compiled, and not when others are answered.
        .max_core_instances_per_component(INNER)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
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
