//! One copy of a program: its memory, its handles, and one request at a time.

use std::sync::Arc;

use wasmtime::component::{Accessor, Resource};
use wasmtime::{AsContextMut, Result, Store, UpdateDeadline};
use wasmtime_wasi_http::p2::bindings::{Proxy, ProxyIndices};
use wasmtime_wasi_http::p2::types::{HostIncomingRequest, HostResponseOutparam};
use wasmtime_wasi_http::p3::bindings::{Service, ServiceIndices};

use crate::ready::Ready;
use crate::reuse::Reuse;
use crate::state::State;

/// A copy of a program. Its memory is made when it begins to serve.
pub(crate) struct Instance {
    pub(crate) store: Store<State>,
    proxy: Option<Proxy>,
    service: Option<Arc<Service>>,
    /// There is none while it is at work: only one that came back from its guest is used again.
    made: Option<wasmtime::component::Instance>,
    served: u32,
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
        Self { store, proxy: None, service: None, made: None, served: 0 }
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
        self.store.set_epoch_deadline(1);
        if let Some(instance) = self.made.take() {
            return Ok(instance);
        }
        let instance = ready.pre.instantiate_async(&mut self.store).await?;
        if let Some(init) = &ready.init {
            init.call(&mut self.store, &instance).await?;
        }
        Ok(instance)
    }

    /// Its guest has returned.
    pub(crate) fn came_back(&mut self, instance: wasmtime::component::Instance) {
        self.made = Some(instance);
    }
}

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
