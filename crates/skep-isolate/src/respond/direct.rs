//! Requests to applications of Skep: one buffer in and one out (`wit/skep.wit`, interface `handler`), where `wasi:http`
//! takes some twenty host calls.
//!
//! Start reading at [`respond`].

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
use http_body::Frame;
use skep::body::BodyError;
use skep::mount::Mounted;
use skep::request::RequestId;
use skep::wire::Hint;
use skep::wire::request::{EMPTY, FOLLOWS, Head, WHOLE, write_fields};
use skep::wire::{Reader, Short, Writer};
use skep::{Body, Response};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use wasmtime::Result;
use wasmtime_wasi_http::DEFAULT_FORBIDDEN_HEADERS;

use super::failure::Failure;
use super::{RequestPermit, error_page, is_without_content};
use crate::exports::DirectHandler;
use crate::instance::Instance;
use crate::random::seed;
use crate::version::Version;

/// True if the component can read this body.
pub(super) fn takes(handler: &DirectHandler, body: &Body) -> bool {
    handler.streams_bodies || body.as_whole().is_some()
}

/// A larger body is read in pieces.
const MOST_WHOLE: usize = 64 << 10;

/// The request in one buffer, and its body if that is read in pieces.
fn packed(request: Mounted) -> (Vec<u8>, Option<Body>) {
    let Mounted { parts, body, peer, id, .. } = request;
    let mut out = Writer::with_capacity(256 + 48 * parts.headers.len());
    let head = Head {
        id: id.into(),
        seed: seed(),
        tls: peer.tls,
        method: parts.method.as_str(),
        target: parts.uri.path_and_query().map_or("/", |path| path.as_str()),
        authority: parts.uri.authority().map_or("", |authority| authority.as_str()),
        address: &peer.address.map(|address| address.to_string()).unwrap_or_default(),
    };
    head.write(&mut out);
    write_fields(&mut out, &parts.headers, 0, None);
    match body.as_whole() {
        Some([]) => out.u8(EMPTY),
        Some(bytes) if bytes.len() <= MOST_WHOLE => {
            out.u8(WHOLE);
            out.rest(bytes);
        }
        _ => {
            out.u8(FOLLOWS);
            return (out.finish(), Some(body));
        }
    }
    (out.finish(), None)
}

/// The most bytes of the fields of a response.
const FIELDS: usize = 128 << 10;

/// A response, and whether its body follows. What it says of its length, the server settles as it does that of a
/// handler, so that each field keeps its place.
pub(super) fn unpacked(bytes: &Bytes) -> Result<(Response, bool), String> {
    let short = |short: Short| short.to_string();
    let mut reader = Reader::new(bytes);
    let number = reader.u16().map_err(short)?;
    let status = StatusCode::from_u16(number).ok().filter(|status| !status.is_informational());
    let status = status.ok_or_else(|| format!("it responded with {number}, which is no status of a response"))?;
    let mut response = Response::empty(status);
    let mut taken = 0;
    for _ in 0..reader.u32().map_err(short)? {
        let (name, value) = (reader.bytes().map_err(short)?, reader.bytes().map_err(short)?);
        // As on the wire: `name: value` and CRLF.
        taken += name.len() + value.len() + 4;
        if taken > FIELDS {
            return Err(format!("the fields of its response have more than {FIELDS} bytes"));
        }
        let name = HeaderName::from_bytes(name).map_err(|error| format!("a field of its response: {error}"))?;
        let value = HeaderValue::from_bytes(value).map_err(|error| format!("its field {name}: {error}"))?;
        if name == Hint::FIELD {
            let before = response.headers().keys_len();
            response.set_hint(Hint::read(value.as_bytes(), before));
            continue;
        }
        // These fields control the connection.
        if !DEFAULT_FORBIDDEN_HEADERS.contains(&name) {
            let added = response.headers_mut().try_append(name, value);
            added.map_err(|_| "its response has more fields than a head can hold".to_owned())?;
        }
    }
    let follows = reader.u8().map_err(short)? == FOLLOWS && !is_without_content(status);
    *response.body_mut() = bytes.slice_ref(reader.rest()).into();
    Ok((response, follows))
}

/// Runs a future of the guest on this thread. Most never wait, and need no timer.
pub(super) async fn within<T>(until: Instant, guest: impl Future<Output = T>) -> Result<T, Failure> {
    let mut guest = pin!(guest);
    if let Poll::Ready(done) = poll_fn(|cx| Poll::Ready(guest.as_mut().poll(cx))).await {
        return Ok(done);
    }
    tokio::time::timeout_at(until, guest).await.map_err(|_| Failure::Late)
}

pub(super) async fn respond(
    version: &Arc<Version>,
    handler: DirectHandler,
    permit: RequestPermit,
    request: Mounted,
) -> Result<Response, Failure> {
    let id = request.id;
    let (bytes, body) = packed(request);
    let mut permit = Some(permit);
    match attempt(version, handler, &mut permit, id, (&bytes, body)).await {
        Ok(response) => Ok(response),
        // A probe reports the failure itself. The error page needs no permit of its own.
        Err(failure) if permit.as_ref().is_none_or(|permit| !permit.counts) => Err(failure),
        Err(failure) => error_page::of(failure, (version, handler), id, &bytes).await,
    }
}

