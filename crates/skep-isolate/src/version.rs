//! A version of an application: linked code, and what belongs to it while it serves.
//!
//! How a version comes to serve is in [`crate::stages`].

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::code::Code;
use crate::disk::Disk;
use crate::engine::Host;
use crate::error::Error;
use crate::exports::Exports;
use crate::hash::Hash;
use crate::init::Init;
use crate::instance::Instance;
use crate::limits::Limits;
use crate::pool::{Pool, PoolCounts};
use crate::program::Program;
use crate::recycle::ResetPlan;
use crate::reuse::Reuse;
use crate::state::Grants;
use crate::sys::Mapped;

pub(crate) struct Version {
    /// The hash of its file.
    pub(crate) hash: Hash,
    pub(crate) program: Program,
    pub(crate) exports: Exports,
    pub(crate) pool: Arc<Pool>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) made: Made,
    /// Its machine code, if that is mapped from a file. Its pages are released while no requests come.
    mapped: Option<Mapped>,
    quiet: Mutex<Quiet>,
    /// The component, if its code is not optimised yet.
    unoptimised: Option<Vec<u8>>,
    /// Others may use its engine while it is here.
    _host: Host,
}

/// What a version keeps when optimised code replaces its own.
pub(crate) struct Identity {
    pub(crate) hash: Hash,
    pub(crate) grants: Arc<Grants>,
    pub(crate) limits: Limits,
    pub(crate) reuse: Option<Reuse>,
    pub(crate) counts: Arc<Counts>,
    /// Instances may be reset.
    pub(crate) may_reset: bool,
    /// The setting `page_fault_shortcut`.
    pub(crate) uses_shortcut: bool,
}

/// How a version was made, for the status.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) module_cache: &'static str,
    pub(crate) has_image: bool,
    pub(crate) in_time: Duration,
    pub(crate) at: Instant,
    /// False while its code is the baseline compiler's.
    pub(crate) is_optimised: bool,
}

/// What happened to requests.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) running: AtomicU32,
    /// Requests that have begun, without probes.
    pub(crate) begun: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// Failed because all instances were busy.
    pub(crate) refused: AtomicU64,
    /// Failed because time or fuel ran out.
    pub(crate) killed: AtomicU64,
    pub(crate) instances: PoolCounts,
}

/// Since when no request has come.
struct Quiet {
    /// The number of requests then.
    begun: u64,
    since: Instant,
    is_released: bool,
}

/// Code is released after this time without a request.
const QUIET: Duration = Duration::from_secs(10);

impl Version {
    /// Links code.
    pub(crate) fn link(code: Code, made: Made, identity: Identity) -> Result<Self, Error> {
        let component = &code.component;
        let init = if code.has_image { None } else { Init::of(component) };
        let cannot = |error| Error::engine("cannot be linked", error);
        let pre = code.host.linker().instantiate_pre(component).map_err(cannot)?;
        let exports = Exports::of(&pre).map_err(cannot)?;
        let may_reset = identity.may_reset && init.is_none() && exports.handler.is_wasi02();
        let program = Program {
            reset: ResetPlan::of(component).filter(|_| may_reset),
            pre,
            init,
            image: OnceLock::new(),
            shortcut: identity.uses_shortcut.then(|| Arc::clone(code.host.shortcut())),
            grants: identity.grants,
            limits: identity.limits,
        };
        let pool = Arc::new(Pool::new(identity.reuse));
        program.grants.total_memory.watch(&pool);
        let quiet = Quiet { begun: 0, since: Instant::now(), is_released: true };
        Ok(Self {
            hash: identity.hash,
            program,
            exports,
            pool,
            counts: identity.counts,
            made,
            mapped: code.mapped,
            quiet: Mutex::new(quiet),
            unoptimised: code.unoptimised,
            _host: code.host,
        })
    }

    /// The same version with code of the optimising compiler. `None` if it has that.
    pub(crate) fn optimised(&self, host: &Host, disk: Option<&Disk>) -> Result<Option<Self>, Error> {
        let Some(wasm) = &self.unoptimised else { return Ok(None) };
        let code = Code { has_image: self.made.has_image, ..Code::optimised(host, disk, wasm)? };
        let identity = Identity {
            hash: self.hash,
            grants: Arc::clone(&self.program.grants),
            limits: self.program.limits,
            reuse: self.pool.reuse,
            counts: Arc::clone(&self.counts),
            may_reset: self.program.reset.is_some(),
            uses_shortcut: self.program.shortcut.is_some(),
        };
        Self::link(code, Made { is_optimised: true, ..self.made.clone() }, identity).map(Some)
    }

    pub(crate) fn app(&self) -> &str {
        &self.program.grants.name
    }

    pub(crate) fn instance(&self) -> Instance {
        self.pool.take(&self.program, &self.counts.instances)
    }

    /// A new instance that is not put into the pool.
    pub(crate) fn fresh(&self) -> Instance {
        Instance::new(&self.program, None)
    }

    /// Takes an instance back whose request succeeded.
    pub(crate) async fn give_back(&self, instance: Instance) {
        self.pool.give_back(instance, &self.program, &self.counts.instances).await;
    }

    /// Drops instances that have waited too long, and code that nobody uses. To be called from time to time.
    pub(crate) fn tidy(&self) {
        self.pool.tidy();
        let begun = self.counts.begun.load(Ordering::Relaxed);
        let mut quiet = skep_units::lock(&self.quiet);
        if quiet.begun != begun {
            *quiet = Quiet { begun, since: Instant::now(), is_released: false };
        } else if !quiet.is_released && quiet.since.elapsed() >= QUIET {
            quiet.is_released = true;
            self.release_code_pages();
        }
    }

    /// Takes its code out of memory. It comes back as it is used.
    pub(crate) fn release_code_pages(&self) {
        if let Some(mapped) = &self.mapped {
            mapped.release_pages();
        }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.app(), self.hash)
    }
}
