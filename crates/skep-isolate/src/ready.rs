//! A version of an application that can serve: compiled, linked, its memory image made.
//!
//! Nothing in here changes while it serves but the instances that wait to be used again.

mod check;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::component::InstancePre;
use wasmtime_wasi_http::{p2, p3};

use crate::answer::{Door, Rooms};
use crate::apart::Apart;
use crate::compiled::{Compiled, Unoptimised};
use crate::disk::Disk;
use crate::engine::{Clock, Host, Version};
use crate::error::Wrong;
use crate::instance::Instance;
use crate::options::Options;
use crate::renew::{Pages, Renewal};
use crate::reuse::{ModuleCache, Reuse};
use crate::services::{self, Jobs};
use crate::snapshot::{self, Init, Start, or_cold};
use crate::source::{Form, Hash, Source};
use crate::state::{Grants, State};
use crate::sys::{Mapped, tells_written};
use check::{check, is_handler};

/// A version that can serve.
pub(crate) struct Ready {
    /// Of the file it was made of.
    pub(crate) hash: Hash,
    pub(crate) pre: InstancePre<State>,
    /// Its function for requests.
    pub(crate) handler: Handler,
    /// Start-up code that each new instance runs.
    pub(crate) init: Option<Init>,
    /// What puts an instance back, where each request has one as it was made.
    pub(crate) renewal: Option<Renewal>,
    /// What the memory of a new instance holds, once there was one.
    pub(crate) pages: OnceLock<Pages>,
    /// The quick way in, if it was made by `skep::component!`.
    pub(crate) door: Option<Door>,
    /// What it does beside requests.
    pub(crate) jobs: Option<Jobs>,
    pub(crate) grants: Arc<Grants>,
    pub(crate) limits: Limits,
    /// How it came to be, for the status.
    pub(crate) made: Made,
    pub(crate) counts: Arc<Counts>,
    /// What it was made of, if its code is not optimised yet.
    unoptimised: Option<Unoptimised>,
    /// Its engine is there for others, too, while it is.
    _host: Host,
    /// Where requests use an instance at once.
    pub(crate) rooms: Rooms,
    reuse: Option<Reuse>,
    idle: Mutex<Vec<Idle>>,
    /// How many there are in `idle`: most versions have none, and look no further.
    waiting: AtomicU32,
    /// Those that were put back.
    renewed: Mutex<Vec<Idle>>,
    /// Another version has taken its place: it keeps nothing.
    is_past: AtomicBool,
    /// Its code, if that is a file's.
    mapped: Option<Mapped>,
    quiet: Mutex<Quiet>,
}

/// Since when nobody asks.
struct Quiet {
    /// How many had asked then.
    begun: u64,
    since: Instant,
    has_rested: bool,
}

/// The function for requests that a component exports.
pub(crate) enum Handler {
    /// `wasi:http/incoming-handler`, of WASI 0.2.
    Second(p2::bindings::ProxyIndices),
    /// `wasi:http/handler`, of WASI 0.3.
    Third(p3::bindings::ServiceIndices),
}

/// What one request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) time: Duration,
    pub(crate) ticks: u64,
    pub(crate) fuel: Option<u64>,
    /// Of the page for one that failed, which another instance draws.
    pub(crate) page: Duration,
    /// Instances at once.
    pub(crate) instances: u32,
}

/// What a version keeps when other code comes for it.
struct Same {
    hash: Hash,
    grants: Arc<Grants>,
    limits: Limits,
    reuse: Option<Reuse>,
    counts: Arc<Counts>,
}

/// How a version came to be.
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
    pub(crate) made: AtomicU64,
    pub(crate) reused: AtomicU64,
    /// All, but for those of ours.
    pub(crate) begun: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// Of those: all instances were at work.
    pub(crate) refused: AtomicU64,
    /// Of those: out of time, or fuel.
    pub(crate) killed: AtomicU64,
    /// How often one was kept for another request.
    pub(crate) kept: AtomicU64,
    /// How often one that was put back was used.
    pub(crate) renewed: AtomicU64,
    /// How many in a row were prepared for being put back, and could not be.
    futile: AtomicU64,
}

