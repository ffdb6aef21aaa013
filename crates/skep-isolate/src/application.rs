//! An application: what it was configured as, and the version of it that is current.
//!
//! Start reading at [`Application::take_up`]: how a file becomes the current version, or does not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use http::StatusCode;
use http::header::HOST;
use http_body_util::BodyExt;
use skep::Body;
use skep::files::Files;
use skep::mount::Mounted;
use tokio::task::LocalSet;

use crate::answer;
use crate::disk::Disk;
use crate::engine::Host;
use crate::error::Wrong;
use crate::options::Options;
use crate::ready::Ready;
use crate::services::jobs;
use crate::source::{Hash, Source};
use crate::sys;
use crate::watch::{self, Look};

/// An application and its current version.
pub(crate) struct Application {
    pub(crate) options: Options,
    /// Folders that are served without the component.
    pub(crate) files: Vec<(String, Files)>,
    current: ArcSwapOption<Ready>,
    last: Mutex<Last>,
    /// The jobs of the current version.
    jobs: Mutex<Option<jobs::Thread>>,
    /// How its file looked before it was read, at the start.
    pub(crate) looked: Mutex<Option<Look>>,
}

/// What became of the file that was seen last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Last {
    /// The content that was tried last.
    pub(crate) hash: Option<Hash>,
    pub(crate) swaps: u64,
    /// When the last of them was.
    pub(crate) swapped: Option<Instant>,
    /// When it failed, and why. It changed nothing.
    pub(crate) failure: Option<(Instant, Wrong)>,
    /// When it is tried once more: it failed for want of time or room, and not for what is in it.
    pub(crate) again: Option<Instant>,
    /// How often that was so, one after the other.
    tries: u32,
}

/// How long to wait before the first of such tries, and before the last; each wait is twice the one before.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

impl Application {
    pub(crate) fn new(options: Options) -> Self {
        let files = options.files.iter().map(|(prefix, dir)| (prefix.clone(), Files::dir(dir))).collect();
        Self {
            options,
            files,
            current: ArcSwapOption::empty(),
            last: Mutex::default(),
            jobs: Mutex::default(),
            looked: Mutex::default(),
        }
    }

    /// The version that answers what comes now.
    pub(crate) fn current(&self) -> Option<Arc<Ready>> {
        self.current.load_full()
    }

    pub(crate) fn last(&self) -> Last {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the content of the file the current version: compiles it, has it answer a request, and puts it in the place of the one before.
    /// `None` if it is that already, or has failed before. What fails changes nothing.
    pub(crate) fn take_up(
        &self,
        host: &Host,
        disk: Option<&Disk>,
        source: &Source,
    ) -> Option<Result<Arc<Ready>, Wrong>> {
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.hash.replace(source.hash) == Some(source.hash) {
                return None;
            }
            last.again = None;
        }
        let made = self.make(host, disk, source);
        // What is to be optimised trims when that is done: a compiler that finds its memory gone has to fault it in again.
        let is_done = made.as_ref().map_or(true, |(ready, _)| ready.made.is_optimised);
        let taken = self.taken(made, &source.path);
        if is_done {
            sys::trim();
        }
        Some(taken)
    }

