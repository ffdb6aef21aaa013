//! Snapshots: start-up code runs once, and every instance begins with the memory that it has left.
//!
//! A component with start-up code exports a function for it ([`Init::of`]). It runs in an instance with frozen clocks,
//! without network and without random numbers; then its memories and globals are written back into the component.
//! Start-up code that uses what would be the same for every request from then on is refused, with the reason.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::{Component, ComponentNamedList, Instance, Lift, WasmList};
use wasmtime::{Store, Trap, WasmBacktrace};
use wasmtime_wizer::{ComponentContext, ComponentInstanceState, Wizer};

use crate::clock::Clock;
use crate::code::Code;
use crate::disk::Disk;
use crate::engine::Host;
use crate::error::Error;
use crate::hash::Hash;
use crate::init::Init;
use crate::instance;
use crate::options::Options;
use crate::random::seed;
use crate::reuse::ModuleCache;
use crate::state::{Frozen, Grants, StoreData};
use crate::trap::{Late, describe};

/// The time of start-up code, with what it waits.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The prefix of the exports that the snapshotter adds.
pub(crate) const ACCESS: &str = "wasmtime:wizer/";

/// A component whose start-up code can be run and whose memory can be read.
pub(crate) struct Start<'w> {
    wizer: Wizer,
    context: ComponentContext<'w>,
    version: Hash,
    /// The component with functions to read its memory.
    instrumented: Vec<u8>,
    host: Host,
    pub(crate) code: Code,
}

impl<'w> Start<'w> {
    /// `None` if it has no start-up code.
    pub(crate) fn of(
        host: &Host,
        disk: Option<&Disk>,
        wasm: &'w [u8],
        options: &Options,
    ) -> Result<Option<Self>, Error> {
        if !Init::is_in(wasm) {
            return Ok(None);
        }
        let mut wizer = Wizer::new();
        // It stays exported: cold instances of the same file call it.
        wizer.keep_init_func(true);
        let instrumented = caught(|| wizer.instrument_component(wasm).map_err(unfit));
        // The compiler describes an invalid component better.
        let (context, instrumented) =
            instrumented.or_else(|why| Code::for_one_run(host, disk, wasm, options).and(Err(why)))?;
        let code = Code::for_one_run(host, disk, &instrumented, options)?;
        let start = Self { wizer, context, version: Hash::of(wasm), instrumented, host: host.clone(), code };
        Ok(Init::of(&start.code.component).map(|_| start))
    }

    /// Runs start-up code within its time, and returns the component with the memory that it leaves.
    pub(crate) fn image(self, disk: Option<&Disk>, grants: &Arc<Grants>, patience: Duration) -> Result<Vec<u8>, Error> {
        let runtime = runtime()?;
        caught(|| runtime.block_on(self.make(disk, grants, patience)))
    }

    /// Runs start-up code with optimised code if it was too slow for its time.
    async fn make(self, disk: Option<&Disk>, grants: &Arc<Grants>, patience: Duration) -> Result<Vec<u8>, Error> {
        let (a, b) = seed();
        let drawn = u128::from(a) << 64 | u128::from(b);
        let seed = disk.and_then(|disk| disk.seed(&self.version)).unwrap_or(drawn);
        let (mut frozen, mut store, mut ran) = begin(&self.code, seed, grants, patience).await?;
        if self.code.host.is_baseline() && ran.as_ref().is_err_and(is_for_want_of_speed) {
            let optimised = Code::optimised(&self.host, disk, &self.instrumented)?;
            (frozen, store, ran) = begin(&optimised, seed, grants, patience).await?;
        }
        // A failure may come from what it was refused.
        refuse(&frozen)?;
        let instance = ran.map_err(|error| failed(&error, store.data()))?;
        holds_nothing(store.data())?;
        let running = &mut Running { store, instance };
        self.wizer.snapshot_component(&self.context, running).await.map_err(unfit)
    }
}

async fn begin(
    code: &Code,
    seed: u128,
    grants: &Arc<Grants>,
    patience: Duration,
) -> Result<(Arc<Frozen>, Store<StoreData>, wasmtime::Result<Instance>), Error> {
    let frozen = Arc::new(Frozen::new(seed));
    let mut store = Store::new(code.host.engine(), StoreData::for_image(grants, &frozen));
    let ran = run(&code.host, &code.component, &mut store, patience).await?;
    Ok((frozen, store, ran))
}

/// True if optimised code, which needs less time and less stack, may succeed.
fn is_for_want_of_speed(error: &wasmtime::Error) -> bool {
    error.is::<Late>() || error.is::<NotDone>() || error.downcast_ref() == Some(&Trap::StackOverflow)
}

/// With `snapshot,cold`, start-up code that no image can hold runs for each request.
pub(crate) fn or_cold<T>(came: Result<Option<T>, Error>, options: &Options) -> Result<Option<T>, Error> {
    came.or_else(|why| {
        if options.module_cache != ModuleCache::SnapshotOrCold {
            return Err(why);
        }
        tracing::warn!(target: "skep::isolate", app = options.name, "start-up code runs for each request: {why}");
        Ok(None)
    })
}

/// The snapshotter panics for some components.
fn caught<T>(snapshot: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(snapshot))
        .unwrap_or_else(|_| Err(Error::invalid("cannot be snapshot: the snapshotter cannot read it")))
}

