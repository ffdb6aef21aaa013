//! The stages of a version: compiled, probed, serving.
//!
//! Each stage is a type, and only the step before makes it: what has not answered its probe cannot serve.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::HOST;
use http_body_util::BodyExt;
use skep::Body;
use skep::mount::Mounted;
use tokio::task::LocalSet;

use crate::check::check;
use crate::code::Code;
use crate::disk::Disk;
use crate::engine::Host;
use crate::error::Error;
use crate::options::Options;
use crate::reuse::ModuleCache;
use crate::snapshot::{self, PATIENCE, Start, or_cold};
use crate::source::{ComponentFile, Form};
use crate::state::Grants;
use crate::sys::can_find_written_pages;
use crate::version::{Counts, Identity, Made, Version};
use crate::{jobs, respond, services};

/// A version that was compiled and linked. Its start-up code has run, if it runs once.
#[derive(Debug)]
pub(crate) struct Compiled(Arc<Version>);

/// A version that has answered its probe.
#[derive(Debug)]
pub(crate) struct Probed {
    version: Arc<Version>,
    jobs: jobs::List,
}

/// The version that requests get, and its jobs.
#[derive(Debug)]
pub(crate) struct Serving {
    version: Arc<Version>,
    jobs: Option<jobs::Thread>,
}

impl Compiled {
    /// Compiles a file and runs its start-up code. Errors do not name the file.
    pub(crate) fn new(
        host: &Host,
        disk: Option<&Disk>,
        source: &ComponentFile,
        options: &Options,
    ) -> Result<Self, Error> {
        let begun = Instant::now();
        let (grants, code) = compile(host, disk, source, options)?;
        let made = Made {
            module_cache: options.module_cache.name(),
            has_image: code.has_image,
            in_time: begun.elapsed(),
            at: Instant::now(),
            is_optimised: code.unoptimised.is_none(),
        };
        let identity = Identity {
            hash: source.hash,
            grants,
            limits: options.limits(host.counts_fuel()),
            reuse: (options.module_cache == ModuleCache::Cached).then_some(options.reuse),
            counts: Arc::<Counts>::default(),
            may_reset: options.module_cache.is_snapshot() && can_find_written_pages(),
            uses_shortcut: options.page_fault_shortcut,
        };
        Version::link(code, made, identity).map(|version| Self(Arc::new(version)))
    }

    /// The same version with code of the optimising compiler. `None` if it has that.
    pub(crate) fn optimised(version: &Version, host: &Host, disk: Option<&Disk>) -> Result<Option<Self>, Error> {
        Ok(version.optimised(host, disk)?.map(|version| Self(Arc::new(version))))
    }

    pub(crate) fn version(&self) -> &Arc<Version> {
        &self.0
    }

    /// Has it answer a request, and asks for its jobs.
    pub(crate) fn probe(&self, options: &Options) -> Result<Probed, Error> {
        // Not a `LocalRuntime`: `spawn_local` would give it the tasks, and nothing could wait for them.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::Busy(format!("cannot be probed: {error}")))?;
        let tasks = LocalSet::new();
        runtime.block_on(tasks.run_until(async {
            self.0.pool.begin_trial();
            let probed = probe(&self.0, options).await;
            if probed.is_ok() && self.0.pool.idle() > 0 {
                // Whether an instance serves a second time is found out before anybody depends on it: see
                // `Pool::note_silent`.
                let _ = probe(&self.0, options).await;
            }
            self.0.pool.end_trial(&self.0.counts.instances);
            probed
        }))?;
        // An instance that continues after its response is given back by a task, and would end with the runtime.
        runtime.block_on(tasks);
        let jobs = runtime.block_on(jobs::list(&self.0));
        let jobs = jobs.map_err(|error| Error::engine("does not list its jobs", error))?;
        Ok(Probed { version: Arc::clone(&self.0), jobs })
    }
}

impl Probed {
    pub(crate) fn version(&self) -> &Arc<Version> {
        &self.version
    }

