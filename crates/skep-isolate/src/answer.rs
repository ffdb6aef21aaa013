//! From a request to its answer, by an instance.
//!
//! The guest runs on the thread of the request, and as far as it gets without waiting nothing is handed to anybody: most answers are complete
//! when the guest returns, and leave as one piece. A guest that waits, or writes more than is gathered, goes on beside its answer.

mod body;
mod concurrent;
mod door;
mod failure;
mod page;
mod together;

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use skep::Body;
use skep::cx::RequestId;
use skep::mount::Mounted;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};
use wasmtime::Result;
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;
use wasmtime_wasi_http::{Error, WasiHttpView};

use crate::engine::Work;
use crate::instance::Instance;
use crate::ready::{Handler, Ready};
use crate::services::{FIELD, Sender};
use crate::state::State;
use body::{End, Rest, Streamed};
use concurrent::Asked;
pub(crate) use door::Door;
use failure::Failure;
pub(crate) use failure::told;
pub(crate) use together::Rooms;

/// What a guest has said so far.
type Given = Arc<Mutex<Option<Result<Response<HyperOutgoingBody>, String>>>>;

/// So much of a body is gathered before it becomes a stream.
const GATHERED: usize = 64 << 10;

/// One of the instances that an application may have at once, and the time of its request.
struct Place {
    ready: Arc<Ready>,
    /// When the request must be done: from its beginning to the last piece of its answer there is one time.
    until: Instant,
    counts: bool,
    _work: Work,
}

impl Place {
    fn take(ready: &Arc<Ready>) -> Result<Self, Failure> {
        ready.counts.begun.fetch_add(1, Ordering::Relaxed);
        let before = ready.counts.running.fetch_add(1, Ordering::Relaxed);
        let mut place = Self::apart(ready);
        place.counts = true;
        if before < ready.limits.instances { Ok(place) } else { Err(Failure::Full) }
    }

