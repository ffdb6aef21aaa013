//! From a request to its response, by an instance.
//!
//! The guest runs on the thread of the request. Most responses are complete when the guest returns, and are sent as one
//! piece. A guest that waits, or writes more than is gathered, continues in a task while its response is sent.

mod body;
mod direct;
mod error_page;
mod failure;
#[cfg(feature = "wasi03")]
mod wasi03;

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use skep::Body;
use skep::body::BodyFailure;
use skep::mount::Mounted;
use skep::request::RequestId;
use tokio::sync::oneshot;
use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep};
use wasmtime::Result;
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;
use wasmtime_wasi_http::{Error, WasiHttpView};

use crate::clock::Work;
use crate::exports::Handler;
use crate::instance::Instance;
use crate::services::{FIELD, Sender};
use crate::state::StoreData;
use crate::version::Version;
use body::{End, Rest, Streamed};
use failure::Failure;

/// The response of a guest, once it has begun one.
type Given = Arc<Mutex<Option<Result<Response<HyperOutgoingBody>, String>>>>;

/// A body is gathered up to this size before it becomes a stream.
const GATHERED: usize = 64 << 10;

/// Permission to use one of the instances that an application may have at once, and the deadline of its request.
struct RequestPermit {
    version: Arc<Version>,
    /// When the last piece of the response must have been sent.
    until: Instant,
    counts: bool,
    _work: Work,
}

impl RequestPermit {
    fn take(version: &Arc<Version>) -> Result<Self, Failure> {
        version.counts.begun.fetch_add(1, Ordering::Relaxed);
        let before = version.counts.running.fetch_add(1, Ordering::Relaxed);
        let mut permit = Self::uncounted(version);
        permit.counts = true;
        if before < version.program.limits.instances { Ok(permit) } else { Err(Failure::Full) }
    }

