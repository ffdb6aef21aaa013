//! The engine: how components are compiled, and where their instances live.
//!
//! One engine serves all applications and all threads, and others are made when they are needed ([`Kind`]). Instances
//! come from a pool: memory, tables and stacks are reserved once, and what a request has written is reset to the
//! component's image when its instance is dropped. Start reading at [`Host::new`].

mod idle;
mod linker;

use std::sync::{Arc, Mutex, Weak};

use wasmtime::component::Linker;
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Strategy};

use crate::clock::Clock;
use crate::error::Error;
use crate::features;
use crate::function_cache::FunctionCache;
use crate::state::StoreData;
use crate::sys::FaultShortcut;
use idle::IdleSlots;

pub(crate) use linker::has;

/// What all applications of a process share, and one of its engines.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) clock: Arc<Clock>,
    side: Arc<Side>,
    size: Size,
    others: Arc<Others>,
    shortcut: Arc<FaultShortcut>,
}

/// An engine, and what its components may import.
struct Side {
    kind: Kind,
    engine: Engine,
    linker: Linker<StoreData>,
    idle: Mutex<IdleSlots>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// For nearly all components.
    Usual,
    /// For components of WASI 0.3: support for concurrent functions costs each store something, also of components that
    /// have none.
    #[cfg(feature = "wasi03")]
    Wasi03,
    /// Winch: compiles in a seventh of the time, and its code is slower. For start-up code, and until a version is
    /// optimised.
    Baseline,
}

#[derive(Default)]
struct Others {
    #[cfg(feature = "wasi03")]
    wasi03: Mutex<Option<Arc<Side>>>,
    /// It lives while a version has code of it.
    baseline: Mutex<Weak<Side>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Instances of all applications at once.
    pub(crate) instances: u32,
    /// Whether instructions are counted.
    pub(crate) fuel: bool,
    /// Bytes of a generation of compiled functions, which are kept for the next component: [`FunctionCache`].
    pub(crate) functions: usize,
}

/// Core modules that one component may instantiate: a Rust component has three or four, an interpreter with its
/// libraries some twenty.
const INNER: u32 = 32;

/// Memories of one component.
const MEMORIES: u32 = 2;

/// Tables of one component.
const TABLES: u32 = 4;

/// Bytes of a memory that are reset by copying. Other pages are dropped and come back with a fault each: 1.6 us a page
/// instead of 0.25.
const KEPT_MEMORY: usize = 2 << 20;

/// Slots of a memory that are kept warm. Those beyond, which a burst has left, give back what they keep: [`idle`].
const WARM: u32 = 16;

/// The address space of one memory: all that 32 bits can address. The setting `memory` limits each instance.
const ADDRESSES: usize = 4 << 30;

/// Entries of one table: an interpreter compiled to a component has some ten thousand functions in it.
const TABLE_ENTRIES: usize = 100_000;

/// A sparse image up to this size is mapped copy-on-write. Of a larger one each instance writes all.
const DENSE_IMAGE: u64 = 256 << 20;

/// The stack of a guest. Overflow is a trap.
const STACK: usize = 1 << 20;

/// The most instances of WASI 0.3: what the 10 000 of the usual engine leave of the address space.
#[cfg(feature = "wasi03")]
pub(crate) const MOST_WASI03: u32 = 4000;

/// The most instances of baseline code. With more, components wait for the optimising compiler.
const MOST_BASELINE: u32 = 1500;

impl Host {
    /// Reserves address space for the instances. Memory is used when they run.
    pub(crate) fn new(size: Size) -> Result<Self, Error> {
        let clock = Clock::start().map_err(|error| Error::io("no thread for the clock", error))?;
        let usual = Side::new(size, Kind::Usual, &clock)?;
        Ok(Self { clock, side: usual, size, others: Arc::default(), shortcut: Arc::default() })
    }

    /// The engine for components of WASI 0.3.
    #[cfg(feature = "wasi03")]
    pub(crate) fn wasi03(&self) -> Result<Self, Error> {
        let mut wasi03 = skep_units::lock(&self.others.wasi03);
        let side = match &*wasi03 {
            Some(side) => Arc::clone(side),
            None => {
                let size = Size { instances: self.size.instances.min(MOST_WASI03), ..self.size };
                Arc::clone(wasi03.insert(Side::new(size, Kind::Wasi03, &self.clock)?))
            }
        };
        drop(wasi03);
        Ok(Self { side, ..self.clone() })
    }