    /// One beside those: whether a version works does not depend on how many ask.
    fn apart(ready: &Arc<Ready>) -> Self {
        let until = Instant::now() + ready.limits.time;
        Self { ready: Arc::clone(ready), until, counts: false, _work: ready.grants.clock.work() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.counts {
            self.ready.counts.running.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// An instance that is done with its request.
struct Ended {
    /// None if others use it, too.
    instance: Option<Instance>,
    result: Result<(), Failure>,
    place: Place,
}

impl Ended {
    fn of(result: Result<()>, instance: Instance, (place, ready): (Place, &Ready)) -> Self {
        let result = Failure::of(result, &instance, ready);
        Self { instance: Some(instance), result, place }
    }
}

/// A guest at work.
struct Running {
    ready: Arc<Ready>,
    guest: Pin<Box<dyn Future<Output = Ended>>>,
    given: Given,
    /// Resolves when its answer was taken, for guests of WASI 0.3: they may be gone before.
    taken: Option<oneshot::Receiver<()>>,
    until: Instant,
    /// Started when the guest first waits.
    timer: Option<Pin<Box<Sleep>>>,
}

/// How far a guest got.
enum Step {
    Ended(Box<Ended>),
    /// It has begun its answer, and waits.
    Streams,
    Late,
}

/// Answers a request.
pub(crate) async fn answer(ready: Arc<Ready>, request: Mounted) -> skep::Result {
    match Place::take(&ready) {
        Ok(place) => answer_in(ready, place, request).await,
        Err(failure) => Err(failure.into_error(&ready)),
    }
}

/// Answers a request of ours, which takes nobody's place.
pub(crate) async fn probe(ready: Arc<Ready>, request: Mounted) -> skep::Result {
    let place = Place::apart(&ready);
    answer_in(ready, place, request).await
}

async fn answer_in(ready: Arc<Ready>, place: Place, request: Mounted) -> skep::Result {
    if let Some(door) = ready.door.filter(|door| door.takes(&request.body)) {
        return door::answer(&ready, door, place, request).await.map_err(|failure| failure.into_error(&ready));
    }
    let (id, is_head) = (request.id, request.parts.method == http::Method::HEAD);
    let mut running = match Running::begin(&ready, place, request) {
        Ok(running) => running,
        Err(failure) => return Err(failure.into_error(&ready)),
    };
    let is_told = matches!(ready.handler, Handler::Third(_));
    let mut gathered = Gathered { is_head, is_told, ..Gathered::default() };
    let step = poll_fn(|cx| running.poll(cx, Some(&mut gathered))).await;
    let answer = match step {
        Step::Ended(ended) => running.whole(*ended, gathered).await,
        Step::Streams => running.streamed(id, gathered),
        Step::Late => Err(Failure::Late),
    };
    answer.map_err(|failure| failure.into_error(&ready))
}

impl Running {
    fn begin(ready: &Arc<Ready>, place: Place, request: Mounted) -> Result<Self, Failure> {
        let (id, until) = (request.id, place.until);
        let is_tls = request.peer.tls;
        let request = incoming(request, ready)?;
        let given = Given::default();
        let (done, taken) = match ready.handler {
            Handler::Second(_) => (None, None),
            Handler::Third(_) => {
                let (done, taken) = oneshot::channel();
                (Some(done), Some(taken))
            }
        };
        let asked = Asked { request, is_tls, id, until, done };
        let guest = Box::pin(run(Arc::clone(ready), place, asked, Arc::clone(&given)));
        Ok(Self { ready: Arc::clone(ready), guest, given, taken, until, timer: None })
    }

    /// Lets the guest run. While its answer is gathered, it is taken from it as fast as it comes.
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

    /// The answer of a guest that is done.
    async fn whole(&mut self, ended: Ended, mut gathered: Gathered) -> Result<skep::Response, Failure> {
        let Ended { instance, result, place } = ended;
        result?;
        gathered.take(&self.given, &mut Context::from_waker(Waker::noop()));
        // One that broke off says nothing good of the instance.
        if gathered.is_complete() && gathered.rest != Rest::Broken {
            self.give_back(instance).await;
        } else {
            // What the guest has left open ends with it.
            drop(instance);
            gathered.take(&self.given, &mut Context::from_waker(Waker::noop()));
            if matches!(self.ready.handler, Handler::Third(_)) && gathered.parts.is_some() {
                return gathered.passed_on(place);
            }
        }
        let (parts, body) = gathered.finish()?;
        Ok(response(parts, body))
    }

    async fn give_back(&self, instance: Option<Instance>) {
        if let Some(instance) = instance {
            self.ready.give_back(instance).await;
        }
    }

    /// The answer of a guest that goes on.
    fn streamed(self, id: RequestId, gathered: Gathered) -> Result<skep::Response, Failure> {
        let (parts, body, end) = gathered.begin()?;
        tokio::task::spawn_local(self.go_on(id, end));
        Ok(response(parts, body))
    }

    async fn go_on(mut self, id: RequestId, end: End) {
        let step = poll_fn(|cx| self.poll(cx, None)).await;
        let mut place = None;
        let result = match step {
            Step::Ended(ended) => {
                let Ended { instance, result, place: taken } = *ended;
                // Until the instance is back: who comes before must not make another one.
                place = Some(taken);
                match self.taken.take() {
                    // What the guest has left open, it does not end when it goes: it would look as if it were complete.
                    Some(taken) if result.is_ok() => match tokio::time::timeout_at(self.until, taken).await {
                        // The body may have ended it first, when its time was up.
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
                self.give_back(instance).await;
            }
            Err(failure) => {
                // First this, then the guest: whoever reads the body must not take its end for a good one.
                end.badly();
                failure.log(&self.ready, id);
            }
        }
        drop(place);
    }
}

/// The life of an instance for one request.
async fn run(ready: Arc<Ready>, place: Place, asked: Asked, given: Given) -> Ended {
    if ready.at_once() > 1 {
        return Box::pin(together::join(ready, place, asked, given)).await;
    }
    let mut instance = ready.instance();
    let indices = match &ready.handler {
        Handler::Second(indices) => indices,
        Handler::Third(indices) => {
            // Apart, so that what runs a request of WASI 0.2 is no larger for it.
            let result = Box::pin(concurrent::serve(&mut instance, &ready, indices, (asked, given))).await;
            return Ended::of(result, instance, (place, &ready));
        }
    };
    let Asked { request, is_tls, id, .. } = asked;
    let scheme = if is_tls { Scheme::Https } else { Scheme::Http };
    let make = |state: &mut State| {
        state.services.begin(id);
        let mut http = state.http();
        let request = http.new_incoming_request(scheme, request)?;
        let outparam = http.new_response_outparam_from_callback(move |response| {
            give(&given, response.map_err(|code| format!("{code:?}")));
        })?;
        Ok((request, outparam))
    };
    let result = instance.serve(&ready, indices, make).await;
    Ended::of(result, instance, (place, &ready))
}

fn give(given: &Given, response: Result<Response<HyperOutgoingBody>, String>) {
    *given.lock().unwrap_or_else(PoisonError::into_inner) = Some(response);
}

type Incoming = http_body_util::combinators::MapErr<Body, fn(skep::body::BodyError) -> Error>;

/// A request as WASI has it: with an authority.
fn incoming(request: Mounted, ready: &Ready) -> Result<http::Request<Incoming>, Failure> {
    let Mounted { mut parts, body, peer, id } = request;
    if ready.door.is_some() {
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
    if matches!(ready.handler, Handler::Third(_)) && concurrent::authority(&parts).is_none() {
        return Err(Failure::Host);
    }
    let broken: fn(skep::body::BodyError) -> Error = |error| {
        tracing::debug!(target: "skep::isolate", %error, "the body of a request broke off");
        Error::HttpProtocolError
    };
    Ok(http::Request::from_parts(parts, body.map_err(broken)))
}

fn response(parts: http::response::Parts, body: Body) -> skep::Response {
    let mut response = skep::Response::new(body).with_status(parts.status);
    *response.headers_mut() = parts.headers;
    response
}

/// An answer, as far as it is here.
#[derive(Default)]
struct Gathered {
    is_head: bool,
    /// Its guest may wait for the answer to be taken, and end then.
    is_told: bool,
    parts: Option<Result<http::response::Parts, Failure>>,
    body: Option<HyperOutgoingBody>,
    pieces: VecDeque<Bytes>,
    bytes: usize,
    /// What came behind the pieces.
    rest: Rest,
}

/// What there was to take.
enum Progress {
    None,
    Some,
    /// The answer is not complete, and too large to be waited for, or slow.
    Streams,
}

impl Gathered {
    fn take(&mut self, given: &Given, cx: &mut Context<'_>) -> Progress {
        if self.parts.is_none() {
            match given.lock().unwrap_or_else(PoisonError::into_inner).take() {
                // It would not be the end of the answer (RFC 9110, 15.2), and that is not for a guest to say.
                Some(Ok(response)) if response.status().is_informational() => {
                    let status = response.status().as_u16();
                    self.parts =
                        Some(Err(Failure::Trap(format!("it answered with {status}, which is no status of an answer"))));
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
                // A length without a body is right where there is none.
                Poll::Ready(Some(Err(_))) if has_no_body => self.rest = Rest::Ended,
                Poll::Ready(Some(Err(_))) => self.rest = Rest::Broken,
                Poll::Ready(None) => self.rest = Rest::Ended,
            }
        }
        match self.rest {
            Rest::Open if self.bytes > GATHERED || self.pieces.len() == before => Progress::Streams,
            Rest::Open => Progress::Some,
            _ if was_open && self.is_told => Progress::Some,
            // The body is here; the guest may still have something to do.
            _ => Progress::Streams,
        }
    }

    /// True if the answer is one that never has a body (RFC 9110, 6.4.1).
    fn has_no_body(&self) -> bool {
        let without = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED];
        self.is_head || matches!(&self.parts, Some(Ok(parts)) if without.contains(&parts.status))
    }

    fn is_complete(&self) -> bool {
        self.rest != Rest::Open
    }

    /// The whole of it. What is not complete now never will be.
    fn finish(self) -> Result<(http::response::Parts, Body), Failure> {
        let parts = self.parts.ok_or(Failure::Silent)??;
        let body = match self.rest {
            Rest::Broken | Rest::Open => return Err(Failure::Broken),
            Rest::Trailers(_) => Body::stream(Streamed::new(self.pieces, self.rest, None).0),
            Rest::Ended => whole(self.pieces, self.bytes),
        };
        Ok((parts, body))
    }

    /// The whole of it, if what its guest has left open did not end with it: it is the body of a request, or of another answer, that the
    /// guest has passed on, and needs nobody but its place.
    fn passed_on(self, place: Place) -> Result<skep::Response, Failure> {
        if self.is_complete() {
            return Err(Failure::Broken);
        }
        let parts = self.parts.ok_or(Failure::Silent)??;
        let (mut body, end) = Streamed::new(self.pieces, self.rest, self.body);
        end.well();
        let gone = body.holds();
        tokio::task::spawn_local(async move {
            let _ = tokio::time::timeout_at(place.until, gone).await;
        });
        Ok(response(parts, Body::stream(body)))
    }

    /// The beginning of it, what is still to come, and what to tell about its end.
    fn begin(self) -> Result<(http::response::Parts, Body, End), Failure> {
        let parts = self.parts.ok_or(Failure::Silent)??;
        if self.rest == Rest::Ended {
            return Ok((parts, whole(self.pieces, self.bytes), End::default()));
        }
        let (body, end) = Streamed::new(self.pieces, self.rest, self.body);
        Ok((parts, Body::stream(body), end))
    }
}

/// One piece is passed on as it is; many small ones become one.
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