async fn attempt(
    version: &Arc<Version>,
    handler: DirectHandler,
    permit: &mut Option<RequestPermit>,
    id: RequestId,
    (bytes, body): (&[u8], Option<Body>),
) -> Result<Response, Failure> {
    let mut instance = version.instance();
    instance.begin(&version.program).map_err(|error| Failure::Trap(error.to_string()))?;
    instance.store.data_mut().services.begin(id);
    instance.store.data_mut().services.body = body;
    let until = permit.as_ref().map_or_else(Instant::now, |permit| permit.until);
    // A vector, since the guest frees its list when the call returns.
    let called = within(until, instance.call::<_, (Vec<u8>,)>(&version.program, &handler.handle, (bytes,))).await?;
    let (bytes,) = called.map_err(|error| Failure::of(&error, &instance, &version.program))?;
    let (mut response, follows) = unpacked(&bytes.into()).map_err(Failure::Trap)?;
    if follows && let Some(permit) = permit.take() {
        // A client that reads slowly keeps no transaction open.
        instance.store.data_mut().services.undo();
        let at = Arc::new(Mutex::new(Shared { at: At::Idle(Box::new((instance, permit))), reader: None }));
        let end = tokio::task::spawn_local(ends(Arc::downgrade(&at), until, Arc::clone(version), id));
        let rest = Rest { shared: at, version: Arc::clone(version), handler, id, end: end.abort_handle() };
        *response.body_mut() = Body::stream(rest);
    } else {
        instance.store.data_mut().services.end();
        version.give_back(instance).await;
    }
    Ok(response)
}

/// The body of a response that its guest produces while it is sent.
struct Rest {
    shared: Arc<Mutex<Shared>>,
    version: Arc<Version>,
    handler: DirectHandler,
    id: RequestId,
    /// The task that ends it when its time is up.
    end: AbortHandle,
}

/// Shared by the body and the task that ends it.
struct Shared {
    at: At,
    /// The reader that waits for the next piece.
    reader: Option<Waker>,
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.end.abort();
    }
}

/// Ends a guest at the deadline of its request, even if its client does not read: otherwise the client would decide how
/// long its permit is held.
async fn ends(shared: Weak<Mutex<Shared>>, until: Instant, version: Arc<Version>, id: RequestId) {
    tokio::time::sleep_until(until).await;
    let Some(shared) = shared.upgrade() else { return };
    let (guest, reader) = {
        let mut shared = skep_units::lock(&shared);
        if matches!(shared.at, At::Ended | At::Late) {
            return;
        }
        (std::mem::replace(&mut shared.at, At::Late), shared.reader.take())
    };
    drop(guest);
    Failure::Late.log(&version, id);
    if let Some(reader) = reader {
        reader.wake();
    }
}

type Guest = Box<(Instance, RequestPermit)>;

type Running = Pin<Box<dyn Future<Output = (Guest, Result<Option<Bytes>, Failure>)> + Send>>;

enum At {
    Idle(Guest),
    Running(Running),
    /// The deadline has passed.
    Late,
    Ended,
}

async fn next_piece(
    mut guest: Guest,
    version: Arc<Version>,
    handler: DirectHandler,
) -> (Guest, Result<Option<Bytes>, Failure>) {
    type More = (std::result::Result<Option<Vec<u8>>, String>,);
    let piece = match guest.0.call::<(), More>(&version.program, &handler.more, ()).await {
        Ok((Ok(piece),)) => Ok(piece.map(Bytes::from)),
        Ok((Err(text),)) => Err(Failure::Trap(text)),
        Err(error) => Err(Failure::of(&error, &guest.0, &version.program)),
    };
    (guest, piece)
}

impl http_body::Body for Rest {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &*self;
        let mut shared = skep_units::lock(&this.shared);
        loop {
            match std::mem::replace(&mut shared.at, At::Ended) {
                At::Ended => return Poll::Ready(None),
                At::Late => return Poll::Ready(Some(Err("the guest took too long for its response".into()))),
                At::Idle(guest) => {
                    shared.at = At::Running(Box::pin(next_piece(guest, Arc::clone(&this.version), this.handler)));
                }
                At::Running(mut running) => match running.as_mut().poll(cx) {
                    Poll::Pending => {
                        shared.at = At::Running(running);
                        shared.reader = Some(cx.waker().clone());
                        return Poll::Pending;
                    }
                    Poll::Ready((guest, Ok(Some(piece)))) => {
                        shared.at = At::Idle(guest);
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                    Poll::Ready((guest, Ok(None))) => {
                        let (mut instance, _permit) = *guest;
                        instance.store.data_mut().services.end();
                        this.version.pool.keep(instance, &this.version.counts.instances);
                        return Poll::Ready(None);
                    }
                    Poll::Ready((_, Err(failure))) => {
                        failure.log(&this.version, this.id);
                        return Poll::Ready(Some(Err("the guest failed before its response was complete".into())));
                    }
                },
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/respond/direct.rs"]
mod tests;
