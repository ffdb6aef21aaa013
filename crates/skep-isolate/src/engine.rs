//! The engine: how components are compiled, and where their instances live.
//!
//! One engine serves all applications and all threads, and others are made when they are needed ([`Kind`]). Instances come from a pool:
//! memory, tables and stacks are reserved once, and what a request has touched is put back to the component's image when its instance goes.
//! Start reading at [`Host::new`].

mod clock;
mod linker;
mod version;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use wasmtime::component::Linker;
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Strategy};

use crate::error::Wrong;
use crate::state::State;

pub(crate) use clock::{Clock, Work};
pub(crate) use linker::has;
pub(crate) use version::{Version, any_of_its_own, is_third};

/// What all applications of a process share, as components of one engine see it.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) clock: Arc<Clock>,
    side: Arc<Side>,
    size: Size,
    others: Arc<Others>,
}

/// An engine, and what its components may import.
struct Side {
    kind: Kind,
    engine: Engine,
    linker: Linker<State>,
}

/// Which engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// For nearly all components.
    Usual,
    /// For those of WASI 0.3: what lets functions of one instance run beside each other costs each store something, and components of
    /// WASI 0.2 would have it for nothing.
    Concurrent,
    /// Wasmtime's Winch: compiles in a seventh of the time, what runs some times slower (docs/isolate.md). For start-up code, and for the
    /// first moments of a version.
    Baseline,
}

/// The engines beside the usual one.
#[derive(Default)]
struct Others {
    concurrent: Mutex<Option<Arc<Side>>>,
    /// There while a version has code of it: it is of use for moments.
    baseline: Mutex<Weak<Side>>,
}

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

/// Instances of [`Kind::Concurrent`]: beside the 10 000 of the usual engine, there is address space for so many.
pub(crate) const MOST_CONCURRENT: u32 = 4000;

/// Instances of [`Kind::Baseline`], for which there is space, too. Who wants more waits for the optimising compiler, and has all of them.
const MOST_BASELINE: u32 = 1500;

impl Host {
    /// Reserves address space for so many instances; memory is taken when they run.
    pub(crate) fn new(size: Size) -> Result<Self, Wrong> {
        let clock = Clock::start().map_err(|error| Wrong::engine(size, &error.into()))?;
        let usual = Side::new(size, Kind::Usual, &clock)?;
        Ok(Self { clock, side: usual, size, others: Arc::default() })
    }

    /// The same as components see it whose functions run beside each other, which is what WASI 0.3 is made of.
    pub(crate) fn concurrent(&self) -> Result<Self, Wrong> {
        let mut concurrent = self.others.concurrent.lock().unwrap_or_else(PoisonError::into_inner);
        let side = match &*concurrent {
            Some(side) => Arc::clone(side),
            None => {
                let size = Size { instances: self.size.instances.min(MOST_CONCURRENT), ..self.size };
                Arc::clone(concurrent.insert(Side::new(size, Kind::Concurrent, &self.clock)?))
            }
        };
        drop(concurrent);
        Ok(Self { side, ..self.clone() })
    }

    /// The same as components of WASI 0.2 see it that were compiled in a hurry. `None` where that is not possible: on other processors, for
    /// so many instances, or if fuel is counted, of which the two compilers count the same as different amounts.
    pub(crate) fn baseline(&self) -> Option<Self> {
        if self.size.instances > MOST_BASELINE || self.size.fuel || !cfg!(target_arch = "x86_64") {
            return None;
        }
        let mut baseline = self.others.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        let side = match baseline.upgrade() {
            Some(side) => side,
            None => {
                let made = Side::new(self.size, Kind::Baseline, &self.clock);
                let told = |why: &Wrong| tracing::debug!(target: "skep::isolate", "no engine for baseline code: {why}");
                let side = made.inspect_err(told).ok()?;
                *baseline = Arc::downgrade(&side);
                side
            }
        };
        drop(baseline);
        Some(Self { side, ..self.clone() })
    }

    /// True if this is what [`Host::baseline`] has given.
    pub(crate) fn is_baseline(&self) -> bool {
        self.side.kind == Kind::Baseline
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.side.engine
    }

    pub(crate) fn linker(&self) -> &Linker<State> {
        &self.side.linker
    }

    pub(crate) fn counts_fuel(&self) -> bool {
        self.size.fuel
    }
}

impl Side {
    fn new(size: Size, kind: Kind, clock: &Arc<Clock>) -> Result<Arc<Self>, Wrong> {
        let wrong = |error| Wrong::engine(size, &error);
        let engine = Engine::new(&config(size, kind)).map_err(wrong)?;
        let mut linker = Linker::new(&engine);
        linker::fill(&mut linker).map_err(wrong)?;
        if kind == Kind::Concurrent {
            linker::fill_concurrent(&mut linker).map_err(wrong)?;
        }
        clock.drive(&engine);
        Ok(Arc::new(Self { kind, engine, linker }))
    }
}

/// What decides about compiled code is the same wherever components are compiled: a file of `skep compile` fits every server of
/// this version, unless one of the two counts fuel.
fn config(size: Size, kind: Kind) -> Config {
    let concurrent = kind == Kind::Concurrent;
    let mut config = Config::new();
    config
        .strategy(if kind == Kind::Baseline { Strategy::Winch } else { Strategy::Cranelift })
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
