//! One copy of a program: its memory, its handles, and one request at a time.

use wasmtime::component::{ComponentExportIndex, ComponentNamedList, Lift, Lower, Resource, TypedFunc, WasmList};
use wasmtime::{Result, Store, UpdateDeadline};
use wasmtime_wasi_http::p2::bindings::{Proxy, ProxyIndices};
use wasmtime_wasi_http::p2::types::{HostIncomingRequest, HostResponseOutparam};
#[cfg(feature = "wasi03")]
use {
    std::sync::Arc,
    wasmtime::component::Accessor,
    wasmtime_wasi_http::p3::bindings::{Service, ServiceIndices},
};

use crate::program::Program;
use crate::recycle::ResetPlan;
use crate::reuse::Reuse;
use crate::state::{Refused, StoreData};
use crate::sys::{Discarded, Memory};
use crate::trap::Late;

/// A copy of a program. Its memory is made when it serves its first request.
pub(crate) struct Instance {
    pub(crate) store: Store<StoreData>,
    proxy: Option<Proxy>,
    #[cfg(feature = "wasi03")]
    service: Option<Arc<Service>>,
    /// `None` while the guest runs: an instance whose guest did not return is not used again.
    live: Option<wasmtime::component::Instance>,
    /// The number of requests it has begun.
    pub(crate) served: u32,
    /// Whether to prepare it for a reset when it is made.
    is_to_be_reset: bool,
    /// Set if it was prepared for a reset.
    pub(crate) reset: Option<Reset>,
    resets: u32,
    /// Handles that its requests have left open.
    left_open: usize,
}

/// What a reset needs of an instance.
pub(crate) struct Reset {
    globals: TypedFunc<(), (u32,)>,
    memory: Memory,
}

impl Instance {
    pub(crate) fn new(program: &Program, reuse: Option<Reuse>) -> Self {
        let mut store = Store::new(program.pre.engine(), StoreData::new(&program.grants, reuse));
        set_limits(&mut store);
        Self {
            store,
            proxy: None,
            #[cfg(feature = "wasi03")]
            service: None,
            live: None,
            served: 0,
            is_to_be_reset: false,
            reset: None,
            resets: 0,
            left_open: 0,
        }
    }

    /// The same, prepared for a reset after its request if `is_to_be_reset`.
    pub(crate) fn with_reset(self, is_to_be_reset: bool) -> Self {
        Self { is_to_be_reset: is_to_be_reset && self.reuse().is_none(), ..self }
    }

    /// Whether it serves again without a reset.
    pub(crate) fn reuse(&self) -> Option<Reuse> {
        self.store.data().reuse
    }

    /// The limit beyond which it asked for memory, if it did.
    pub(crate) fn was_refused_memory(&self) -> Option<Refused> {
        self.store.data().was_refused_memory()
    }

    /// Has the guest handle a request. `make` puts the request into the table of [`StoreData`].
    pub(crate) async fn serve<F>(&mut self, program: &Program, indices: &ProxyIndices, make: F) -> Result<()>
    where
        F: FnOnce(&mut StoreData) -> Result<(Resource<HostIncomingRequest>, Resource<HostResponseOutparam>)>,
    {
        self.begin(program)?;
        let instance = self.live(program).await?;
        let proxy = match self.proxy.take() {
            Some(proxy) => proxy,
            None => indices.load(&mut self.store, &instance)?,
        };
        let (request, outparam) = make(self.store.data_mut())?;
        proxy.wasi_http_incoming_handler().call_handle(&mut self.store, request, outparam).await?;
        self.store.data_mut().services.end();
        self.proxy = Some(proxy);
        self.live = Some(instance);
        Ok(())
    }

    /// Runs `handle` with functions of WASI 0.3, which run concurrently, also after they have returned. When `handle`
    /// returns, nothing runs.
    #[cfg(feature = "wasi03")]
    pub(crate) async fn serve_concurrent<F>(
        &mut self,
        program: &Program,
        indices: &ServiceIndices,
        handle: F,
    ) -> Result<()>
    where
        F: AsyncFnOnce(&Accessor<StoreData>, &Arc<Service>) -> Result<()>,
    {
        let instance = self.live(program).await?;
        let service = match self.service.take() {
            Some(service) => service,
            None => Arc::new(indices.load(&mut self.store, &instance)?),
        };
        self.store.run_concurrent(async |accessor| handle(accessor, &service).await).await??;
        self.store.data_mut().services.end();
        self.service = Some(service);
        self.live = Some(instance);
        Ok(())
    }

    /// Calls a function of the guest, within the time of the request that it has begun.
    pub(crate) async fn call<P, R>(
        &mut self,
        program: &Program,
        function: &ComponentExportIndex,
        parameters: P,
    ) -> Result<R>
    where
        P: ComponentNamedList + Lower + Send + Sync,
        R: ComponentNamedList + Lift + Send + Sync + 'static,
    {
        let instance = self.live(program).await?;
        let function = instance.get_typed_func::<P, R>(&mut self.store, function)?;
        let result = function.call_async(&mut self.store, parameters).await?;
        self.live = Some(instance);
        Ok(result)
    }

