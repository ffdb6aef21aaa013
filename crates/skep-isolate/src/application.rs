//! An application: its options, and the version of it that serves.
//!
//! Start reading at [`Application::load`]: how a file becomes the current version, or does not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use skep::files::Files;

use crate::disk::Disk;
use crate::engine::Host;
use crate::error::Error;
use crate::file_stamp::FileStamp;
use crate::hash::Hash;
use crate::options::Options;
use crate::source::ComponentFile;
use crate::stages::{Compiled, Probed, Serving};
use crate::sys;
use crate::version::Version;

/// An application and its current version.
#[derive(Default)]
pub(crate) struct Application {
    pub(crate) options: Options,
    /// Folders that are served without the component.
    pub(crate) files: Vec<(String, Files)>,
    /// The version that new requests get.
    current: ArcSwapOption<Version>,
    /// The same version, for swaps.
    serving: Mutex<Option<Serving>>,
    last: Mutex<LastFile>,
    /// The stamp of its file before it was read at the start.
    pub(crate) stamp: Mutex<Option<FileStamp>>,
}

/// What became of the last file.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastFile {
    /// The content that was tried last.
    hash: Option<Hash>,
    pub(crate) swaps: u64,
    /// When the last swap was.
    pub(crate) swapped: Option<Instant>,
    /// When and why it failed. The version before it goes on serving.
    pub(crate) failure: Option<(Instant, Arc<Error>)>,
    /// When it is tried again, after a temporary error.
    retry_at: Option<Instant>,
    /// Temporary errors in a row.
    tries: u32,
}

/// The first and the longest pause between tries. Each pause is twice the one before.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

impl Application {
    pub(crate) fn new(options: Options) -> Self {
        let files = options.files.iter().map(|(prefix, dir)| (prefix.clone(), Files::dir(dir))).collect();
        Self { options, files, ..Self::default() }
    }

    /// The version that new requests get.
    pub(crate) fn current(&self) -> Option<Arc<Version>> {
        self.current.load_full()
    }

    pub(crate) fn last(&self) -> LastFile {
        self.last_file().clone()
    }

