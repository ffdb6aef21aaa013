//! A site that is asked without a socket: native, or as a component.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, COOKIE, HOST, SET_COOKIE};
use skep::mount::Mounted;
use skep::{App, Body, HeaderMap, LocalSite, Peer, Request, Setup};
use tempfile::TempDir;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use super::guest::Kept;
use crate::data::ServerSettings;
use crate::disk::Disk;
use crate::engine::Host;
use crate::options::Options;
use crate::reuse::ModuleCache;
use crate::serve::size;
use crate::services::Taken;
use crate::source::ComponentFile;
use crate::stages::Compiled;
use crate::version::Version;
use crate::{jobs, respond, settings};

/// A site, and a browser that keeps its cookies.
pub(super) struct Site {
    runtime: LocalRuntime,
    cookies: RefCell<BTreeMap<String, String>>,
    kind: Kind,
    jobs: RefCell<Option<jobs::Thread>>,
    _host: Option<Host>,
    /// Last, so that it is removed when nobody uses it any more.
    _folder: TempDir,
}

enum Kind {
    Native(LocalSite),
    Component(Arc<Version>),
}

/// An answer.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) status: u16,
    /// But for the length, which a native server adds later; and for the values of cookies, which are drawn.
    pub(super) fields: Vec<(String, String)>,
    pub(super) body: Bytes,
}

impl Said {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Code is kept beside what cargo builds, and one test compiles at a time: the next one finds it.
fn compiled(host: &Host, source: &ComponentFile, options: &Options) -> Arc<Version> {
    static COMPILES: Mutex<()> = Mutex::new(());
    let _turn = COMPILES.lock().unwrap_or_else(PoisonError::into_inner);
    let disk = Disk::open(&std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("guests/cache/skep"));
    // What is there is optimised.
    let disk = disk.ok().filter(|_| !options.baseline);
    let compiled = Compiled::new(host, disk.as_ref(), source, options).unwrap_or_else(|error| panic!("{error}"));
    Arc::clone(compiled.version())
}

/// The options of a component that no setting changes.
pub(super) fn defaults() -> Options {
    let (values, _) = skep::settings::Table::new(settings::rows()).resolve(Vec::new());
    settings::alone(Path::new("app.wasm"), &values).unwrap_or_else(|error| panic!("{error}"))
}

impl Site {
    pub(super) fn native(app: App) -> Self {
        Self::native_in(tempfile::tempdir().unwrap(), app)
    }

    pub(super) fn native_in(folder: TempDir, app: App) -> Self {
        let mut setup = Setup::default();
        setup.data = folder.path().to_owned();
        let site = Arc::new(app.open(setup).unwrap());
        Self::new(folder, None, Kind::Native(site.local()))
    }

    pub(super) fn component(wasm: &Path, kept: Kept) -> Self {
        Self::component_in(tempfile::tempdir().unwrap(), wasm, kept)
    }

    /// Compiled by the baseline compiler, in a seventh of the time. Code of both says the same: `skep-isolate-app` is
    /// run with that of both.
    pub(super) fn baseline(wasm: &Path) -> Self {
        let options = Options { baseline: true, ..defaults() };
        Self::component_with(tempfile::tempdir().unwrap(), wasm, Kept::Snapshot, options)
    }

    pub(super) fn component_in(folder: TempDir, wasm: &Path, kept: Kept) -> Self {
        Self::component_with(folder, wasm, kept, defaults())
    }

    pub(super) fn component_with(folder: TempDir, wasm: &Path, kept: Kept, limits: Options) -> Self {
        let options = Options {
            name: "test".into(),
            instances: 10,
            module_cache: match kept {
                Kept::Snapshot => ModuleCache::Snapshot,
                Kept::Cold => ModuleCache::Cold,
                Kept::Cached => ModuleCache::Cached,
            },
            baseline: limits.baseline || matches!(kept, Kept::Cold),
            ..limits
        };
        let mut setup = Setup::default();
        setup.data = folder.path().to_owned();
        options.data.begin(ServerSettings { setup, allow_breaking: false, taken: Taken::default() });
        let host = Host::new(size([&options].into_iter())).unwrap();
        let source = ComponentFile::read(wasm).unwrap();
        let version = compiled(&host, &source, &options);
        Self::new(folder, Some(host), Kind::Component(version))
    }

    fn new(folder: TempDir, host: Option<Host>, kind: Kind) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
        Self { runtime, cookies: RefCell::default(), kind, jobs: RefCell::default(), _host: host, _folder: folder }
    }

    pub(super) fn start_jobs(&self) {
        if let Kind::Component(version) = &self.kind {
            let list = self.runtime.block_on(jobs::list(version)).unwrap();
            self.jobs.replace(jobs::start(version, list, None));
        }
    }

    pub(super) fn get(&self, path: &str) -> Said {
        self.ask("GET", path, "", &[])
    }