    /// What becomes of a file that was looked into.
    fn taken(&self, made: Result<(Arc<Ready>, jobs::List), Failure>, path: &Path) -> Result<Arc<Ready>, Wrong> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match made {
            Ok((ready, jobs)) => {
                (last.failure, last.tries) = (None, 0);
                if self.put(&ready, jobs).is_some() {
                    last.swaps += 1;
                    last.swapped = Some(Instant::now());
                }
                Ok(ready)
            }
            Err(failure) => {
                if failure.may_pass {
                    let pause = PAUSE.0.saturating_mul(1 << last.tries.min(16)).min(PAUSE.1);
                    (last.hash, last.again) = (None, Some(Instant::now() + pause));
                    last.tries = last.tries.saturating_add(1);
                } else {
                    last.tries = 0;
                }
                let wrong = failure.wrong.of(path);
                last.failure = Some((Instant::now(), wrong.clone()));
                Err(wrong)
            }
        }
    }

    /// Has the optimising compiler see a version that is current, if it has not, and puts its code in place. What goes wrong with that changes
    /// nothing.
    pub(crate) fn optimise(self: &Arc<Self>, ready: Arc<Ready>, host: &Host, disk: Option<&Disk>) {
        if ready.made.is_optimised {
            return;
        }
        let (this, host, disk) = (Arc::clone(self), host.clone(), disk.cloned());
        let run = move || {
            let (app, begun) = (&this.options.name, Instant::now());
            match catch_unwind(AssertUnwindSafe(|| this.put_optimised(&host, disk.as_ref(), &ready))) {
                Ok(Ok(true)) => {
                    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                    tracing::info!(target: "skep::isolate", app, version = %ready.hash, ms, "optimised");
                }
                Ok(Ok(false)) => {}
                Ok(Err(Failure { wrong, .. })) => {
                    tracing::error!(target: "skep::isolate", app, "not optimised: {wrong}");
                }
                Err(_) => tracing::error!(target: "skep::isolate", app, "not optimised: it made the compiler panic"),
            }
        };
        if let Err(error) = thread::Builder::new().name("optimise".into()).spawn(run) {
            tracing::error!(target: "skep::isolate", app = self.options.name, "no thread to optimise it: {error}");
        }
    }

    /// False if another version has come meanwhile.
    fn put_optimised(&self, host: &Host, disk: Option<&Disk>, ready: &Arc<Ready>) -> Result<bool, Failure> {
        let is_current = || self.current().is_some_and(|current| Arc::ptr_eq(&current, ready));
        // While it waited for its turn, another one may have come.
        let optimised = at_leisure(|| if is_current() { ready.optimised(host, disk) } else { Ok(None) });
        sys::trim();
        let Some(optimised) = optimised?.map(Arc::new) else { return Ok(false) };
        let mut pause = PAUSE.0;
        let jobs = loop {
            if !is_current() {
                return Ok(false);
            }
            match self.prove(&optimised) {
                Err(failure) if failure.may_pass => thread::sleep(pause),
                proven => break proven?,
            }
            pause = pause.saturating_mul(2).min(PAUSE.1);
        };
        // Nobody puts another one in place while this is held.
        let _last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_still = is_current();
        if is_still {
            self.put(&optimised, jobs);
        }
        Ok(is_still)
    }

    /// A version that has answered, and its jobs. One whose code was too slow for that is optimised first.
    fn make(&self, host: &Host, disk: Option<&Disk>, source: &Source) -> Result<(Arc<Ready>, jobs::List), Failure> {
        let ready = Ready::new(host, disk, source, &self.options).map(Arc::new)?;
        match self.prove(&ready) {
            Err(failure) if failure.may_pass => match ready.optimised(host, disk)?.map(Arc::new) {
                Some(optimised) => self.prove(&optimised).map(|jobs| (optimised, jobs)),
                None => Err(failure),
            },
            proven => proven.map(|jobs| (ready, jobs)),
        }
    }

    /// Puts a version in the place of the one before, which it gives. Whoever has that finishes with it.
    fn put(&self, ready: &Arc<Ready>, jobs: jobs::List) -> Option<Arc<Ready>> {
        // Its probe has brought nearly all of its code, and nobody may ask it for long.
        ready.rest();
        let before = self.current.swap(Some(Arc::clone(ready)));
        if let Some(before) = &before {
            before.passes();
        }
        let mut running = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        *running = jobs::start(ready, jobs, running.take());
        before
    }

    /// Has a version answer, and gives its jobs.
    fn prove(&self, ready: &Arc<Ready>) -> Result<jobs::List, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build_local(tokio::runtime::LocalOptions::default())
            .map_err(|error| Failure::may_pass(format!("cannot be probed: {error}")))?;
        let tasks = LocalSet::new();
        runtime.block_on(tasks.run_until(probe(ready, &self.options)))?;
        // An instance that goes on after its answer is given back by a task, and would go with the runtime.
        runtime.block_on(tasks);
        let jobs = runtime.block_on(jobs::list(ready));
        Ok(jobs.map_err(|why| Wrong(format!("does not say which jobs it has: {why}")))?)
    }

    /// True if what failed is to be tried once more, now.
    pub(crate) fn is_due(&self) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.again.is_some_and(|again| again <= Instant::now())
    }

    /// A file that cannot even be read, or is no component.
    pub(crate) fn note(&self, wrong: &Wrong) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.failure = Some((Instant::now(), wrong.clone()));
    }

    /// Reads the file and takes it up, at the start.
    pub(crate) fn start(&self, host: &Host, disk: Option<&Disk>) -> Result<Arc<Ready>, Wrong> {
        for (_, files) in &self.files {
            files.check().map_err(|error| Wrong(error.to_string()))?;
        }
        let path: &Path = &self.options.file;
        *self.looked.lock().unwrap_or_else(PoisonError::into_inner) = watch::look(path);
        let source = Source::read(path).inspect_err(|wrong| self.note(wrong))?;
        match self.take_up(host, disk, &source) {
            Some(made) => made,
            None => self.current().ok_or_else(|| Wrong::with("has failed before").of(path)),
        }
    }
}

