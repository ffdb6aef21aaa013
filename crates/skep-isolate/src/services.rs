//! What components of Skep may import beyond WASI: `wit/skep.wit`.
//!
//! An [`Application`] outlives its versions: data folder, caches, keys. A [`Version`] has the database that it was
//! opened with. An [`Instance`] has what ends with it: its transaction, and the body of its request. Only values cross
//! the border to a guest.
//!
//! Start reading at [`Guest`] and [`add_to_linker`].

mod cache;
mod requests;
mod sql;
mod taken;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skep::Body;
use skep::hosted::Hosted;
use skep::request::RequestId;
use skep::sql::Transaction;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Result};

pub(crate) use requests::{Current, FIELD, Sender};
use sql::Opened;
pub(crate) use taken::Taken;

/// The packages that are provided completely.
pub(crate) const PACKAGES: &[&str] = &["skep:host"];

/// True if the component imports one of them.
pub(crate) fn are_imported(engine: &Engine, component: &Component) -> bool {
    let kind = component.component_type();
    kind.imports(engine).any(|(name, _)| PACKAGES.contains(&name.split('/').next().unwrap_or(name)))
}

/// The full name of an interface.
pub(crate) fn versioned(interface: &str) -> String {
    format!("skep:host/{interface}@0.1.0")
}

/// What an application has beyond its versions.
#[derive(Debug)]
pub(crate) struct Application {
    pub(crate) hosted: Hosted,
    /// A new version may run breaking migrations while the old one serves.
    pub(crate) allow_breaking: bool,
    name: String,
    /// Which application has opened which database of PostgreSQL.
    taken: Taken,
    /// The prefix of its cache keys: applications may share a tier.
    prefix: [u8; 8],
    /// The database of the last version.
    database: sql::Slot,
}

/// What one version of an application has opened.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) application: Arc<Application>,
    database: std::sync::OnceLock<Arc<Opened>>,
    /// Whether an instance has used the database, a cache or the keys.
    was_used: AtomicBool,
}

/// What belongs to one instance.
#[derive(Default)]
pub(crate) struct Instance {
    version: Option<Arc<Version>>,
    transaction: Option<Transaction>,
    /// The leases that it holds.
    leases: cache::Leases,
    /// The unread rest of its request's body.
    pub(crate) body: Option<Body>,
    /// Its current request, for the log.
    pub(crate) request: Current,
}

/// The data of a store, as services need it.
pub(crate) trait Guest: Send {
    /// The part of this instance.
    fn services(&mut self) -> &mut Instance;

    /// The program asks to serve this many requests and to end when it was idle this long; or to end after this
    /// request.
    fn keep(&mut self, reuse: Option<(u32, Duration)>);
}

impl Application {
    /// Opens the data of an application.
    pub(crate) fn new(name: &str, setup: skep::Setup, allow_breaking: bool, taken: Taken) -> skep::Result<Arc<Self>> {
        use sha2::{Digest, Sha256};
        let folder = std::path::absolute(&setup.data).unwrap_or_else(|_| setup.data.clone());
        let digest = Sha256::new()
            .chain_update(name)
            .chain_update([0])
            .chain_update(folder.as_os_str().as_encoded_bytes())
            .finalize();
        let prefix = std::array::from_fn(|nth| digest[nth]);
        let hosted = Hosted::new(name, setup)?;
        let (name, database) = (name.to_owned(), sql::Slot::default());
        Ok(Arc::new(Self { hosted, allow_breaking, name, taken, prefix, database }))
    }

    /// Makes the part of a new version.
    pub(crate) fn version(self: &Arc<Self>) -> Arc<Version> {
        Arc::new(Version {
            application: Arc::clone(self),
            database: std::sync::OnceLock::new(),
            was_used: AtomicBool::new(false),
        })
    }
}

impl Version {
    /// True if an instance has used the database, a cache or the keys.
    pub(crate) fn was_used(&self) -> bool {
        self.was_used.load(Ordering::Relaxed)
    }
}

impl Instance {
    pub(crate) fn new(version: Option<&Arc<Version>>) -> Self {
        Self { version: version.cloned(), ..Self::default() }
    }

    fn version(&self) -> Result<&Arc<Version>, String> {
        let version =
            self.version.as_ref().ok_or("this host keeps nothing for this application: give it a folder for data")?;
        // All threads read it, and one writes.
        if !version.was_used.load(Ordering::Relaxed) {
            version.was_used.store(true, Ordering::Relaxed);
        }
        Ok(version)
    }

    fn application(&self) -> Result<Arc<Application>, String> {
        self.version().map(|version| Arc::clone(&version.application))
    }

    /// True if start-up code has left no transaction open.
    pub(crate) fn is_clean(&self) -> bool {
        self.transaction.is_none()
    }

    /// Begins a request, which owns the log lines from now on.
    pub(crate) fn begin(&mut self, id: RequestId) {
        self.request.set(id);
    }

    /// Rolls back an open transaction.
    pub(crate) fn undo(&mut self) {
        self.transaction = None;
    }

    /// Ends a request: rolls back its transaction and releases its leases.
    pub(crate) fn end(&mut self) {
        self.transaction = None;
        self.body = None;
        self.leases.give_back();
    }
}

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
            // The first call makes them, which waits for the disk.
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