/// An instance between two requests.
struct Idle {
    instance: Instance,
    since: Instant,
}

impl Ready {
    /// Everything that takes time: compile, run start-up code, link. What is wrong does not name the file: who asks knows it.
    pub(crate) fn new(host: &Host, disk: Option<&Disk>, source: &Source, options: &Options) -> Result<Self, Wrong> {
        let begun = Instant::now();
        let (grants, code) = match Apart::ready(host, disk, source, options)? {
            Some(ready) => ready,
            None => Self::code(host, disk, source, options)?,
        };
        let can_renew = options.module_cache.is_snapshot() && tells_written() && Renewal::is_for(source);
        let made = Made {
            module_cache: options.module_cache.name(),
            has_image: code.has_image,
            in_time: begun.elapsed(),
            at: Instant::now(),
            is_optimised: code.unoptimised.is_none(),
        };
        let same = Same {
            hash: source.hash,
            grants,
            limits: options.limits(host.counts_fuel()),
            reuse: (options.module_cache == ModuleCache::Cached).then_some(options.reuse),
            counts: Arc::default(),
        };
        Self::of(code, can_renew, made, same)
    }

    /// Compiles, and runs start-up code: of what is not served in two parts ([`Apart`]).
    fn code(
        host: &Host,
        disk: Option<&Disk>,
        source: &Source,
        options: &Options,
    ) -> Result<(Arc<Grants>, Compiled), Wrong> {
        let start = match source.form {
            Form::Component if options.module_cache.is_snapshot() => {
                or_cold(Start::of(host, disk, &source.bytes, options), options)?
            }
            _ => None,
        };
        let compile = || Compiled::new(host, disk, source, options);
        let original = start.as_ref().map_or_else(compile, |start| Ok(start.code.clone()))?;
        let grants = checked(host, &original, source, options)?;
        again(source, &original, &grants)?;
        let code = match start {
            None => original,
            Some(start) => match or_cold(start.image(disk, &grants).map(Some), options)? {
                Some(image) => Compiled { has_image: true, ..Compiled::renewable(host, disk, &image, options)? },
                None => compile()?,
            },
        };
        Ok((grants, code))
    }

    /// The same version with code of the optimising compiler; `None` if it has that.
    pub(crate) fn optimised(&self, host: &Host, disk: Option<&Disk>) -> Result<Option<Self>, Wrong> {
        let code = match &self.unoptimised {
            None => return Ok(None),
            Some(Unoptimised::Wasm(wasm)) => Compiled::of_wasm(host, disk, wasm)?,
            Some(Unoptimised::Apart(apart, contents)) => apart.optimised(host, disk, contents, &self.grants)?,
        };
        let code = Compiled { has_image: self.made.has_image, ..code };
        let made = Made { is_optimised: true, ..self.made.clone() };
        let same = Same {
            hash: self.hash,
            grants: Arc::clone(&self.grants),
            limits: self.limits,
            reuse: self.reuse,
            counts: Arc::clone(&self.counts),
        };
        Self::of(code, self.renewal.is_some(), made, same).map(Some)
    }