    fn last_file(&self) -> MutexGuard<'_, LastFile> {
        skep_units::lock(&self.last)
    }

    /// Compiles a file, probes it, and makes it the current version. A failure changes nothing. `None` if the content
    /// was tried before.
    pub(crate) fn load(
        &self,
        host: &Host,
        disk: Option<&Disk>,
        source: &ComponentFile,
    ) -> Option<Result<Arc<Version>, Arc<Error>>> {
        {
            let mut last = self.last_file();
            if last.hash.replace(source.hash) == Some(source.hash) {
                return None;
            }
            last.retry_at = None;
        }
        let probed = self.probed(host, disk, source);
        // What is to be optimised trims afterwards: a compiler whose memory was released has to fault it in again.
        if probed.as_ref().map_or(true, |probed| probed.version().made.is_optimised) {
            sys::trim();
        }
        Some(self.finish(probed, &source.path))
    }

    /// A version that has answered its probe. One whose code was too slow for that is optimised first.
    fn probed(&self, host: &Host, disk: Option<&Disk>, source: &ComponentFile) -> Result<Probed, Error> {
        let compiled = Compiled::new(host, disk, source, &self.options)?;
        match compiled.probe(&self.options) {
            Err(error) if error.is_temporary() => match Compiled::optimised(compiled.version(), host, disk)? {
                Some(optimised) => optimised.probe(&self.options),
                None => Err(error),
            },
            probed => probed,
        }
    }

    /// Activates a version, or notes why it failed.
    fn finish(&self, probed: Result<Probed, Error>, path: &Path) -> Result<Arc<Version>, Arc<Error>> {
        let mut last = self.last_file();
        match probed {
            Ok(probed) => {
                (last.failure, last.tries) = (None, 0);
                let version = Arc::clone(probed.version());
                if self.activate(probed) {
                    last.swaps += 1;
                    last.swapped = Some(Instant::now());
                }
                Ok(version)
            }
            Err(error) => {
                if error.is_temporary() {
                    let pause = PAUSE.0.saturating_mul(1 << last.tries.min(16)).min(PAUSE.1);
                    (last.hash, last.retry_at) = (None, Some(Instant::now() + pause));
                    last.tries = last.tries.saturating_add(1);
                } else {
                    last.tries = 0;
                }
                let error = Arc::new(error.in_file(path));
                last.failure = Some((Instant::now(), Arc::clone(&error)));
                Err(error)
            }
        }
    }

    /// Makes a version the current one. True if there was one before.
    fn activate(&self, probed: Probed) -> bool {
        let mut serving = skep_units::lock(&self.serving);
        self.current.store(Some(Arc::clone(probed.version())));
        let before = serving.take();
        let is_swap = before.is_some();
        *serving = Some(probed.activate(before));
        is_swap
    }

    /// Optimises a version that is current in the background. A failure leaves it as it is.
    pub(crate) fn optimise(self: &Arc<Self>, version: Arc<Version>, host: &Host, disk: Option<&Disk>) {
        if version.made.is_optimised {
            return;
        }
        let (this, host, disk) = (Arc::clone(self), host.clone(), disk.cloned());
        let run = move || {
            let (app, begun) = (&this.options.name, Instant::now());
            match catch_unwind(AssertUnwindSafe(|| this.activate_optimised(&host, disk.as_ref(), &version))) {
                Ok(Ok(true)) => {
                    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                    tracing::info!(target: "skep::isolate", app, version = %version.hash, ms, "optimised");
                }
                Ok(Ok(false)) => {}
                Ok(Err(error)) => tracing::error!(target: "skep::isolate", app, "not optimised: {error}"),
                Err(_) => tracing::error!(target: "skep::isolate", app, "not optimised: the compiler panicked"),
            }
        };
        if let Err(error) = thread::Builder::new().name("optimise".into()).spawn(run) {
            tracing::error!(target: "skep::isolate", app = self.options.name, "not optimised: no thread: {error}");
        }
    }

    /// False if another version has come meanwhile.
    fn activate_optimised(&self, host: &Host, disk: Option<&Disk>, version: &Arc<Version>) -> Result<bool, Error> {
        let is_current = || self.current().is_some_and(|current| Arc::ptr_eq(&current, version));
        let optimised =
            in_background(|| if is_current() { Compiled::optimised(version, host, disk) } else { Ok(None) });
        sys::trim();
        let Some(optimised) = optimised? else { return Ok(false) };
        let mut pause = PAUSE.0;
        let probed = loop {
            if !is_current() {
                return Ok(false);
            }
            match optimised.probe(&self.options) {
                Err(error) if error.is_temporary() => thread::sleep(pause),
                probed => break probed?,
            }
            pause = pause.saturating_mul(2).min(PAUSE.1);
        };
        // No other version is activated while this is held.
        let _last = self.last_file();
        let is_still = is_current();
        if is_still {
            self.activate(probed);
        }
        Ok(is_still)
    }

    /// True if a temporary error is due for another try.
    pub(crate) fn is_retry_due(&self) -> bool {
        self.last_file().retry_at.is_some_and(|at| at <= Instant::now())
    }

    /// Notes why a file is not even tried.
    pub(crate) fn note(&self, error: Error) -> Arc<Error> {
        let error = Arc::new(error);
        self.last_file().failure = Some((Instant::now(), Arc::clone(&error)));
        error
    }

    /// Reads the file and loads it, at the start.
    pub(crate) fn start(&self, host: &Host, disk: Option<&Disk>) -> Result<Arc<Version>, Arc<Error>> {
        for (_, files) in &self.files {
            files.check().map_err(|error| Error::Invalid(error.to_string()))?;
        }
        let path: &Path = &self.options.file;
        *skep_units::lock(&self.stamp) = FileStamp::of(path);
        let source = ComponentFile::read(path).map_err(|error| self.note(error))?;
        match self.load(host, disk, &source) {
            Some(loaded) => loaded,
            None => self.current().ok_or_else(|| Error::invalid("has failed before").in_file(path).into()),
        }
    }
}

/// Compiles one application after the other, on threads of lower priority than those that serve.
fn in_background<T: Send>(compile: impl FnOnce() -> T + Send) -> T {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = skep_units::lock(&TURN);
    let lower_priority = |_| {
        let _ = rustix::process::setpriority_process(None, NICE);
    };
    let threads =
        rayon::ThreadPoolBuilder::new().thread_name(|_| "optimise".into()).start_handler(lower_priority).build();
    match threads {
        Ok(threads) => threads.install(compile),
        Err(_) => compile(),
    }
}

/// The nice value of such threads: a third of the weight of others, sched(7).
const NICE: i32 = 5;