    /// Calls an exported function with values.
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) async fn call_by_name(
        &mut self,
        program: &Program,
        name: &str,
        arguments: &[wasmtime::component::Val],
    ) -> Result<Vec<wasmtime::component::Val>> {
        let instance = self.live(program).await?;
        let function = instance.get_func(&mut self.store, name).ok_or_else(|| wasmtime::Error::msg("no function"))?;
        let count = function.ty(&self.store).results().len();
        let mut results = vec![wasmtime::component::Val::Bool(false); count];
        function.call_async(&mut self.store, arguments, &mut results).await?;
        self.live = Some(instance);
        Ok(results)
    }

    /// The contents of its memory. A later reset restores the globals as they are now.
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) async fn contents(&mut self, program: &Program) -> Vec<u8> {
        let plan = program.reset.unwrap();
        self.begin(program).unwrap();
        let instance = self.live(program).await.unwrap();
        let tell = instance.get_typed_func::<(), (WasmList<u8>,)>(&mut self.store, plan.memory).unwrap();
        let (all,) = tell.call_async(&mut self.store, ()).await.unwrap();
        self.live = Some(instance);
        all.as_le_slice(&self.store).to_vec()
    }

    /// Gives it time and fuel for one more request, however often its guest is called for it.
    pub(crate) fn begin(&mut self, program: &Program) -> Result<()> {
        self.served = self.served.saturating_add(1);
        self.set_deadline(program)
    }

    fn set_deadline(&mut self, program: &Program) -> Result<()> {
        self.store.data_mut().deadline = program.grants.clock.now().saturating_add(program.limits.ticks);
        program.limits.fuel.map_or(Ok(()), |fuel| self.store.set_fuel(fuel))
    }

    /// The instance, made if this is its first request.
    pub(crate) async fn live(&mut self, program: &Program) -> Result<wasmtime::component::Instance> {
        self.store.set_epoch_deadline(UNDISTURBED);
        if let Some(instance) = self.live.take() {
            return Ok(instance);
        }
        let instance = program.pre.instantiate_async(&mut self.store).await?;
        if let Some(init) = &program.init {
            init.call(&mut self.store, &instance).await?;
        }
        if let Some(plan) = program.reset.as_ref().filter(|_| self.is_to_be_reset) {
            self.reset = self.prepare_reset(program, plan, &instance).await.ok();
        }
        Ok(instance)
    }

    async fn prepare_reset(
        &mut self,
        program: &Program,
        plan: &ResetPlan,
        instance: &wasmtime::component::Instance,
    ) -> Result<Reset> {
        let tell = instance.get_typed_func::<(), (WasmList<u8>,)>(&mut self.store, &plan.memory)?;
        let globals = instance.get_typed_func(&mut self.store, plan.reset)?;
        let (all,) = tell.call_async(&mut self.store, ()).await?;
        let memory = Memory::new(&all, &self.store);
        let image = program.image.get_or_init(|| memory.read(&all, &mut self.store));
        memory.forget(&mut self.store, image);
        Ok(Reset { globals, memory })
    }

    /// Restores what it was when it was made, so that the next request may use it. After an error it must be dropped.
    pub(crate) async fn reset(&mut self, program: &Program) -> std::result::Result<(), Discarded> {
        self.set_deadline(program).map_err(|_| GLOBALS)?;
        // It has none either if its guest did not return.
        let (Some(reset), Some(_), Some(image)) = (&mut self.reset, &self.live, program.image.get()) else {
            return Err(Discarded("it was not prepared for a reset"));
        };
        let state = self.store.data_mut();
        if self.resets >= RESETS {
            return Err(Discarded("it has been reset often enough"));
        }
        if state.was_refused_memory().is_some() {
            return Err(Discarded("it was refused memory"));
        }
        // The host's side of open handles is dropped with the state. The guest's side remains, though no guest knows
        // its numbers.
        self.left_open += state.open_handles();
        if self.left_open > MOST_LEFT_OPEN {
            return Err(Discarded("it has left many handles open"));
        }
        let (size,) = reset.globals.call_async(&mut self.store, ()).await.map_err(|_| GLOBALS)?;
        // A memory never shrinks.
        if size as usize * WASM_PAGE != reset.memory.length() {
            return Err(Discarded("its memory has grown"));
        }
        self.store.data_mut().reset(reset.memory.length());
        (self.served, self.resets) = (0, self.resets + 1);
        reset.memory.reset(&mut self.store, image, program.shortcut.as_deref())
    }
}

const GLOBALS: Discarded = Discarded("its globals cannot be restored");

/// An instance is reset at most this often, which bounds what the engine may accumulate in its store.
const RESETS: u32 = 10_000;

/// An instance may have left this many handles open: a hundredth of the 100 000 that wasmtime allows in a store, beyond
/// which another request would fail. The first `println!` of Rust's standard library leaves two or three.
const MOST_LEFT_OPEN: usize = 1000;

/// The unit of memory sizes.
const WASM_PAGE: usize = 64 << 10;

/// A guest that computes yields. Each turn lets the thread poll for events once, and a request takes some: its
/// connection, its bytes, its response.
async fn yield_to_others() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

const TURNS: u32 = 8;

/// A guest yields for the first time at the second tick. After one tick it would be chance: the guest that runs then
/// waits for all others, and of a hundred responses of 80 us one took 20 ms.
const UNDISTURBED: u64 = 2;

/// Bounds memory and time of a store by its [`StoreData`].
pub(crate) fn set_limits(store: &mut Store<StoreData>) {
    store.limiter(|state| state);
    store.epoch_deadline_callback(|store| {
        if store.data().is_late() {
            return Err(Late.into());
        }
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(yield_to_others())))
    });
    store.set_epoch_deadline(1);
}
