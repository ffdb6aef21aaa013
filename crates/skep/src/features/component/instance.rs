//! One instance: it starts the application once, and answers requests.
//!
//! A host that knows Skep starts it before it copies the memory for every request ([`init`]); with any other the first
//! request does.

use std::cell::{OnceCell, RefCell};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use skep_cache::driver::block_on;

use super::handler;
use super::settings;
use super::sys::{self, Seed};
use crate::application::app::App;
use crate::application::site::{Background, LocalSite, Site};
use crate::host::component::functions::Host;
use crate::host::component::log;
use skep_http::body::{Body, next_bytes};
use skep_http::error::Error;
use skep_http::request::Peer;
use skep_http::response::Response;

/// An application that `component!` makes a component of.
pub trait Application {
    /// What the host offers.
    const HOST: &'static Host;

    /// The application.
    fn app() -> App;
}

/// What a started instance has.
pub(super) struct Instance {
    site: Arc<Site>,
    pub(super) local: LocalSite,
    /// The host says who asks.
    host_is_skep: bool,
}

thread_local! {
    static INSTANCE: OnceCell<Result<Instance, String>> = const { OnceCell::new() };
    /// The body of the answer that is being sent.
    static REST: RefCell<Option<Body>> = const { RefCell::new(None) };
}

fn start<A: Application>() -> Result<Instance, String> {
    log::install(settings::level());
    let setup = settings::read(A::HOST)?;
    let site = Arc::new(A::app().open(setup).map_err(|error| error.to_string())?);
    let local = site.local();
    Ok(Instance { site, local, host_is_skep: settings::host_is_skep() })
}

/// Does `work` with the instance, which is started if it was not yet.
pub(super) fn with<A: Application, T>(work: impl FnOnce(Result<&Instance, &str>) -> T) -> T {
    INSTANCE.with(|instance| {
        let started = instance.get_or_init(|| {
            start::<A>().inspect_err(|problem| {
                log::write(3, &format!("skep::start: the application does not start: {problem}"))
            })
        });
        work(started.as_ref().map_err(String::as_str))
    })
}

/// Start-up work, after which the memory of this instance may be copied.
pub fn init<A: Application>() -> Result<(), String> {
    with::<A, _>(|instance| instance.map(drop).map_err(ToOwned::to_owned))?;
    sys::forget_folders();
    if !sys::find_keys() {
        log::write(
            4,
            "skep::start: all instances hash alike: this standard library keeps its keys where nobody finds them",
        );
    }
    drop(std::hint::black_box(Vec::<u8>::with_capacity(SLACK)));
    Ok(())
}

/// Memory that is there when a request wants more than start-up work has used, in bytes: to grow takes a call of the
/// system, and a host that puts instances back cannot make memory smaller. None of it is in an image, and what no
/// request uses costs nothing.
const SLACK: usize = 1 << 20;

/// Keys for hashing, from who has no better ones.
pub(super) fn drawn() -> Seed {
    wasip2::random::insecure_seed::insecure_seed()
}

/// From the end of background work to its next run: there is no thread that it could have for itself.
const AGAIN: Duration = Duration::from_secs(1);

/// The jobs of the application.
pub fn job_names<A: Application>() -> Vec<(String, u64)> {
    with::<A, _>(|instance| {
        let Ok(instance) = instance else { return Vec::new() };
        let period = |period: Duration| u64::try_from(period.as_millis()).unwrap_or(u64::MAX);
        let periodic = instance.site.jobs().iter().map(|job| (job.name().to_owned(), period(job.period())));
        let background = instance.site.background().iter().map(|work| (work.name().to_owned(), period(AGAIN)));
        periodic.chain(background).collect()
    })
}

/// Runs one of them.
pub fn run_job<A: Application>(job: u32) {
    with::<A, _>(|instance| {
        let Ok(instance) = instance else { return };
        let (site, job) = (&instance.site, job as usize);
        match site.jobs().get(job) {
            Some(job) => job.run(site),
            None => {
                let background = Background { site, grace: Duration::ZERO };
                if let Some(work) = site.background().get(job - site.jobs().len()) {
                    work.run(&background);
                }
            }
        }
    });
}

/// Handles a request that comes in one buffer.
pub fn handle_direct<A: Application>(request: Vec<u8>) -> Vec<u8> {
    REST.take();
    let request = handler::read(&request.into(), A::HOST);
    if let Some((_, seed)) = &request {
        sys::reseed(|| *seed);
    }
    let response = with::<A, _>(|instance| match (instance, request) {
        (Ok(instance), Some((request, _))) => block_on(instance.local.answer(request)),
        (Ok(_), None) => plain(StatusCode::BAD_REQUEST, "this request was not understood"),
        (Err(_), _) => not_started(),
    });
    let (bytes, rest) = handler::write(response);
    REST.set(rest);
    bytes
}

/// The page for a request that another instance failed.
pub fn failed<A: Application>(request: Vec<u8>, status: u16, why: String) -> Vec<u8> {
    let request = handler::read(&request.into(), A::HOST);
    let error = Error::new(StatusCode::from_u16(status).unwrap_or_default()).with_cause(why);
    let response = with::<A, _>(|instance| match (instance, request) {
        (Ok(instance), Some((request, seed))) => {
            sys::reseed(|| seed);
            instance.local.page_of(&request, &error)
        }
        (Ok(_), None) => plain(StatusCode::BAD_REQUEST, "this request was not understood"),
        (Err(_), _) => not_started(),
    });
    handler::write(response).0
}

/// The next piece of the answer's body.
pub fn more() -> Result<Option<Vec<u8>>, String> {
    let Some(mut body) = REST.take() else { return Ok(None) };
    let piece = next_piece(&mut body).map_err(|error| error.to_string())?;
    if piece.is_some() {
        REST.set(Some(body));
    }
    Ok(piece.map(Into::into))
}

/// The next bytes of a body.
pub(super) fn next_piece(body: &mut Body) -> Result<Option<bytes::Bytes>, skep_http::body::BodyError> {
    loop {
        let piece = block_on(next_bytes(body))?;
        if piece.as_ref().is_none_or(|bytes| !bytes.is_empty()) {
            return Ok(piece);
        }
    }
}

pub(super) fn not_started() -> Response {
    plain(StatusCode::SERVICE_UNAVAILABLE, "this application could not start")
}

pub(super) fn plain(status: StatusCode, text: &'static str) -> Response {
    Response::text(text).with_status(status)
}

/// The field in which a host of Skep says who asks.
const FIELD: &str = "skep-request";

impl Instance {
    /// Takes the id of the request and its client's address out of the header block, if the host has put them there. An
    /// instance that is a copy gets keys of its own.
    pub(super) fn take_sender(&self, headers: &mut HeaderMap, tls: bool) -> (Option<u64>, Peer) {
        let sender = headers.remove(FIELD).filter(|_| self.host_is_skep);
        let text = sender.as_ref().and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut words = text.split(' ');
        let id = words.next().and_then(|id| u64::from_str_radix(id, 16).ok());
        let seed = words.next().and_then(|seed| u128::from_str_radix(seed, 16).ok());
        sys::reseed(|| seed.map_or_else(drawn, halves));
        (id, Peer::new(words.next().and_then(|address| address.parse::<SocketAddr>().ok()), tls))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
fn halves(seed: u128) -> Seed {
    (seed as u64, (seed >> 64) as u64)
}
