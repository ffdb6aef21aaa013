//! The host's side of one instance: its handles, its limits, and its grants.

mod grants;
mod hooks;
mod outgoing;
mod output;

use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use skep::hosted::{Quota, Share};
use wasmtime::component::ResourceTable;
use wasmtime::{ResourceLimiter, Result};
use wasmtime_wasi::clocks::{WasiClocksCtx, WasiClocksCtxView, WasiClocksView};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use crate::reuse::Reuse;
use crate::services;

pub(crate) use grants::{Dir, Frozen, Grants};
use hooks::Hooks;

/// The data of a store.
pub(crate) struct StoreData {
    table: ResourceTable,
    /// Made when it is first used: most requests never do.
    wasi: Option<Box<WasiCtx>>,
    clocks: Option<WasiClocksCtx>,
    http: WasiHttpCtx,
    hooks: Hooks,
    /// What start-up code is refused while it runs.
    frozen: Option<Arc<Frozen>>,
    memory: Memory,
    /// The tick of its deadline.
    pub(crate) deadline: u64,
    /// Whether it serves another request after this one. The guest may change it: `module::cache`.
    pub(crate) reuse: Option<Reuse>,
    pub(crate) services: services::Instance,
}

/// The memory of an instance, all its linear memories together.
struct Memory {
    taken: usize,
    most: usize,
    /// What it has of the memory of all instances.
    share: Share,
    was_refused: Option<Refused>,
}

/// Without the total of all instances, which changes at any time: resets are compared by this text.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { taken, most, was_refused, .. } = self;
        write!(f, "Memory {{ {taken} of {most}, {was_refused:?} }}")
    }
}

/// Which limit an instance has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Its own.
    Own,
    /// That of all instances together.
    Total,
}

/// The memory of all instances together: `component.total_memory`. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct TotalMemory {
    pub(crate) used: Quota,
    pub(crate) limit: u64,
    idle: Arc<Mutex<Vec<Weak<dyn IdleMemory>>>>,
}

/// Instances that wait, with memory that a request of any application may need.
pub(crate) trait IdleMemory: Send + Sync {
    /// Drops all of them.
    fn drop_idle(&self);
}

impl Default for TotalMemory {
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

impl TotalMemory {
    pub(crate) fn new(limit: u64) -> Self {
        Self { used: Quota::default(), limit, idle: Arc::default() }
    }

    /// Has what waits here dropped before a request is refused memory.
    pub(crate) fn watch<I: IdleMemory + 'static>(&self, pool: &Arc<I>) {
        let pool: Weak<I> = Arc::downgrade(pool);
        let mut idle = skep_units::lock(&self.idle);
        idle.retain(|pool| pool.strong_count() > 0);
        idle.push(pool);
    }

    fn drop_idle(&self) {
        let idle = skep_units::lock(&self.idle).clone();
        idle.iter().filter_map(Weak::upgrade).for_each(|pool| pool.drop_idle());
    }
}

impl Memory {
    fn new(grants: &Grants) -> Self {
        Self { taken: 0, most: grants.memory, share: grants.total_memory.used.share(), was_refused: None }
    }

    /// Takes a share of the total. Instances that wait go before one that runs goes without.
    fn take(&mut self, bytes: u64, total: &TotalMemory) -> bool {
        let is_taken = self.share.take(bytes, total.limit);
        if !is_taken {
            total.drop_idle();
        }
        is_taken || self.share.take(bytes, total.limit)
    }

    /// Takes memory for growth, as far as both limits allow it.
    fn grow(&mut self, bytes: usize, total: &TotalMemory) -> bool {
        let wanted = self.taken.saturating_add(bytes);
        if wanted > self.most {
            self.was_refused = Some(Refused::Own);
        } else if !self.take(bytes as u64, total) {
            self.was_refused = Some(Refused::Total);
        } else {
            self.taken = wanted;
            return true;
        }
        false
    }
}

