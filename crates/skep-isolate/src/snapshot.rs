//! Start-up code that runs once: its memory becomes the component's own.
//!
//! A component says that it has start-up code by exporting a function for it ([`Init::of`]). It is run in an instance whose clocks stand,
//! that has no network and no random numbers worth the name, and then memories and globals are written back into the component. What
//! start-up code may not do, it is told by name: it would be the same for every request from then on.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use wasmparser::Payload;
use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{Component, ComponentExportIndex, ComponentNamedList, Instance, Lift, WasmList};
use wasmtime::{Store, Trap, WasmBacktrace};
use wasmtime_wizer::{ComponentContext, ComponentInstanceState, Wizer};

use crate::answer::told;
use crate::compiled::Compiled;
use crate::disk::Disk;
use crate::engine::{Clock, Host, any_of_its_own};
use crate::error::Wrong;
use crate::instance::{self, Late};
use crate::options::Options;
use crate::reuse::ModuleCache;
use crate::services::seed;
use crate::source::Hash;
use crate::state::{Frozen, Grants, State};

/// How long start-up code may take, what it waits counted.
const PATIENCE: Duration = Duration::from_mins(1);

/// What it is called.
const NAMES: [&str; 2] = ["init", "wizer-initialize"];

/// What the snapshotter adds to the exports of a component.
pub(crate) const ACCESS: &str = "wasmtime:wizer/";

/// The start-up code of a component.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Init {
    /// `init: func() -> result<_, string>`, as `wit/skep.wit` has it.
    Skep(ComponentExportIndex),
    /// `wizer-initialize: func()`, as the tool Wizer has it.
    Wizer(ComponentExportIndex),
}

impl Init {
    /// The start-up code, if the component exports any.
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let function = |name: &str| match component.get_export(None, name)? {
            (ComponentItem::ComponentFunc(function), index) if function.params().len() == 0 => Some((function, index)),
            _ => None,
        };
        let gives_result = |function: &ComponentFunc| matches!(function.results().next(), Some(Type::Result(_)));
        let [ours, wizers] = NAMES;
        let ours = function(ours).filter(|(init, _)| gives_result(init)).map(|(_, index)| Self::Skep(index));
        let wizer = || function(wizers).filter(|(init, _)| init.results().len() == 0);
        ours.or_else(|| wizer().map(|(_, index)| Self::Wizer(index)))
    }

    /// True if a component that is not compiled yet exports something of such a name.
    pub(crate) fn is_in(component: &[u8]) -> bool {
        exports(component, |name| NAMES.contains(&name))
    }

    /// Runs it.
    pub(crate) async fn call(&self, store: &mut Store<State>, instance: &Instance) -> wasmtime::Result<()> {
        match self {
            Self::Skep(index) => {
                let init = instance.get_typed_func::<(), (Result<(), String>,)>(&mut *store, index)?;
                let (done,) = init.call_async(store, ()).await?;
                done.map_err(|why| wasmtime::Error::msg(format!("the application does not start: {why}")))
            }
            Self::Wizer(index) => instance.get_typed_func::<(), ()>(&mut *store, index)?.call_async(store, ()).await,
        }
    }
}

/// True if a component that is not compiled yet exports something under such a name.
pub(crate) fn exports(component: &[u8], is_such: impl Fn(&str) -> bool) -> bool {
    any_of_its_own(component, |payload| match payload {
        Payload::ComponentExportSection(exports) => {
            exports.clone().into_iter().flatten().any(|export| is_such(export.name.name))
        }
        _ => false,
    })
}

/// A component whose start-up code can be run, and what it has made of its memory be read.
pub(crate) struct Start<'w> {
    wizer: Wizer,
    context: ComponentContext<'w>,
    version: Hash,
    /// The component with functions to read its memory.
    instrumented: Vec<u8>,
    host: Host,
    pub(crate) code: Compiled,
}

impl<'w> Start<'w> {
    /// `None` if it has no start-up code.
    pub(crate) fn of(
        host: &Host,
        disk: Option<&Disk>,
        wasm: &'w [u8],
        options: &Options,
    ) -> Result<Option<Self>, Wrong> {
        if !Init::is_in(wasm) {
            return Ok(None);
        }
        let mut wizer = Wizer::new();
        // Not removed: cold instances of the same file call it, and nobody else can.
        wizer.keep_init_func(true);
        let instrumented = caught(|| wizer.instrument_component(wasm).map_err(|error| unfit(&error)));
        // What is wrong with the component itself, its compiler says better.
        let (context, instrumented) =
            instrumented.or_else(|why| Compiled::for_once(host, disk, wasm, options).and(Err(why)))?;
        let code = Compiled::for_once(host, disk, &instrumented, options)?;
        let start = Self { wizer, context, version: Hash::of(wasm), instrumented, host: host.clone(), code };
        Ok(Init::of(&start.code.component).map(|_| start))
    }

