//! An application: what it was configured as, and the version of it that is current.
//!
//! Start reading at [`Application::take_up`]: how a file becomes the current version, or does not.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use http::header::HOST;
use skep::Body;
use skep::files::Files;
use skep::mount::Mounted;

use crate::answer;
use crate::disk::Disk;
use crate::engine::Host;
use crate::error::Wrong;
use crate::options::Options;
use crate::ready::Ready;
use crate::services::jobs;
use crate::source::{Hash, Source};

/// An application and its current version.
pub(crate) struct Application {
    pub(crate) options: Options,
    /// Folders that are served without the component.
    pub(crate) files: Vec<(String, Files)>,
    current: ArcSwapOption<Ready>,
    last: Mutex<Last>,
}

/// What became of the file that was seen last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Last {
    /// The content that was tried last.
    pub(crate) hash: Option<Hash>,
    pub(crate) swaps: u64,
    /// When it failed, and why. It changed nothing.
    pub(crate) failure: Option<(Instant, Wrong)>,
}

impl Application {
    pub(crate) fn new(options: Options) -> Self {
        let files = options.files.iter().map(|(prefix, dir)| (prefix.clone(), Files::dir(dir))).collect();
        Self { options, files, current: ArcSwapOption::empty(), last: Mutex::default() }
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
        }
        let made = Ready::new(host, disk, source, &self.options).map(Arc::new);
        let made =
            made.and_then(|ready| probe(&ready, &self.options).map(|()| ready).map_err(|wrong| wrong.of(&source.path)));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &made {
            Ok(ready) => {
                last.failure = None;
                jobs::start(ready);
                // Whoever has the old one finishes with it.
                if self.current.swap(Some(Arc::clone(ready))).is_some() {
                    last.swaps += 1;
                }
            }
            Err(wrong) => last.failure = Some((Instant::now(), wrong.clone())),
        }
        Some(made)
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
        let source = Source::read(path).inspect_err(|wrong| self.note(wrong))?;
        match self.take_up(host, disk, &source) {
            Some(made) => made,
            None => self.current().ok_or_else(|| Wrong::with("has failed before").of(path)),
        }
    }
}

/// Has a version answer a request before anybody else asks it.
fn probe(ready: &Arc<Ready>, options: &Options) -> Result<(), Wrong> {
    let cannot = |error: std::io::Error| Wrong(format!("cannot be probed: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .map_err(cannot)?;
    let host = options.hosts.first().map_or("localhost", |host| host.trim_start_matches("*."));
    let request = http::Request::get(options.probe.as_str()).header(HOST, host).body(());
    let request = request.map_err(|error| Wrong(format!("probe = {}: {error}", options.probe)))?;
    let request =
        Mounted { parts: request.into_parts().0, body: Body::empty(), peer: skep::Peer::default(), id: 0.into() };
    let patience = ready.limits.time + Duration::from_secs(1);
    let answer =
        runtime.block_on(async { tokio::time::timeout(patience, answer::answer(Arc::clone(ready), request)).await });
    match answer {
        Ok(Ok(answer)) if !answer.status().is_server_error() => Ok(()),
        Ok(Ok(answer)) => Err(Wrong(format!("the probe {} was answered with {}", options.probe, answer.status()))),
        Ok(Err(error)) => Err(Wrong(format!("the probe {} was answered with {error}", options.probe))),
        Err(_) => Err(Wrong(format!("the probe {} was not answered within {patience:?}", options.probe))),
    }
}