    /// A permit beyond the limit, for probes: whether a version works does not depend on the number of requests.
    fn uncounted(version: &Arc<Version>) -> Self {
        let until = Instant::now() + version.program.limits.time;
        Self { version: Arc::clone(version), until, counts: false, _work: version.program.grants.clock.work() }
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        if self.counts {
            self.version.counts.running.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// An instance that is done with its request.
struct Ended {
    instance: Instance,
    result: Result<(), Failure>,
    permit: RequestPermit,
}

impl Ended {
    fn of(result: Result<()>, instance: Instance, permit: RequestPermit) -> Self {
        let result = result.map_err(|error| Failure::of(&error, &instance, &permit.version.program));
        Self { instance, result, permit }
    }
}

/// A guest at work.
struct Running {
    version: Arc<Version>,
    guest: Pin<Box<dyn Future<Output = Ended>>>,
    given: Given,
    /// Resolves when its response was taken, for guests of WASI 0.3, which may end before.
    taken: Option<oneshot::Receiver<()>>,
    until: Instant,
    /// Started when the guest first waits.
    timer: Option<Pin<Box<Sleep>>>,
}

/// How far a guest got.
enum Step {
    Ended(Box<Ended>),
    /// It has begun its response, and waits.
    Streams,
    Late,
}

pub(crate) async fn respond(version: Arc<Version>, request: Mounted) -> skep::Result {
    match RequestPermit::take(&version) {
        Ok(permit) => with_permit(version, permit, request).await,
        Err(failure) => Err(failure.into_error(&version)),
    }
}

/// Handles a probe, which needs no free instance.
pub(crate) async fn probe(version: Arc<Version>, request: Mounted) -> skep::Result {
    let permit = RequestPermit::uncounted(&version);
    with_permit(version, permit, request).await
}

async fn with_permit(version: Arc<Version>, permit: RequestPermit, request: Mounted) -> skep::Result {
    if let Some(handler) = version.exports.direct.filter(|handler| direct::takes(handler, &request.body)) {
        let responded = direct::respond(&version, handler, permit, request).await;
        return responded.map_err(|failure| failure.into_error(&version));
    }
    let (id, is_head) = (request.id, request.parts.method == http::Method::HEAD);
    let mut running = match Running::begin(&version, permit, request) {
        Ok(running) => running,
        Err(failure) => return Err(failure.into_error(&version)),
    };
    let waits_for_delivery = !version.exports.handler.is_wasi02();
    let mut gathered = Gathered { is_head, waits_for_delivery, ..Gathered::default() };
    let step = poll_fn(|cx| running.poll(cx, Some(&mut gathered))).await;
    let answer = match step {
        Step::Ended(ended) => running.whole(*ended, gathered).await,
        Step::Streams => running.streamed(id, gathered),
        Step::Late => Err(Failure::Late),
    };
    answer.map_err(|failure| failure.into_error(&version))
}

impl Running {
    fn begin(version: &Arc<Version>, permit: RequestPermit, request: Mounted) -> Result<Self, Failure> {
        let (id, until) = (request.id, permit.until);
        let is_tls = request.peer.tls;
        let request = incoming(request, version)?;
        let given = Given::default();
        let (done, taken) = match version.exports.handler {
            Handler::Wasi02(_) => (None, None),
            #[cfg(feature = "wasi03")]
            Handler::Wasi03(_) => {
                let (done, taken) = oneshot::channel();
                (Some(done), Some(taken))
            }
        };
        let incoming = Incoming { request, is_tls, id, until, done };
        let guest = Box::pin(run(Arc::clone(version), permit, incoming, Arc::clone(&given)));
        Ok(Self { version: Arc::clone(version), guest, given, taken, until, timer: None })
    }

    /// Runs the guest. While its response is gathered, every piece is taken at once.
    fn poll(&mut self, cx: &mut Context<'_>, mut gathered: Option<&mut Gathered>) -> Poll<Step> {
        loop {
            if let Poll::Ready(ended) = self.guest.as_mut().poll(cx) {
                return Poll::Ready(Step::Ended(Box::new(ended)));
            }
            let Some(gathered) = gathered.as_deref_mut() else { break };
            match gathered.take(&self.given, cx) {
                Progress::None => break,
                Progress::Some => {}
                Progress::Streams => return Poll::Ready(Step::Streams),
            }
        }
        let until = self.until;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        timer.as_mut().poll(cx).map(|()| Step::Late)
    }

    /// The response of a guest that has returned.
    async fn whole(&mut self, ended: Ended, mut gathered: Gathered) -> Result<skep::Response, Failure> {
        let Ended { instance, result, permit } = ended;
        result?;
        gathered.take(&self.given, &mut Context::from_waker(Waker::noop()));
        if gathered.parts.is_none() {
            self.version.pool.note_silent(instance.served, self.version.app());
        }
        // An instance whose response broke off is not used again.
        if gathered.is_complete() && gathered.rest != Rest::Broken {
            self.version.give_back(instance).await;
        } else {
            // This ends what the guest has left open.
            drop(instance);
            gathered.take(&self.given, &mut Context::from_waker(Waker::noop()));
            if !self.version.exports.handler.is_wasi02() && gathered.parts.is_some() {
                return gathered.passed_on(permit);
            }
        }
        let (parts, body) = gathered.finish()?;
        Ok(Response::from_parts(parts, body).into())
    }

    /// The response of a guest that continues.
    fn streamed(self, id: RequestId, gathered: Gathered) -> Result<skep::Response, Failure> {
        let version = Arc::clone(&self.version);
        let (parts, body, end) = gathered.begin(move || Failure::Broken.log(&version, id))?;
        tokio::task::spawn_local(self.go_on(id, end));
        Ok(Response::from_parts(parts, body).into())
    }

    async fn go_on(mut self, id: RequestId, end: End) {
        let step = poll_fn(|cx| self.poll(cx, None)).await;
        let mut permit = None;
        let result = match step {
            Step::Ended(ended) => {
                let Ended { instance, result, permit: taken } = *ended;
                // Held until the instance is back: a request in between must not make another one.
                permit = Some(taken);
                match self.taken.take() {
                    // The body may still be open: dropping the guest now would make it look complete.
                    Some(taken) if result.is_ok() => match tokio::time::timeout_at(self.until, taken).await {
                        // The body may have ended first, at its deadline.
                        Ok(_) if Instant::now() < self.until => Ok(instance),
                        _ => Err(Failure::Late),
                    },
                    _ => result.map(|()| instance),
                }
            }
            Step::Late | Step::Streams => Err(Failure::Late),
        };
        match result {
            Ok(instance) => {
                end.well();
                self.version.give_back(instance).await;
            }
            Err(failure) => {
                // Before the guest is dropped: the reader must not take the end of the body for a complete one.
                end.badly();
                failure.log(&self.version, id);
            }
        }
        drop(permit);
    }
}

/// A request, where it came from, and its deadline.
struct Incoming {
    request: http::Request<IncomingBody>,
    is_tls: bool,
    id: RequestId,
    #[cfg_attr(not(feature = "wasi03"), expect(dead_code, reason = "bodies of WASI 0.3 end by themselves"))]
    until: Instant,
    /// Dropped when all of the response was taken, or nobody takes it any more.
    #[cfg_attr(not(feature = "wasi03"), expect(dead_code, reason = "guests of WASI 0.2 do not wait for it"))]
    done: Option<oneshot::Sender<()>>,
}

/// The life of an instance for one request.
async fn run(version: Arc<Version>, permit: RequestPermit, incoming: Incoming, given: Given) -> Ended {
    let mut instance = version.instance();
    #[cfg_attr(
        not(feature = "wasi03"),
        expect(clippy::infallible_destructuring_match, reason = "with WASI 0.3 there is another")
    )]
    let indices = match &version.exports.handler {
        Handler::Wasi02(indices) => indices,
        #[cfg(feature = "wasi03")]
        Handler::Wasi03(indices) => {
            let result = Box::pin(wasi03::serve(&mut instance, &version.program, indices, (incoming, given))).await;
            return Ended::of(result, instance, permit);
        }
    };
    let Incoming { request, is_tls, id, .. } = incoming;
    let scheme = if is_tls { Scheme::Https } else { Scheme::Http };
    let make = |state: &mut StoreData| {
        state.services.begin(id);
        let mut http = state.http();
        let request = http.new_incoming_request(scheme, request)?;
        let outparam = http.new_response_outparam_from_callback(move |response| {
            give(&given, response.map_err(|code| format!("{code:?}")));
        })?;
        Ok((request, outparam))
    };
    let result = instance.serve(&version.program, indices, make).await;
    Ended::of(result, instance, permit)
}

fn give(given: &Given, response: Result<Response<HyperOutgoingBody>, String>) {
    *skep_units::lock(given) = Some(response);
}

type IncomingBody = http_body_util::combinators::MapErr<Body, fn(skep::body::BodyError) -> Error>;

/// A request as WASI has it: with an authority.
fn incoming(request: Mounted, version: &Version) -> Result<http::Request<IncomingBody>, Failure> {
    let Mounted { mut parts, body, peer, id, .. } = request;
    if version.exports.direct.is_some() {
        parts.headers.insert(FIELD, Sender { id, peer }.value());
    }
    if parts.uri.authority().is_none() {
        match parts.headers.get(http::header::HOST) {
            Some(host) if host.to_str().is_err() => return Err(Failure::Host),
            Some(_) => {}
            // HTTP/1.0 has none.
            None => drop(parts.headers.insert(http::header::HOST, HeaderValue::from_static("localhost"))),
        }
    }
    #[cfg(feature = "wasi03")]
    if !version.exports.handler.is_wasi02() && wasi03::authority(&parts).is_none() {
        return Err(Failure::Host);
    }
    let broken: fn(skep::body::BodyError) -> Error = |error| {
        tracing::debug!(target: "skep::isolate", %error, "the body of a request broke off");
        // The client gets the status, whatever the guest makes of it.
        match error.downcast_ref::<BodyFailure>().map(BodyFailure::status) {
            Some(StatusCode::PAYLOAD_TOO_LARGE) => Error::HttpRequestBodySize(None),
            Some(StatusCode::REQUEST_TIMEOUT) => Error::ConnectionReadTimeout,
            _ => Error::HttpProtocolError,
        }
    };
    Ok(http::Request::from_parts(parts, body.map_err(broken)))
}

/// True for a response that has no content, whatever its guest has written (RFC 9110, 15.3.5, 15.3.6 and 15.4.5).
fn is_without_content(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED)
}

