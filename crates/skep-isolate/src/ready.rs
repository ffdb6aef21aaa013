//! A version of an application that can serve: compiled, linked, its memory image made.
//!
//! Nothing in here changes while it serves but the instances that wait to be used again.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::component::{Component, InstancePre};
use wasmtime_wasi_http::{p2, p3};

use crate::answer::{Door, Rooms};
use crate::compiled::Compiled;
use crate::disk::Disk;
use crate::engine::{Clock, Host, MOST_CONCURRENT, Version, has};
use crate::error::Wrong;
use crate::instance::Instance;
use crate::options::Options;
use crate::renew::{Pages, Renewal};
use crate::reuse::{ModuleCache, Reuse};
use crate::services::{self, Jobs};
use crate::snapshot::{self, Init};
use crate::source::{Form, Hash, Source};
use crate::state::{Grants, State};
use crate::sys::tells_written;

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
    pub(crate) counts: Counts,
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

/// How a version came to be.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) module_cache: &'static str,
    pub(crate) has_image: bool,
    pub(crate) in_time: Duration,
    pub(crate) at: Instant,
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
        let original = Compiled::new(host, disk, source, options)?;
        let host = &host.of(&original.component)?;
        check(host, &original.component, options)?;
        let mut grants = options.grants(&host.clock, services::asked(host, &original.component))?;
        grants.env.extend(services::build(&grants, &source.hash));
        let grants = Arc::new(grants);
        again(host, source, &original, &grants)?;
        let image = match (options.module_cache, &source.form) {
            (ModuleCache::Snapshot { or_cold }, Form::Component) => {
                match snapshot::image(host, disk, &original.component, &source.bytes, (&grants, snapshot::PATIENCE)) {
                    Err(why) if or_cold => {
                        tracing::warn!(target: "skep::isolate", app = options.name, "start-up code runs for each request: {why}");
                        None
                    }
                    image => image?,
                }
            }
            _ => None,
        };
        let has_image = image.is_some() || original.has_image;
        let component = match &image {
            Some(image) => Compiled::renewable(host, disk, image, options)?.component,
            None => original.component,
        };
        let init = if has_image { None } else { Init::of(&component) };
        let renewal = Renewal::of(&component, source)
            .filter(|_| options.module_cache.is_snapshot() && init.is_none() && tells_written());
        let (door, jobs) = (Door::of(&component), Jobs::of(&component));
        let cannot = |error: wasmtime::Error| Wrong(format!("cannot be linked: {error:#}"));
        let pre = host.linker.instantiate_pre(&component).map_err(cannot)?;
        let handler = Handler::of(host, &pre).map_err(cannot)?;
        Ok(Self {
            hash: source.hash,
            pre,
            renewal: renewal.filter(|_| matches!(handler, Handler::Second(_))),
            handler,
            init,
            pages: OnceLock::new(),
            door,
            jobs,
            grants,
            limits: options.limits(host.counts_fuel),
            made: Made {
                module_cache: options.module_cache.name(),
                has_image,
                in_time: begun.elapsed(),
                at: Instant::now(),
            },
            counts: Counts::default(),
            rooms: Rooms::default(),
            reuse: (options.module_cache == ModuleCache::Cached).then_some(options.reuse),
            idle: Mutex::default(),
            waiting: AtomicU32::new(0),
            renewed: Mutex::default(),
            is_past: AtomicBool::new(false),
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
        if instance.renew(self).await {
            self.counts.futile.store(0, Ordering::Relaxed);
            if let Some(mut renewed) = self.has_room() {
                renewed.push(Idle { instance, since: Instant::now() });
            }
        } else {
            self.counts.futile.fetch_add(1, Ordering::Relaxed);
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

const WASM_PAGE: u64 = 64 << 10;

/// Has the start-up code of a compiled file do here what it did beyond its memory where it was compiled.
fn again(host: &Host, source: &Source, compiled: &Compiled, grants: &Arc<Grants>) -> Result<(), Wrong> {
    if let Form::Compiled(written) = &source.form {
        written.tell_what_changed(grants);
    }
    compiled.start.as_ref().map_or(Ok(()), |start| snapshot::again(host, start, (grants, snapshot::PATIENCE)))
}

/// What a component must and must not be, before anything of it runs.
fn check(host: &Host, component: &Component, options: &Options) -> Result<(), Wrong> {
    let kind = component.component_type();
    let names: Vec<&str> = kind.exports(&host.engine).map(|(name, _)| name).collect();
    let is_third = names.iter().any(|name| is_handler(name, Version::Third));
    if !is_third && !names.iter().any(|name| is_handler(name, Version::Second)) {
        return Err(no_handler(&names));
    }
    if is_third && options.instances > MOST_CONCURRENT {
        return Err(Wrong(format!(
            "is made for WASI 0.3, whose components have room for {MOST_CONCURRENT} instances in a process, and may have {} \
             (--instances)",
            options.instances
        )));
    }
    alone(host, component, options, is_third)?;
    let strange = missing(host, component);
    if !strange.is_empty() {
        return Err(Wrong(format!("needs what this server has not: {}", strange.join(", "))));
    }
    let pages = component.resources_required().and_then(|needs| needs.max_initial_memory_size).unwrap_or(0);
    let (memory, limit) = (pages.saturating_mul(WASM_PAGE), options.memory);
    if memory > limit as u64 {
        return Err(Wrong(format!(
            "begins with {} KiB of memory, and may have {} (--memory)",
            memory >> 10,
            limit >> 10
        )));
    }
    Ok(())
}

fn is_handler(name: &str, version: Version<'_>) -> bool {
    let interface = match version {
        Version::Second => "wasi:http/incoming-handler@",
        _ => "wasi:http/handler@",
    };
    name.starts_with(interface) && Version::of(name).1 == version
}

/// Whether requests may use an instance at once, if that was asked for.
fn alone(host: &Host, component: &Component, options: &Options, is_third: bool) -> Result<(), Wrong> {
    let most = options.reuse.at_once;
    if most == 1 {
        return Ok(());
    }
    let why = if !is_third {
        "this is a component of WASI 0.2, whose function for requests is not entered again while it runs or waits; build it for WASI 0.3"
    } else if options.module_cache != ModuleCache::Cached {
        "each request has an instance of its own; say --module-cache cached, and one user may see what another has left"
    } else if services::asked(host, component) {
        "this component uses `skep:host`, whose transactions and bodies belong to the one request that an instance is at"
    } else {
        return Ok(());
    };
    Err(Wrong(format!(
        "cannot serve {most} requests at once in one instance (--reuse-concurrency): {why}, or leave it at 1"
    )))
}

/// What a component is that answers no requests.
fn no_handler(names: &[&str]) -> Wrong {
    let handlers = "`wasi:http/handler@0.3` or `wasi:http/incoming-handler@0.2`";
    let is_near = |name: &&&str| name.starts_with("wasi:http/") && name.contains("handler@");
    if let Some((name, Version::Other(version))) = names.iter().find(is_near).map(|name| (name, Version::of(name).1)) {
        let draft =
            if version.starts_with("0.3") { ", which was a draft: build it with tools for 0.3.0 or later" } else { "" };
        return Wrong(format!(
            "is made for WASI {version}{draft}; this server has 0.2 and 0.3: {handlers}, and not `{name}`"
        ));
    }
    if names.iter().any(|name| name.starts_with("wasi:cli/run")) {
        return Wrong(format!("is a program for the command line (wasi:cli/run), and no server: it has no {handlers}"));
    }
    let has = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    Wrong(format!("has no {handlers}, which answer requests; it exports {has}"))
}

/// The imports that nothing here answers, each with a word on why where that is known.
fn missing(host: &Host, component: &Component) -> Vec<String> {
    let kind = component.component_type();
    let is_ours = |name: &str| {
        let (package, version) = Version::of(name);
        has(package, version) || crate::services::PACKAGES.contains(&package)
    };
    let strange = kind.imports(&host.engine).map(|(name, _)| name.to_owned()).filter(|name| !is_ours(name));
    strange
        .map(|name| match Version::of(&name) {
            (package, Version::Other(_)) if package.starts_with("wasi:") => {
                format!("{name} (this server has WASI 0.2 and 0.3)")
            }
            _ => name,
        })
        .collect()
}

impl Handler {
    /// The newer one, if there are both.
    fn of(host: &Host, pre: &InstancePre<State>) -> wasmtime::Result<Self> {
        let kind = pre.component().component_type();
        let is_third = kind.exports(&host.engine).any(|(name, _)| is_handler(name, Version::Third));
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
