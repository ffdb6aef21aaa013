//! One copy of a program: its memory, its handles, and one request at a time.

use std::sync::Arc;

use wasmtime::component::{Accessor, Resource, TypedFunc, WasmList};
use wasmtime::{AsContextMut, Result, Store, UpdateDeadline};
use wasmtime_wasi_http::p2::bindings::{Proxy, ProxyIndices};
use wasmtime_wasi_http::p2::types::{HostIncomingRequest, HostResponseOutparam};
use wasmtime_wasi_http::p3::bindings::{Service, ServiceIndices};

use crate::ready::Ready;
use crate::renew::Renewal;
use crate::reuse::Reuse;
use crate::state::State;
use crate::sys::Memory;

/// A copy of a program. Its memory is made when it begins to serve.
pub(crate) struct Instance {
    pub(crate) store: Store<State>,
    proxy: Option<Proxy>,
    service: Option<Arc<Service>>,
    /// There is none while it is at work: only one that came back from its guest is used again.
    made: Option<wasmtime::component::Instance>,
    served: u32,
    /// It is to be put back after its request.
    is_to_be_renewed: bool,
    /// What that takes.
    renewable: Option<Renewable>,
    renewals: u32,
    /// Handles that its requests have left open.
    left_open: usize,
}

/// How an instance is put back.
struct Renewable {
    back: TypedFunc<(), (u32,)>,
    memory: Memory,
}

/// The time of a request was up while its guest computed.
#[derive(Debug)]
pub(crate) struct Late;

impl std::fmt::Display for Late {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("its time is up")
    }
}

impl std::error::Error for Late {}

impl Instance {
    pub(crate) fn new(ready: &Ready, reuse: Option<Reuse>) -> Self {
        let mut store = Store::new(ready.pre.engine(), State::new(&ready.grants, reuse));
        limit(&mut store);
        Self {
            store,
            proxy: None,
            service: None,
            made: None,
            served: 0,
            is_to_be_renewed: false,
            renewable: None,
            renewals: 0,
            left_open: 0,
        }
    }

    /// The same, and whether it is to be put back after its request.
    pub(crate) fn with_renewal(self, is_to_be_renewed: bool) -> Self {
        Self { is_to_be_renewed: is_to_be_renewed && self.reuse().is_none(), ..self }
    }

    /// True if it was prepared for being put back.
    pub(crate) fn is_renewable(&self) -> bool {
        self.renewable.is_some()
    }

    /// How many requests it has begun.
    pub(crate) fn served(&self) -> u32 {
        self.served
    }

    /// Whether it serves again.
    pub(crate) fn reuse(&self) -> Option<Reuse> {
        self.store.data().reuse
    }

    /// True if it asked for more memory than it may have, whatever became of it then.
    pub(crate) fn was_refused_memory(&self) -> bool {
        self.store.data().was_refused_memory()
    }

    /// Has the guest handle a request. What was made of it in [`State`]'s table comes in as `make` gives it.
    pub(crate) async fn serve<F>(&mut self, ready: &Ready, indices: &ProxyIndices, make: F) -> Result<()>
    where
        F: FnOnce(&mut State) -> Result<(Resource<HostIncomingRequest>, Resource<HostResponseOutparam>)>,
    {
        self.begin(ready)?;
        let instance = self.live(ready).await?;
        let proxy = match self.proxy.take() {
            Some(proxy) => proxy,
            None => indices.load(&mut self.store, &instance)?,
        };
        let (request, outparam) = make(self.store.data_mut())?;
        proxy.wasi_http_incoming_handler().call_handle(&mut self.store, request, outparam).await?;
        self.store.data_mut().services.end();
        self.proxy = Some(proxy);
        self.came_back(instance);
        Ok(())
    }

    /// Has the guest do what `handle` does with it, as functions of WASI 0.3 are called: they run beside each other, and on when they have
    /// returned. Once `handle` is done, nothing runs.
    pub(crate) async fn serve_concurrent<F>(&mut self, ready: &Ready, indices: &ServiceIndices, handle: F) -> Result<()>
    where
        F: AsyncFnOnce(&Accessor<State>, &Arc<Service>) -> Result<()>,
    {
        let instance = self.live(ready).await?;
        let service = match self.service.take() {
            Some(service) => service,
            None => Arc::new(indices.load(&mut self.store, &instance)?),
        };
        self.store.run_concurrent(async |accessor| handle(accessor, &service).await).await??;
        self.store.data_mut().services.end();
        self.service = Some(service);
        self.came_back(instance);
        Ok(())
    }

    /// All that its memory holds.
    #[cfg(test)]
    pub(crate) async fn contents(&mut self, ready: &Ready) -> Vec<u8> {
        let instance = self.live(ready).await.unwrap();
        let memory = ready.renewal.unwrap().memory;
        let tell = instance.get_typed_func::<(), (WasmList<u8>,)>(&mut self.store, memory).unwrap();
        let (all,) = tell.call_async(&mut self.store, ()).await.unwrap();
        all.as_le_slice(&self.store).to_vec()
    }