    /// The component with start-up code behind it.
    pub(crate) fn image(self, disk: Option<&Disk>, grants: &Arc<Grants>) -> Result<Vec<u8>, Wrong> {
        self.image_within(disk, grants, PATIENCE)
    }

    fn image_within(self, disk: Option<&Disk>, grants: &Arc<Grants>, patience: Duration) -> Result<Vec<u8>, Wrong> {
        let runtime = runtime()?;
        caught(|| runtime.block_on(self.make(disk, grants, patience)))
    }

    async fn make(self, disk: Option<&Disk>, grants: &Arc<Grants>, patience: Duration) -> Result<Vec<u8>, Wrong> {
        let optimise = || Compiled::of_wasm(&self.host, disk, &self.instrumented);
        let ran = ran(&self.code, optimise, disk, &self.version, grants, patience).await?;
        let running = &mut Running { store: ran.store, instance: ran.instance };
        self.wizer.snapshot_component(&self.context, running).await.map_err(|error| unfit(&error))
    }
}

/// Start-up code of a version that has run.
pub(crate) struct Ran {
    pub(crate) store: Store<State>,
    pub(crate) instance: Instance,
}

/// Runs start-up code, in a minute.
pub(crate) fn ran_once<T>(
    code: &Compiled,
    optimise: impl FnOnce() -> Result<Compiled, Wrong>,
    disk: Option<&Disk>,
    version: &Hash,
    grants: &Arc<Grants>,
    then: impl AsyncFnOnce(Ran) -> Result<T, Wrong>,
) -> Result<T, Wrong> {
    runtime()?.block_on(async { then(ran(code, optimise, disk, version, grants, PATIENCE).await?).await })
}

/// Runs start-up code for an image; of optimised code, if it was too slow for this.
async fn ran(
    code: &Compiled,
    optimise: impl FnOnce() -> Result<Compiled, Wrong>,
    disk: Option<&Disk>,
    version: &Hash,
    grants: &Arc<Grants>,
    patience: Duration,
) -> Result<Ran, Wrong> {
    let (a, b) = seed();
    let drawn = u128::from(a) << 64 | u128::from(b);
    let seed = disk.and_then(|disk| disk.seed(version)).unwrap_or(drawn);
    let (mut frozen, mut store, mut ran) = begin(code, seed, grants, patience).await?;
    if code.host.is_baseline() && ran.as_ref().is_err_and(is_for_want_of_speed) {
        (frozen, store, ran) = begin(&optimise()?, seed, grants, patience).await?;
    }
    // What it asked for in vain is why it failed, if it did.
    refuse(&frozen)?;
    let instance = ran.map_err(|error| failed(&error, store.data()))?;
    holds_nothing(store.data())?;
    Ok(Ran { store, instance })
}

async fn begin(
    code: &Compiled,
    seed: u128,
    grants: &Arc<Grants>,
    patience: Duration,
) -> Result<(Arc<Frozen>, Store<State>, wasmtime::Result<Instance>), Wrong> {
    let frozen = Arc::new(Frozen::new(seed));
    let mut store = Store::new(code.host.engine(), State::for_image(grants, &frozen));
    let ran = run(&code.host, &code.component, &mut store, patience).await?;
    Ok((frozen, store, ran))
}

/// True if it might have done better with optimised code, which takes less time and less of the stack.
fn is_for_want_of_speed(error: &wasmtime::Error) -> bool {
    error.is::<Late>() || error.is::<NotDone>() || error.downcast_ref() == Some(&Trap::StackOverflow)
}

/// What came of start-up code. Where that is allowed, what keeps it from being an image has it run for each request.
pub(crate) fn or_cold<T>(came: Result<Option<T>, Wrong>, options: &Options) -> Result<Option<T>, Wrong> {
    came.or_else(|why| {
        if options.module_cache != (ModuleCache::Snapshot { or_cold: true }) {
            return Err(why);
        }
        tracing::warn!(target: "skep::isolate", app = options.name, "start-up code runs for each request: {why}");
        Ok(None)
    })
}

/// The snapshotter takes some components for impossible and panics.
fn caught<T>(snapshot: impl FnOnce() -> Result<T, Wrong>) -> Result<T, Wrong> {
    catch_unwind(AssertUnwindSafe(snapshot))
        .unwrap_or_else(|_| Err(Wrong::with("cannot be snapshot: the snapshotter cannot read it")))
}

fn unfit(error: &wasmtime::Error) -> Wrong {
    Wrong(format!("cannot be snapshot: {error:#}; --module-cache cold or cached serves it without"))
}