    /// The engine for components of WASI 0.3, which this build lacks.
    #[cfg(not(feature = "wasi03"))]
    #[expect(clippy::unused_self, reason = "the same function as with the feature")]
    pub(crate) fn wasi03(&self) -> Result<Self, Error> {
        Err(Error::invalid(
            "is made for WASI 0.3, which this build of skep-wasm does not support: build it with `--features wasi03` (`cargo install --locked --path \
             crates/skep-wasm --features wasi03`), or build the component \
             for WASI 0.2 (wasm32-wasip2)",
        ))
    }

    /// The engine of the baseline compiler. `None` where it is not possible: on other processors, for many instances,
    /// and if fuel is counted, of which the two compilers count different amounts.
    pub(crate) fn baseline(&self) -> Option<Self> {
        if self.size.instances > MOST_BASELINE || self.size.fuel || !cfg!(target_arch = "x86_64") {
            return None;
        }
        let mut baseline = skep_units::lock(&self.others.baseline);
        let side = match baseline.upgrade() {
            Some(side) => side,
            None => {
                let made = Side::new(self.size, Kind::Baseline, &self.clock);
                let log = |why: &Error| tracing::debug!(target: "skep::isolate", "no engine for baseline code: {why}");
                let side = made.inspect_err(log).ok()?;
                *baseline = Arc::downgrade(&side);
                side
            }
        };
        drop(baseline);
        Some(Self { side, ..self.clone() })
    }

    /// Gives memory back that no instance has used for a while. To be called once in a second.
    pub(crate) fn tidy(&self) {
        let baseline = skep_units::lock(&self.others.baseline).upgrade();
        #[cfg(feature = "wasi03")]
        let wasi03 = skep_units::lock(&self.others.wasi03).clone();
        #[cfg(not(feature = "wasi03"))]
        let wasi03 = None;
        for side in [Some(Arc::clone(&self.side)), baseline, wasi03].into_iter().flatten() {
            skep_units::lock(&side.idle).tidy(&side.engine);
        }
    }

    /// True if this is the engine of the baseline compiler.
    pub(crate) fn is_baseline(&self) -> bool {
        self.side.kind == Kind::Baseline
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.side.engine
    }

    pub(crate) fn linker(&self) -> &Linker<StoreData> {
        &self.side.linker
    }

    pub(crate) fn shortcut(&self) -> &Arc<FaultShortcut> {
        &self.shortcut
    }

    pub(crate) fn counts_fuel(&self) -> bool {
        self.size.fuel
    }
}

impl Side {
    fn new(size: Size, kind: Kind, clock: &Arc<Clock>) -> Result<Arc<Self>, Error> {
        let cannot = |source| Error::Engine {
            what: format!("there is no room for {} instances", size.instances),
            source,
            hint: "; fewer need less address space (--instances, ulimit -v)",
        };
        let engine = Engine::new(&config(size, kind)).map_err(cannot)?;
        let mut linker = Linker::new(&engine);
        linker::fill(&mut linker).map_err(cannot)?;
        #[cfg(feature = "wasi03")]
        if kind == Kind::Wasi03 {
            linker::fill_wasi03(&mut linker).map_err(cannot)?;
        }
        clock.drive(&engine);
        Ok(Arc::new(Self { kind, engine, linker, idle: Mutex::default() }))
    }
}

/// What affects compiled code depends on nothing but `kind` and fuel: a file of `skep compile` fits every server of
/// this version that counts fuel alike.
fn config(size: Size, kind: Kind) -> Config {
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
        .concurrency_support(false)
        .wasm_features(features::ENABLED, true)
        .wasm_features(features::ENABLED.complement(), false);
    if kind == Kind::Baseline {
        config.wasm_features(features::NOT_IN_BASELINE, false);
    } else {
        let cached = config.enable_incremental_compilation(Arc::new(FunctionCache::new(size.functions)));
        cached.expect("only the baseline compiler has none");
    }
    #[cfg(feature = "wasi03")]
    if kind == Kind::Wasi03 {
        config.concurrency_support(true).wasm_features(features::WASI03, true);
    }
    config
}

fn pool(size: Size) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    let inner = size.instances.saturating_mul(INNER);
    pool.total_component_instances(size.instances)
        .total_core_instances(inner)
        .total_memories(size.instances.saturating_mul(MEMORIES))
        .total_tables(size.instances.saturating_mul(TABLES))
        // A component that needs more is refused when it is compiled.
        .max_core_instances_per_component(INNER)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .total_stacks(size.instances)
        .table_elements(TABLE_ENTRIES)
        .max_memory_size(ADDRESSES)
        .max_core_instance_size(4 << 20)
        .max_component_instance_size(4 << 20)
        .linear_memory_keep_resident(KEPT_MEMORY)
        .table_keep_resident(64 << 10)
        .max_unused_warm_slots(WARM)
        // Finds written pages with one system call, on Linux 6.7 and later.
        .pagemap_scan(Enabled::Auto);
    pool
}