    /// Gives it time and fuel for one more request, however often its guest is called for it.
    pub(crate) fn begin(&mut self, ready: &Ready) -> Result<()> {
        self.served = self.served.saturating_add(1);
        begin(&mut self.store, ready)
    }

    /// It has begun so many requests that this did not see.
    pub(crate) fn count(&mut self, requests: u32) {
        self.served = self.served.saturating_add(requests);
    }

    /// The instance; made, if this is its first request.
    pub(crate) async fn live(&mut self, ready: &Ready) -> Result<wasmtime::component::Instance> {
        self.store.set_epoch_deadline(UNDISTURBED);
        if let Some(instance) = self.made.take() {
            return Ok(instance);
        }
        let instance = ready.pre.instantiate_async(&mut self.store).await?;
        if let Some(init) = &ready.init {
            init.call(&mut self.store, &instance).await?;
        }
        if let Some(renewal) = ready.renewal.as_ref().filter(|_| self.is_to_be_renewed) {
            self.renewable = self.renewable(ready, renewal, &instance).await.ok();
        }
        Ok(instance)
    }

    async fn renewable(
        &mut self,
        ready: &Ready,
        renewal: &Renewal,
        instance: &wasmtime::component::Instance,
    ) -> Result<Renewable> {
        let tell = instance.get_typed_func::<(), (WasmList<u8>,)>(&mut self.store, &renewal.memory)?;
        let back = instance.get_typed_func(&mut self.store, renewal.back)?;
        let (all,) = tell.call_async(&mut self.store, ()).await?;
        let memory = Memory::of(&all, &self.store);
        let pages = ready.pages.get_or_init(|| memory.read(&all, &mut self.store));
        memory.forget(&mut self.store, pages);
        Ok(Renewable { back, memory })
    }

    /// Puts it back to how it was when it was made. Where something of it cannot be, it says what: then it is thrown away.
    pub(crate) async fn renew(&mut self, ready: &Ready) -> std::result::Result<(), &'static str> {
        let (Some(renewable), Some(_), Some(pages)) = (&mut self.renewable, &self.made, ready.pages.get()) else {
            return Err("it was not prepared for it");
        };
        let state = self.store.data_mut();
        if self.renewals >= RENEWALS {
            return Err("it has served often enough");
        }
        if state.was_refused_memory() {
            return Err("it was refused memory");
        }
        // The host's side of them goes with its state. The guest's side stays, though nobody knows its numbers any more.
        self.left_open += state.open_handles();
        if self.left_open > MOST_LEFT_OPEN {
            return Err("it has left many handles open");
        }
        begin(&mut self.store, ready).map_err(|_| "it has no fuel")?;
        let size =
            renewable.back.call_async(&mut self.store, ()).await.map_err(|_| "its globals cannot be put back")?;
        // Memory that has grown does not shrink.
        if size.0 as usize * WASM_PAGE != renewable.memory.length() {
            return Err("its memory has grown");
        }
        self.store.data_mut().renew(renewable.memory.length());
        (self.served, self.renewals) = (0, self.renewals + 1);
        let is_back = renewable.memory.put_back(&mut self.store, pages);
        if is_back { Ok(()) } else { Err("it has written too much") }
    }

    /// Its guest has returned.
    pub(crate) fn came_back(&mut self, instance: wasmtime::component::Instance) {
        self.made = Some(instance);
    }
}

/// So often an instance is put back. What the engine itself might keep of each request has an end with it.
const RENEWALS: u32 = 10_000;

/// So many handles may have been left open in it: a hundredth of what wasmtime allows (100 000 in a store), beyond which it would be an innocent
/// request that fails. The first `println!` of Rust's standard library leaves two or three.
const MOST_LEFT_OPEN: usize = 1000;

/// What sizes of memories are counted in.
const WASM_PAGE: usize = 64 << 10;

/// Gives what runs in a store time and fuel for a request, from now on.
pub(crate) fn begin(store: &mut impl AsContextMut<Data = State>, ready: &Ready) -> Result<()> {
    let mut store = store.as_context_mut();
    store.data_mut().deadline = ready.grants.clock.now().saturating_add(ready.limits.ticks);
    ready.limits.fuel.map_or(Ok(()), |fuel| store.set_fuel(fuel))
}

/// A guest that computes gives way. Each turn lets the thread look once for what has arrived, and a request takes some: its
/// connection, its bytes, its answer.
async fn let_others() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

const TURNS: u32 = 8;

/// A guest gives way for the first time at the tick after the next one. With one tick, it would be chance: who happens to run when it comes
/// waits for all others, and an answer of 80 us was one of a hundred that took 20 ms.
const UNDISTURBED: u64 = 2;

/// Memory and time of what runs in a store are those of its [`State`].
pub(crate) fn limit(store: &mut Store<State>) {
    store.limiter(|state| state);
    store.epoch_deadline_callback(|store| {
        if store.data().is_late() {
            return Err(Late.into());
        }
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(let_others())))
    });
    store.set_epoch_deadline(1);
}