/// The part of a response that has arrived.
#[derive(Default)]
struct Gathered {
    is_head: bool,
    /// Its guest may wait until the response was taken, and end then.
    waits_for_delivery: bool,
    parts: Option<Result<http::response::Parts, Failure>>,
    body: Option<HyperOutgoingBody>,
    pieces: VecDeque<Bytes>,
    bytes: usize,
    /// What follows the pieces.
    rest: Rest,
}

/// What there was to take.
enum Progress {
    None,
    Some,
    /// The response is incomplete, and too large or too slow to wait for.
    Streams,
}

impl Gathered {
    /// Takes what is there. The budget of the task, which the body of the request may have used up, does not count:
    /// with none left the channel of the body would say that nothing is there.
    fn take(&mut self, given: &Given, cx: &mut Context<'_>) -> Progress {
        match pin!(unconstrained(poll_fn(|cx| Poll::Ready(self.take_all(given, cx))))).poll(cx) {
            Poll::Ready(progress) => progress,
            Poll::Pending => Progress::None,
        }
    }

    fn take_all(&mut self, given: &Given, cx: &mut Context<'_>) -> Progress {
        if self.parts.is_none() {
            match skep_units::lock(given).take() {
                // It would not be the final response (RFC 9110, 15.2), which a guest does not control.
                Some(Ok(response)) if response.status().is_informational() => {
                    let status = response.status().as_u16();
                    self.parts = Some(Err(Failure::Trap(format!(
                        "it responded with {status}, which is no status of a response"
                    ))));
                }
                Some(Ok(response)) => {
                    let (parts, body) = response.into_parts();
                    self.parts = Some(Ok(parts));
                    self.body = Some(body);
                }
                Some(Err(code)) => self.parts = Some(Err(Failure::Code(code))),
                None => return Progress::None,
            }
        }
        let (before, was_open) = (self.pieces.len(), self.rest == Rest::Open);
        let has_no_body = self.has_no_body();
        let Some(body) = &mut self.body else { return Progress::None };
        while self.rest == Rest::Open {
            match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Pending => break,
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => {
                        self.bytes += data.len();
                        self.pieces.push_back(data);
                    }
                    Err(frame) => self.rest = frame.into_trailers().map_or(Rest::Ended, Rest::Trailers),
                },
                // A length is allowed without a body.
                Poll::Ready(Some(Err(_))) if has_no_body => self.rest = Rest::Ended,
                Poll::Ready(Some(Err(_))) => self.rest = Rest::Broken,
                Poll::Ready(None) => self.rest = Rest::Ended,
            }
        }
        match self.rest {
            Rest::Open if self.bytes > GATHERED || self.pieces.len() == before => Progress::Streams,
            Rest::Open => Progress::Some,
            _ if was_open && self.waits_for_delivery => Progress::Some,
            // The body is here; the guest may still have something to do.
            _ => Progress::Streams,
        }
    }

    /// True for a response that never has a body (RFC 9110, 6.4.1).
    fn has_no_body(&self) -> bool {
        self.is_head || matches!(&self.parts, Some(Ok(parts)) if is_without_content(parts.status))
    }

    fn is_complete(&self) -> bool {
        self.rest != Rest::Open
    }

    /// True if the guest has claimed another length than it has sent: that may be a part of what it meant.
    fn is_of_another_length(&self) -> bool {
        let Some(Ok(parts)) = &self.parts else { return false };
        let claimed = parts.headers.get(http::header::CONTENT_LENGTH).map(|length| length.to_str().ok()?.parse().ok());
        !self.has_no_body() && claimed.is_some_and(|claimed: Option<usize>| claimed != Some(self.bytes))
    }

    /// The whole response. What is incomplete now remains so.
    fn finish(self) -> Result<(http::response::Parts, Body), Failure> {
        let is_other = self.is_of_another_length();
        let parts = self.parts.ok_or(Failure::Silent)??;
        let body = match self.rest {
            Rest::Broken | Rest::Open => return Err(Failure::Broken),
            Rest::Ended if is_other => return Err(Failure::Broken),
            Rest::Trailers(_) => Body::stream(Streamed::new(self.pieces, self.rest, None).0),
            Rest::Ended => whole(self.pieces, self.bytes),
        };
        Ok((parts, body))
    }

    /// The whole response, if its body did not end with the guest: it is the body of a request, or of another response,
    /// that the guest has passed on, and needs only the permit.
    fn passed_on(self, permit: RequestPermit) -> Result<skep::Response, Failure> {
        if self.is_complete() {
            return Err(Failure::Broken);
        }
        let parts = self.parts.ok_or(Failure::Silent)??;
        let (mut body, end) = Streamed::new(self.pieces, self.rest, self.body);
        end.well();
        let gone = body.holds();
        tokio::task::spawn_local(async move {
            let _ = tokio::time::timeout_at(permit.until, gone).await;
        });
        Ok(Response::from_parts(parts, Body::stream(body)).into())
    }

    /// Its head, its body, and the handle that reports how the guest ended.
    /// `broken` is called if it does not finish its body.
    fn begin(self, broken: impl FnOnce() + Send + 'static) -> Result<(http::response::Parts, Body, End), Failure> {
        let is_other = self.is_of_another_length();
        let parts = self.parts.ok_or(Failure::Silent)??;
        if self.rest == Rest::Ended && is_other {
            return Err(Failure::Broken);
        }
        if self.rest == Rest::Ended {
            return Ok((parts, whole(self.pieces, self.bytes), End::default()));
        }
        let (mut body, end) = Streamed::new(self.pieces, self.rest, self.body);
        body.broken = Some(Box::new(broken));
        Ok((parts, Body::stream(body), end))
    }
}

/// Joins the pieces of a body.
fn whole(mut pieces: VecDeque<Bytes>, bytes: usize) -> Body {
    if pieces.len() <= 1 {
        return pieces.pop_front().unwrap_or_default().into();
    }
    let mut all = Vec::with_capacity(bytes);
    for piece in &pieces {
        all.extend_from_slice(piece);
    }
    all.into()
}
