//! What components of Skep may ask their host for, beyond WASI: `wit/skep.wit`.
//!
//! An [`Application`] is what outlives its versions: folder, caches, keys. A [`Version`] has the database that it was opened with. An
//! [`Instance`] has what ends with one instance: its transaction, and the body of the request that it reads. Nothing of the host's crosses but
//! values.
//!
//! Start reading at [`Guest`] and [`add_to_linker`].

mod cache;
pub(crate) mod jobs;
mod kept;
mod offload;
mod requests;
mod sql;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skep::Body;
use skep::cx::RequestId;
use skep::hosted::Hosted;
use skep::sql::Transaction;
use wasmtime::Result;
use wasmtime::component::Linker;

use crate::source::Hash;
use crate::state::Grants;
pub(crate) use jobs::Jobs;
pub(crate) use kept::{FOLDER, Kept, Server, apart};
use offload::OnPool;
pub(crate) use requests::{Current, FIELD, Sender, seed};
use sql::Opened;

/// The packages of which all is there.
pub(crate) const PACKAGES: &[&str] = &["skep:host"];

/// True if the component imports something of them.
pub(crate) fn asked(host: &crate::engine::Host, component: &wasmtime::component::Component) -> bool {
    let kind = component.component_type();
    kind.imports(host.engine()).any(|(name, _)| PACKAGES.contains(&name.split('/').next().unwrap_or(name)))
}

/// Tells instances which version they are of, if something is kept for them: pages that another version made are not theirs.
pub(crate) fn build(grants: &Grants, content: &Hash) -> Option<(String, String)> {
    grants.version.is_some().then(|| ("SKEP_BUILD".to_owned(), content.number().to_string()))
}

/// The interface of this name.
pub(crate) fn version(interface: &str) -> String {
    format!("skep:host/{interface}@0.1.0")
}

/// What an application keeps beyond its versions.
#[derive(Debug)]
pub(crate) struct Application {
    pub(crate) hosted: Hosted,
    /// A new version may run migrations that do more than add, while the old one serves.
    allow_breaking: bool,
    /// Goes before keys of its caches: other applications may keep theirs in the same place.
    prefix: [u8; 8],
    /// The database as the last version has opened it.
    database: sql::Slot,
}

/// What one version of an application has opened.
#[derive(Debug)]
pub(crate) struct Version {
    application: Arc<Application>,
    database: std::sync::OnceLock<Arc<Opened>>,
    /// Whether an instance has asked for what is kept.
    was_asked: AtomicBool,
}

/// What belongs to one instance.
#[derive(Default)]
pub(crate) struct Instance {
    version: Option<Arc<Version>>,
    transaction: Option<Transaction>,
    /// What it alone may compute.
    leases: cache::Leases,
    /// What is not read yet of the body of its request.
    pub(crate) body: Option<Body>,
    /// Which request it is at, for the log.
    pub(crate) request: Current,
}

/// The data of a store, as far as services need it.
pub(crate) trait Guest: Send {
    /// What belongs to this instance.
    fn services(&mut self) -> &mut Instance;

    /// The program asks to be kept for so many requests, and to end after being idle so long; or to end after this request.
    fn keep(&mut self, reuse: Option<(u32, Duration)>);
}

impl Application {
    /// What an application of this name keeps, opened as `setup` says.
    pub(crate) fn new(name: &str, setup: skep::Setup, allow_breaking: bool) -> skep::Result<Arc<Self>> {
        use sha2::{Digest, Sha256};
        let folder = std::path::absolute(&setup.data).unwrap_or_else(|_| setup.data.clone());
        let digest = Sha256::new()
            .chain_update(name)
            .chain_update([0])
            .chain_update(folder.as_os_str().as_encoded_bytes())
            .finalize();
        let prefix = std::array::from_fn(|nth| digest[nth]);
        let hosted = Hosted::new(name, setup)?;
        Ok(Arc::new(Self { hosted, allow_breaking, prefix, database: sql::Slot::default() }))
    }

    /// For one version of it.
    pub(crate) fn version(self: &Arc<Self>) -> Arc<Version> {
        Arc::new(Version {
            application: Arc::clone(self),
            database: std::sync::OnceLock::new(),
            was_asked: AtomicBool::new(false),
        })
    }
}

impl Version {
    /// True if an instance has asked for the database, a cache or the keys.
    pub(crate) fn was_asked(&self) -> bool {
        self.was_asked.load(Ordering::Relaxed)
    }
}

impl Instance {
    pub(crate) fn new(version: Option<&Arc<Version>>) -> Self {
        Self { version: version.cloned(), ..Self::default() }
    }

    fn version(&self) -> Result<&Arc<Version>, String> {
        let version =
            self.version.as_ref().ok_or("this host keeps nothing for this application: give it a folder for data")?;
        // All threads read it, and the first writes.
        if !version.was_asked.load(Ordering::Relaxed) {
            version.was_asked.store(true, Ordering::Relaxed);
        }
        Ok(version)
    }

    fn application(&self) -> Result<Arc<Application>, String> {
        self.version().map(|version| Arc::clone(&version.application))
    }

    /// True if start-up code has left nothing open here.
    pub(crate) fn is_clean(&self) -> bool {
        self.transaction.is_none()
    }

    /// A request begins. What is logged belongs to it.
    pub(crate) fn begin(&mut self, id: RequestId) {
        self.request.set(id);
    }

    /// Undoes a transaction that was left open.
    pub(crate) fn undo(&mut self) {
        self.transaction = None;
    }

    /// It ended: what it has left open is undone.
    pub(crate) fn end(&mut self) {
        self.transaction = None;
        self.body = None;
        self.leases.give_back();
    }
}

/// Offers all of it to components.
pub(crate) fn add_to_linker<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    sql::add_to_linker(linker)?;
    cache::add_to_linker(linker)?;
    requests::add_to_linker(linker)?;
    let mut secrets = linker.instance("skep:host/secrets@0.1.0")?;
    secrets.func_wrap_async("keys", |mut store, (): ()| {
        let application = store.data_mut().services().application();
        Box::new(async move {
            let application = match application {
                Ok(application) => application,
                Err(problem) => return Ok((Err(problem),)),
            };
            // They are made when they are first asked for, which waits for the disk.
            let pool = Arc::clone(&application.hosted.setup().offload);
            let keys = skep::offload::offload(&*pool, move || application.hosted.keys()).await;
            let keys = keys.map_err(|lost| lost.to_string()).and_then(|keys| keys.map_err(|error| error.to_string()));
            Ok((keys,))
        })
    })?;
    let mut module = linker.instance("skep:host/module@0.1.0")?;
    module.func_wrap("keep", |mut store, (requests, idle): (u32, u64)| {
        store.data_mut().keep(Some((requests, Duration::from_millis(idle))));
        Ok(())
    })?;
    module.func_wrap("release", |mut store, (): ()| {
        store.data_mut().keep(None);
        Ok(())
    })
}