impl StoreData {
    pub(crate) fn new(grants: &Arc<Grants>, reuse: Option<Reuse>) -> Self {
        Self {
            table: ResourceTable::new(),
            wasi: None,
            clocks: None,
            http: WasiHttpCtx::new(),
            hooks: Hooks::new(grants),
            frozen: None,
            memory: Memory::new(grants),
            deadline: u64::MAX,
            reuse,
            services: services::Instance::new(grants.version.as_ref()),
        }
    }

    /// For start-up code whose memory becomes an image: uses of what is frozen are noted.
    pub(crate) fn for_image(grants: &Arc<Grants>, frozen: &Arc<Frozen>) -> Self {
        let mut state = Self::new(grants, None);
        state.frozen = Some(Arc::clone(frozen));
        state.hooks.freeze(frozen);
        state
    }

    /// Makes it as it was when its instance was new, with this many bytes of memory.
    pub(crate) fn reset(&mut self, taken: usize) {
        let grants = Arc::clone(self.grants());
        // It keeps its memory, and so its share.
        let memory = std::mem::replace(&mut self.memory, Memory::new(&grants));
        *self = Self::new(&grants, None);
        self.memory = Memory { taken, was_refused: None, ..memory };
    }

    /// True if no handle of a resource is open.
    pub(crate) fn is_table_empty(&self) -> bool {
        self.table.is_empty() && self.services.is_clean()
    }

    pub(crate) fn open_handles(&mut self) -> usize {
        self.table.iter_mut().count()
    }

    pub(crate) fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    pub(crate) fn wasi(&mut self) -> &mut WasiCtx {
        self.wasi
            .get_or_insert_with(|| Box::new(self.hooks.grants().wasi(self.frozen.as_ref(), &self.services.request)))
    }

    /// Clocks. Many requests use the time, and nothing else of WASI that has state.
    pub(crate) fn clocks(&mut self) -> WasiClocksCtxView<'_> {
        if self.frozen.is_some() {
            return WasiClocksView::clocks(self);
        }
        WasiClocksCtxView { ctx: self.clocks.get_or_insert_default(), table: &mut self.table }
    }

    pub(crate) fn grants(&self) -> &Arc<Grants> {
        self.hooks.grants()
    }

    /// What a reset must restore, for tests.
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) fn summary(&mut self) -> String {
        let (handles, is_clean) = (self.open_handles(), self.is_table_empty());
        let Self { memory, reuse, wasi, clocks, frozen, .. } = self;
        format!(
            "handles {handles}, clean {is_clean}, {memory:?}, reuse {reuse:?}, made {:?}",
            (wasi.is_some(), clocks.is_some(), frozen.is_some())
        )
    }

    /// True after its deadline. Checked at each tick that it computes.
    pub(crate) fn is_late(&self) -> bool {
        self.grants().clock.passed() >= self.deadline
    }

    /// The limit beyond which it asked for memory, if it did.
    pub(crate) fn was_refused_memory(&self) -> Option<Refused> {
        self.memory.was_refused
    }
}

impl services::Guest for StoreData {
    fn services(&mut self) -> &mut services::Instance {
        &mut self.services
    }

    fn keep(&mut self, reuse: Option<(u32, std::time::Duration)>) {
        let most = self.grants().reuse;
        self.reuse =
            reuse.map(|(requests, idle)| Reuse { requests: requests.min(most.requests), idle: idle.min(most.idle) });
    }
}

impl WasiView for StoreData {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.wasi();
        WasiCtxView { ctx: self.wasi.as_mut().expect("it was just made"), table: &mut self.table }
    }
}

impl WasiHttpView for StoreData {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, table: &mut self.table, hooks: &mut self.hooks }
    }
}

impl ResourceLimiter for StoreData {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        let fits = maximum.is_none_or(|maximum| desired <= maximum);
        let total = &self.hooks.grants().total_memory;
        Ok(fits && self.memory.grow(desired.saturating_sub(current), total))
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        Ok(desired <= TABLE && maximum.is_none_or(|maximum| desired <= maximum))
    }
}

/// The most entries of a table.
const TABLE: usize = 100_000;