/// Compiles where nobody waits for it, one application after the other, on threads that give way to those that serve; but not always, since
/// what is not optimised costs these more.
fn at_leisure<T: Send>(compile: impl FnOnce() -> T + Send) -> T {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let give_way = |_| {
        let _ = rustix::process::setpriority_process(None, LEISURE);
    };
    let threads = rayon::ThreadPoolBuilder::new().thread_name(|_| "optimise".into()).start_handler(give_way).build();
    match threads {
        Ok(threads) => threads.install(compile),
        Err(_) => compile(),
    }
}

/// The nice value of such threads: a third of the weight of others, sched(7).
const LEISURE: i32 = 5;

/// Why a file did not become the current version.
struct Failure {
    wrong: Wrong,
    /// The machine was at fault, and not the file.
    may_pass: bool,
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        Self { wrong, may_pass: false }
    }
}

impl Failure {
    fn may_pass(text: String) -> Self {
        Self { wrong: Wrong(text), may_pass: true }
    }
}

/// Has a version answer a request before anybody else asks it.
async fn probe(ready: &Arc<Ready>, options: &Options) -> Result<(), Failure> {
    let host = options.hosts.first().map_or("localhost", |host| host.trim_start_matches("*."));
    let request = http::Request::get(options.probe.as_str()).header(HOST, host).body(());
    let request = request.map_err(|error| Wrong(format!("probe = {}: {error}", options.probe)))?;
    let request =
        Mounted { parts: request.into_parts().0, body: Body::empty(), peer: skep::Peer::default(), id: 0.into() };
    let patience = ready.limits.time + Duration::from_secs(1);
    let begun = Instant::now();
    let answer = async {
        let answer = answer::probe(Arc::clone(ready), request).await?;
        let (status, mut body) = (answer.status(), answer.into_body());
        let mut is_whole = true;
        while let Some(frame) = body.frame().await {
            // One that never ends, of events, say, is cut when its time is up, and no worse for it.
            is_whole = frame.is_ok() || begun.elapsed() >= ready.limits.time;
        }
        Ok::<_, skep::Error>((status, is_whole))
    };
    match tokio::time::timeout(patience, answer).await {
        Ok(Ok((status, true))) if !status.is_server_error() => Ok(()),
        Ok(Ok((status, true))) => Err(Wrong(format!("the probe {} was answered with {status}", options.probe)).into()),
        Ok(Ok((_, false))) => Err(Wrong(format!("the answer to the probe {} broke off", options.probe)).into()),
        Ok(Err(error)) => {
            let may_pass = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::GATEWAY_TIMEOUT].contains(&error.status());
            Err(Failure { wrong: Wrong(format!("the probe {} was answered with {error}", options.probe)), may_pass })
        }
        Err(_) => Err(Failure::may_pass(format!("the probe {} was not answered within {patience:?}", options.probe))),
    }
}