    pub(super) fn post(&self, path: &str, body: &str) -> Said {
        self.ask("POST", path, body, &[("content-type", "application/x-www-form-urlencoded")])
    }

    /// Somebody without cookies.
    pub(super) fn stranger(&self, path: &str) -> Said {
        let cookies = self.cookies.take();
        let said = self.get(path);
        self.cookies.replace(cookies);
        said
    }

    pub(super) fn ask(
        &self,
        method: &str,
        path: &str,
        body: impl AsRef<[u8]>,
        fields: &[(&'static str, &str)],
    ) -> Said {
        let body = body.as_ref();
        let request = http::Request::builder().method(method).uri(path).header(HOST, "bees.example:8800");
        let request = request.header("sec-fetch-site", "same-origin");
        let mut parts = request.body(()).unwrap().into_parts().0;
        for (name, value) in fields {
            parts.headers.insert(*name, value.parse().unwrap());
        }
        if !body.is_empty() {
            parts.headers.insert(CONTENT_LENGTH, body.len().into());
        }
        let cookies: Vec<String> =
            self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            parts.headers.insert(COOKIE, cookies.join("; ").parse().unwrap());
        }
        let said = self.runtime.block_on(self.answer(parts, body.to_owned().into()));
        self.keep(&said.1);
        said.0
    }

    /// Sends a body that is read piece by piece.
    pub(super) fn send(&self, path: &str, body: Body) -> Said {
        let request = http::Request::post(path).header(HOST, "x").header("sec-fetch-site", "same-origin");
        self.runtime.block_on(self.answer(request.body(()).unwrap().into_parts().0, body)).0
    }

    /// Instances at work when an answer has begun and nobody reads it, now and later; and whether it is whole then.
    pub(super) fn unread(&self, path: &str, later: Duration) -> (u32, u32, bool) {
        let Kind::Component(version) = &self.kind else { panic!("a native application has none") };
        let parts = http::Request::get(path).header(HOST, "x").body(()).unwrap().into_parts().0;
        let request = Mounted { parts, body: Body::empty(), peer: Peer::default(), id: 1.into(), work: None };
        let running = || version.counts.running.load(Ordering::Relaxed);
        self.runtime.block_on(async {
            let answer = respond::respond(Arc::clone(version), request).await.unwrap();
            let before = running();
            tokio::time::sleep(later).await;
            let after = running();
            (before, after, answer.into_http().into_body().collect(u64::MAX).await.is_ok())
        })
    }

    /// The memory of the instance that would serve the next request, and that of a new one; then how many instances
    /// were reset so far.
    pub(super) fn memories(&self) -> ([Vec<u8>; 2], u64) {
        let Kind::Component(version) = &self.kind else { panic!("a native application has none") };
        let renewed = version.counts.instances.recycled.load(Ordering::Relaxed);
        let contents = [version.instance(), version.fresh()]
            .map(|mut instance| self.runtime.block_on(instance.contents(&version.program)));
        (contents, version.counts.instances.recycled.load(Ordering::Relaxed) - renewed)
    }

    async fn answer(&self, parts: http::request::Parts, body: Body) -> (Said, HeaderMap) {
        let (peer, id) = (Peer::new(Some(([192, 0, 2, 7], 4321).into()), false), 0x0123_4567_89ab_cdef);
        let response = match &self.kind {
            Kind::Native(local) => local.answer(Request::new(parts, body).with_peer(peer).with_id(id)).await,
            Kind::Component(version) => {
                let request = Mounted { parts, body, peer, id: id.into(), work: None };
                match respond::respond(Arc::clone(version), request).await {
                    Ok(response) => response,
                    Err(error) => skep::Response::text(error.to_string()).with_status(error.status()),
                }
            }
        };
        let (parts, body) = response.into_http().into_parts();
        let body = body.collect(u64::MAX).await.unwrap();
        let shown = |name: &str, value: &str| match value.split_once('=') {
            Some((cookie, rest)) if name == "set-cookie" => {
                format!("{cookie}=...{}", rest.split_once(';').map_or("", |(_, attributes)| attributes))
            }
            _ => value.to_owned(),
        };
        let fields = parts.headers.iter().filter(|(name, _)| **name != CONTENT_LENGTH);
        let mut fields: Vec<(String, String)> =
            fields.map(|(name, value)| (name.to_string(), shown(name.as_str(), value.to_str().unwrap()))).collect();
        fields.sort();
        (Said { status: parts.status.as_u16(), fields, body }, parts.headers)
    }

    fn keep(&self, headers: &HeaderMap) {
        for field in headers.get_all(SET_COOKIE) {
            let field = field.to_str().unwrap();
            let (pair, attributes) = field.split_once(';').unwrap_or((field, ""));
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.contains("Max-Age=0") {
                self.cookies.borrow_mut().remove(name);
            } else {
                self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
            }
        }
    }
}