fn unfit(source: wasmtime::Error) -> Error {
    Error::Engine {
        what: "cannot be snapshot".to_owned(),
        source,
        hint: "; --module-cache cold or cached serves it without",
    }
}

/// Runs start-up code whose memory is in an image already, for its other effects: it opens the database, say. Nothing
/// is frozen, since its memory is dropped.
pub(crate) fn run_again(host: &Host, component: &Component, grants: &Arc<Grants>) -> Result<(), Error> {
    let mut store = Store::new(host.engine(), StoreData::new(grants, None));
    runtime()?.block_on(async {
        let ran = run(host, component, &mut store, PATIENCE).await?;
        ran.map(drop).map_err(|error| failed(&error, store.data()))
    })
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Error::io("cannot run start-up code", error))
}

/// Runs start-up code within its time.
async fn run(
    host: &Host,
    component: &Component,
    store: &mut Store<StoreData>,
    patience: Duration,
) -> Result<wasmtime::Result<Instance>, Error> {
    instance::set_limits(store);
    store.data_mut().deadline = host.clock.now().saturating_add(Clock::ticks(patience));
    if host.counts_fuel() {
        store.set_fuel(u64::MAX).map_err(|error| failed(&error, store.data()))?;
    }
    let _work = host.clock.work();
    let linked = host.linker().instantiate_pre(component).map_err(|error| failed(&error, store.data()))?;
    let init = Init::of(component).ok_or_else(|| Error::invalid("lost its start-up code"))?;
    let running = async {
        let instance = linked.instantiate_async(&mut *store).await?;
        init.call(store, &instance).await.map(|()| instance)
    };
    let ran = tokio::time::timeout(patience, running).await;
    Ok(ran.unwrap_or_else(|_| Err(NotDone(patience).into())))
}

/// Start-up code waited for too long.
#[derive(Debug)]
struct NotDone(Duration);

impl fmt::Display for NotDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it was not done within {:?}", self.0)
    }
}

impl std::error::Error for NotDone {}

/// Why start-up code failed, with what it printed if it did not return.
fn failed(error: &wasmtime::Error, state: &StoreData) -> Error {
    let (trap, output) = (describe(error), state.services.request.said());
    let has_returned = error.downcast_ref::<WasmBacktrace>().is_none();
    if has_returned || output.is_empty() {
        return Error::Invalid(format!("start-up code failed: {trap}"));
    }
    Error::Invalid(format!("start-up code failed: {output}; {trap}"))
}

fn refuse(frozen: &Frozen) -> Result<(), Error> {
    let asked = frozen.asked();
    if asked.is_empty() {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "start-up code asked for {}: what it got would be the same in every request, from then on; ask in the request, or serve \
         it with --module-cache cold (or snapshot,cold, which falls back by itself)",
        asked.join(" and ")
    )))
}

/// Refuses open handles: the table of resources is new for each request, and a number in the image would name another
/// resource.
fn holds_nothing(state: &StoreData) -> Result<(), Error> {
    if state.is_table_empty() {
        return Ok(());
    }
    Err(Error::invalid(
        "start-up code left something of the host open (a file or a stream, such as standard output after a first print): \
         close it, or do it in the request; --module-cache cold serves it as it is",
    ))
}

/// The instance as the snapshotter reads it.
struct Running {
    store: Store<StoreData>,
    instance: Instance,
}

impl Running {
    async fn ask<R, T>(&mut self, interface: &str, name: &str, take: impl FnOnce(&Store<StoreData>, R) -> T) -> T
    where
        R: Lift + 'static,
        (R,): ComponentNamedList,
    {
        let store = &mut self.store;
        store.data_mut().deadline = u64::MAX;
        // The snapshotter has added all of this. `image` catches the panic if it has not.
        let interface = self.instance.get_export_index(&mut *store, None, interface).expect("its interface");
        let function = self.instance.get_export_index(&mut *store, Some(&interface), name).expect("its function");
        let function = self.instance.get_typed_func::<(), (R,)>(&mut *store, function).expect("its type");
        let (answer,) = function.call_async(&mut *store, ()).await.expect("its result");
        take(store, answer)
    }
}

impl ComponentInstanceState for Running {
    async fn call_func_ret_list_u8(&mut self, instance: &str, func: &str, contents: impl FnOnce(&[u8]) + Send) {
        self.ask(instance, func, |store, list: WasmList<u8>| contents(list.as_le_slice(store))).await;
    }

    fn call_func_ret_s32(&mut self, instance: &str, func: &str) -> impl Future<Output = i32> + Send {
        self.ask(instance, func, |_, value| value)
    }

    fn call_func_ret_s64(&mut self, instance: &str, func: &str) -> impl Future<Output = i64> + Send {
        self.ask(instance, func, |_, value| value)
    }

    async fn call_func_ret_f32(&mut self, instance: &str, func: &str) -> u32 {
        self.ask(instance, func, |_, value: f32| value.to_bits()).await
    }

    async fn call_func_ret_f64(&mut self, instance: &str, func: &str) -> u64 {
        self.ask(instance, func, |_, value: f64| value.to_bits()).await
    }
}

#[cfg(test)]
#[path = "../tests/unit/snapshot.rs"]
mod tests;