    /// Starts its jobs, once those of the version before have ended. Requests in flight finish on that one; its
    /// instances that wait end, which frees their slots.
    pub(crate) fn activate(self, before: Option<Serving>) -> Serving {
        let before = before.and_then(|before| {
            before.version.pool.close();
            before.jobs
        });
        // The probe has loaded nearly all of its code, and requests may be far away.
        self.version.release_code_pages();
        let jobs = jobs::start(&self.version, self.jobs, before);
        Serving { version: self.version, jobs }
    }
}

/// Compiles, and runs start-up code.
fn compile(
    host: &Host,
    disk: Option<&Disk>,
    source: &ComponentFile,
    options: &Options,
) -> Result<(Arc<Grants>, Code), Error> {
    let start = match source.form {
        Form::Component if options.module_cache.is_snapshot() => {
            or_cold(Start::of(host, disk, &source.bytes, options), options)?
        }
        _ => None,
    };
    let compile = || Code::new(host, disk, source, options);
    let original = start.as_ref().map_or_else(compile, |start| Ok(start.code.clone()))?;
    let grants = granted(host, &original, source, options)?;
    run_again(source, &original, &grants)?;
    let code = match start {
        None => original,
        Some(start) => match or_cold(start.image(disk, &grants, PATIENCE).map(Some), options)? {
            Some(image) => Code { has_image: true, ..Code::recyclable(host, disk, &image, options)? },
            None => compile()?,
        },
    };
    Ok((grants, code))
}

/// What a component may use, if it can be served at all.
fn granted(host: &Host, code: &Code, source: &ComponentFile, options: &Options) -> Result<Arc<Grants>, Error> {
    check(&code.host, &code.component, options)?;
    let mut grants = options.grants(&host.clock, services::are_imported(code.host.engine(), &code.component))?;
    grants.env.extend(grants.build(&source.hash));
    Ok(Arc::new(grants))
}

/// Start-up code of a precompiled file runs here once more, for its effects beyond memory.
fn run_again(source: &ComponentFile, code: &Code, grants: &Arc<Grants>) -> Result<(), Error> {
    if let Form::Precompiled(file) = &source.form {
        file.warn_of_changes(&grants.name, &grants.env);
    }
    code.start.as_ref().map_or(Ok(()), |start| snapshot::run_again(&code.host, start, grants))
}

/// Has a version answer its first request.
async fn probe(version: &Arc<Version>, options: &Options) -> Result<(), Error> {
    let host = options.hosts.first().map_or("localhost", |host| host.trim_start_matches("*."));
    let request = http::Request::get(options.probe.as_str()).header(HOST, host).body(());
    let request = request.map_err(|error| Error::Invalid(format!("probe = {}: {error}", options.probe)))?;
    let (parts, body, peer) = (request.into_parts().0, Body::empty(), skep::Peer::default());
    let request = Mounted { parts, body, peer, id: 0.into(), work: None };
    let limit = version.program.limits.time;
    let patience = limit + Duration::from_secs(1);
    let begun = Instant::now();
    let response = async {
        let response = respond::probe(Arc::clone(version), request).await?;
        let (status, mut body) = (response.status(), response.into_body());
        let mut is_whole = true;
        while let Some(frame) = body.frame().await {
            // A body that never ends, of events, say, may be cut when its time is up.
            is_whole = frame.is_ok() || begun.elapsed() >= limit;
        }
        Ok::<_, skep::Error>((status, is_whole))
    };
    let probe = &options.probe;
    match tokio::time::timeout(patience, response).await {
        Ok(Ok((status, true))) if !status.is_server_error() => Ok(()),
        Ok(Ok((status, true))) => Err(Error::Invalid(format!("the probe {probe} was answered with {status}"))),
        Ok(Ok((_, false))) => Err(Error::Invalid(format!("the response to the probe {probe} broke off"))),
        Ok(Err(error)) => {
            let text = format!("the probe {probe} was answered with {error}");
            let is_temporary = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::GATEWAY_TIMEOUT].contains(&error.status());
            Err(if is_temporary { Error::Busy(text) } else { Error::Invalid(text) })
        }
        Err(_) => Err(Error::Busy(format!("the probe {probe} was not answered within {patience:?}"))),
    }
}