    fn of(code: Compiled, can_renew: bool, made: Made, same: Same) -> Result<Self, Wrong> {
        let component = &code.component;
        let init = if code.has_image { None } else { Init::of(component) };
        let cannot = |error: wasmtime::Error| Wrong(format!("cannot be linked: {error:#}"));
        let pre = code.host.linker().instantiate_pre(component).map_err(cannot)?;
        let handler = Handler::of(&code.host, &pre).map_err(cannot)?;
        let can_renew = can_renew && init.is_none() && matches!(handler, Handler::Second(_));
        Ok(Self {
            hash: same.hash,
            pre,
            renewal: Renewal::of(component).filter(|_| can_renew),
            handler,
            init,
            pages: OnceLock::new(),
            door: Door::of(component),
            jobs: Jobs::of(component),
            grants: same.grants,
            limits: same.limits,
            made,
            counts: same.counts,
            unoptimised: code.unoptimised,
            _host: code.host,
            rooms: Rooms::default(),
            reuse: same.reuse,
            idle: Mutex::default(),
            waiting: AtomicU32::new(0),
            renewed: Mutex::default(),
            is_past: AtomicBool::new(false),
            mapped: code.mapped,
            quiet: Mutex::new(Quiet { begun: 0, since: Instant::now(), has_rested: true }),
        })
    }

    /// An instance for one more request: one that waits, or a new one.
    pub(crate) fn instance(&self) -> Instance {
        let waiting = if self.waiting.load(Ordering::Relaxed) > 0 { self.pop() } else { None };
        if let Some(waiting) = waiting
            && waiting.instance.reuse().is_some_and(|reuse| waiting.since.elapsed() < reuse.idle)
        {
            self.counts.reused.fetch_add(1, Ordering::Relaxed);
            return waiting.instance;
        }
        if let Some(renewed) = self.renewal.and_then(|_| self.all_renewed().pop()) {
            self.counts.renewed.fetch_add(1, Ordering::Relaxed);
            return renewed.instance;
        }
        let made = self.counts.made.fetch_add(1, Ordering::Relaxed);
        Instance::new(self, self.reuse.map(Reuse::drawn)).with_renewal(self.may_renew(made))
    }

    /// How many requests may use an instance at once.
    pub(crate) fn at_once(&self) -> u32 {
        self.reuse.map_or(1, |reuse| reuse.at_once)
    }

    /// One for what is no request, and that serves none.
    pub(crate) fn fresh(&self) -> Instance {
        Instance::new(self, None)
    }