/// Runs start-up code whose memory is in an image already, for what it does beyond that: it opens the database, say. It may ask for
/// whatever it likes, since nobody else has its memory.
pub(crate) fn again(host: &Host, component: &Component, grants: &Arc<Grants>) -> Result<(), Wrong> {
    let mut store = Store::new(host.engine(), State::new(grants, None));
    runtime()?.block_on(async {
        let ran = run(host, component, &mut store, PATIENCE).await?;
        ran.map(drop).map_err(|error| failed(&error, store.data()))
    })
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Wrong> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Wrong(format!("cannot run start-up code: {error}")))
}

/// Runs start-up code, within its time, and says how it ended.
async fn run(
    host: &Host,
    component: &Component,
    store: &mut Store<State>,
    patience: Duration,
) -> Result<wasmtime::Result<Instance>, Wrong> {
    instance::limit(store);
    store.data_mut().deadline = host.clock.now().saturating_add(Clock::ticks(patience));
    if host.counts_fuel() {
        store.set_fuel(u64::MAX).map_err(|error| failed(&error, store.data()))?;
    }
    let _work = host.clock.work();
    let linked = host.linker().instantiate_pre(component).map_err(|error| failed(&error, store.data()))?;
    let init = Init::of(component).ok_or_else(|| Wrong::with("lost its start-up code"))?;
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

/// What start-up code died of, and what it said itself if it did not return.
fn failed(error: &wasmtime::Error, state: &State) -> Wrong {
    let (told, said) = (told(error), state.services.request.said());
    let has_returned = error.downcast_ref::<WasmBacktrace>().is_none();
    if has_returned || said.is_empty() {
        return Wrong(format!("start-up code failed: {told}"));
    }
    Wrong(format!("start-up code failed: {said}; {told}"))
}

fn refuse(frozen: &Frozen) -> Result<(), Wrong> {
    let asked = frozen.asked();
    if asked.is_empty() {
        return Ok(());
    }
    Err(Wrong(format!(
        "start-up code asked for {}: what it got would be the same in every request, from then on; ask in the request, or serve \
         it with --module-cache cold (or snapshot,cold, which falls back by itself)",
        asked.join(" and ")
    )))
}

/// A handle in the image would be another request's handle: the table of resources is new for each.
fn holds_nothing(state: &State) -> Result<(), Wrong> {
    if state.is_table_empty() {
        return Ok(());
    }
    Err(Wrong::with(
        "start-up code left something of the host open (a file or a stream, such as standard output after a first print): \
         close it, or do it in the request; --module-cache cold serves it as it is",
    ))
}

/// The instance as the snapshotter looks into it.
struct Running {
    store: Store<State>,
    instance: Instance,
}

impl Running {
    async fn ask<R, T>(&mut self, interface: &str, name: &str, take: impl FnOnce(&Store<State>, R) -> T) -> T
    where
        R: Lift + 'static,
        (R,): ComponentNamedList,
    {
        let store = &mut self.store;
        store.data_mut().deadline = u64::MAX;
        // All of this is what the snapshotter itself has put in: `image` catches it if it has not.
        let interface = self.instance.get_export_index(&mut *store, None, interface).expect("its interface");
        let function = self.instance.get_export_index(&mut *store, Some(&interface), name).expect("its function");
        let function = self.instance.get_typed_func::<(), (R,)>(&mut *store, function).expect("its type");
        let (answer,) = function.call_async(&mut *store, ()).await.expect("its answer");
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
mod tests {
    use super::*;
    use crate::engine::Size;

    /// Start-up code that is not done, with so much patience.
    fn complaint(module: &str, patience: Duration) -> String {
        let component = format!(
            "(component {module} (func (export \"wizer-initialize\") (canon lift (core func $inner \"init\"))))"
        );
        let wasm = wat::parse_str(component).unwrap();
        let host = Host::new(Size { instances: 4, fuel: false }).unwrap();
        let grants = Arc::new(Grants { clock: Arc::clone(&host.clock), memory: 1 << 20, ..Grants::default() });
        let start = Start::of(&host, None, &wasm, &Options::default()).unwrap().unwrap();
        start.image_within(None, &grants, patience).unwrap_err().0
    }

    #[test]
    fn start_up_code_has_its_time() {
        let endless = "(core module $m (memory (export \"memory\") 1) (func (export \"init\") (loop (br 0)))) \
                       (core instance $inner (instantiate $m))";
        let begun = std::time::Instant::now();
        let told = complaint(endless, Duration::from_millis(200));
        assert!(told.contains("its time is up") || told.contains("was not done within 200ms"), "{told}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