    /// Takes an instance back that has served well. It is kept as it is, if that is what it says itself; or put back, for another request
    /// that is to have a new one.
    pub(crate) async fn give_back(&self, mut instance: Instance) {
        if instance.reuse().is_some() {
            return self.keep(instance);
        }
        if !instance.is_renewable() || self.has_room().is_none() {
            return;
        }
        if let Err(why) = instance.renew(self).await {
            tracing::trace!(target: "skep::isolate", app = self.grants.name, "an instance is not put back: {why}");
            self.counts.futile.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.counts.futile.store(0, Ordering::Relaxed);
        if let Some(mut renewed) = self.has_room() {
            renewed.push(Idle { instance, since: Instant::now() });
        }
    }

    fn all_renewed(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that wait, if one more may.
    fn has_room(&self) -> Option<MutexGuard<'_, Vec<Idle>>> {
        let renewed = self.all_renewed();
        (renewed.len() < MOST_RENEWED && !self.is_past.load(Ordering::Relaxed)).then_some(renewed)
    }

    /// Whether a new instance is prepared to be put back. Where that has come to nothing so often, it is only tried now and then.
    fn may_renew(&self, made: u64) -> bool {
        self.renewal.is_some() && (self.counts.futile.load(Ordering::Relaxed) < FUTILE || made.is_multiple_of(FUTILE))
    }

    /// Another version has taken its place. Instances that wait would take room in the pool that is the other one's.
    pub(crate) fn passes(&self) {
        let mut renewed = self.all_renewed();
        self.is_past.store(true, Ordering::Relaxed);
        let gone = std::mem::take(&mut *renewed);
        drop(renewed);
        drop(gone);
    }

    /// Takes back one that serves again, with all that it keeps, or ends.
    pub(crate) fn keep(&self, instance: Instance) {
        // One that was refused memory may go on without what it wanted: nobody else is to find it so.
        if instance.was_refused_memory() {
            return;
        }
        if instance.reuse().is_some_and(|reuse| instance.served() < reuse.requests) {
            self.counts.kept.fetch_add(1, Ordering::Relaxed);
            let idle = Idle { instance, since: Instant::now() };
            let mut waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.push(idle);
            self.count(&waiting);
        }
    }

    fn pop(&self) -> Option<Idle> {
        let mut waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let last = waiting.pop();
        self.count(&waiting);
        last
    }

    fn count(&self, waiting: &[Idle]) {
        self.waiting.store(u32::try_from(waiting.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// Throws away what has waited for too long; called from time to time.
    pub(crate) fn tidy(&self) {
        let gone: Vec<Idle> = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let is_old = |idle: &mut Idle| idle.instance.reuse().is_none_or(|reuse| idle.since.elapsed() >= reuse.idle);
            let gone = idle.extract_if(.., is_old).collect();
            self.count(&idle);
            gone
        };
        drop(gone);
        let gone: Vec<Idle> =
            self.all_renewed().extract_if(.., |renewed| renewed.since.elapsed() >= RENEWED_IDLE).collect();
        drop(gone);
        self.rest_if_quiet();
    }

    fn rest_if_quiet(&self) {
        let begun = self.counts.begun.load(Ordering::Relaxed);
        let mut quiet = self.quiet.lock().unwrap_or_else(PoisonError::into_inner);
        if quiet.begun != begun {
            *quiet = Quiet { begun, since: Instant::now(), has_rested: false };
        } else if !quiet.has_rested && quiet.since.elapsed() >= QUIET {
            quiet.has_rested = true;
            self.rest();
        }
    }

    /// Takes what memory its code has. It comes back as it is used.
    pub(crate) fn rest(&self) {
        if let Some(mapped) = &self.mapped {
            mapped.let_go();
        }
    }

    /// How many instances wait.
    pub(crate) fn idle(&self) -> usize {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// So many that were put back wait for requests: as many as the pool keeps warm, and more.
const MOST_RENEWED: usize = 32;

/// After so many that could not be put back, one in so many is prepared for it.
const FUTILE: u64 = 64;

/// So long one of them waits.
const RENEWED_IDLE: Duration = Duration::from_secs(10);

/// When nobody has asked for so long, its code goes out of memory.
const QUIET: Duration = Duration::from_secs(10);

/// What a component may have, if it is one that can be served.
pub(crate) fn checked(host: &Host, code: &Compiled, source: &Source, options: &Options) -> Result<Arc<Grants>, Wrong> {
    check(&code.host, &code.component, options)?;
    let mut grants = options.grants(&host.clock, services::asked(&code.host, &code.component))?;
    grants.env.extend(services::build(&grants, &source.hash));
    Ok(Arc::new(grants))
}

/// Has the start-up code of a compiled file do here what it did beyond its memory where it was compiled.
fn again(source: &Source, compiled: &Compiled, grants: &Arc<Grants>) -> Result<(), Wrong> {
    if let Form::Compiled(written) = &source.form {
        written.tell_what_changed(grants);
    }
    compiled.start.as_ref().map_or(Ok(()), |start| snapshot::again(&compiled.host, start, grants))
}

impl Handler {
    /// The newer one, if there are both.
    fn of(host: &Host, pre: &InstancePre<State>) -> wasmtime::Result<Self> {
        let kind = pre.component().component_type();
        let is_third = kind.exports(host.engine()).any(|(name, _)| is_handler(name, Version::Third));
        Ok(if is_third {
            Self::Third(p3::bindings::ServiceIndices::new(pre)?)
        } else {
            Self::Second(p2::bindings::ProxyIndices::new(pre)?)
        })
    }
}

impl Limits {
    pub(crate) fn new(time: Duration, fuel: Option<u64>, page: Duration, instances: u32) -> Self {
        Self { time, ticks: Clock::ticks(time), fuel, page, instances }
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.grants.name, self.hash)
    }
}
