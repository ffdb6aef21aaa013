//! Requests to applications of Skep: one buffer goes in and one comes out (`wit/skep.wit`, interface `door`), where `wasi:http` takes some
//! twenty calls of the host.
//!
//! Start reading at [`answer`].

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body::Frame;
use skep::body::BodyError;
use skep::cx::RequestId;
use skep::mount::Mounted;
use skep::wire::request::{EMPTY, FOLLOWS, Head, WHOLE, write_fields};
use skep::wire::{Reader, Short, Writer};
use skep::{Body, Response};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use wasmtime::Result;
use wasmtime::component::{Component, ComponentExportIndex, ComponentNamedList, Lift, Lower};
use wasmtime_wasi_http::DEFAULT_FORBIDDEN_HEADERS;

use super::failure::Failure;
use super::{Place, page};
use crate::instance::Instance;
use crate::ready::Ready;
use crate::services::{seed, version};

/// The functions of the interface `door`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Door {
    answer: ComponentExportIndex,
    more: ComponentExportIndex,
    /// The page for a request that failed.
    pub(super) failed: Option<ComponentExportIndex>,
    /// It can read a body piece by piece.
    reads_bodies: bool,
}

impl Door {
    /// Of a component that was made by `skep::component!`.
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let (_, door) = component.get_export(None, version("door").as_str())?;
        let (_, answer) = component.get_export(Some(&door), "answer")?;
        let (_, more) = component.get_export(Some(&door), "more")?;
        let failed = component.get_export(Some(&door), "failed").map(|(_, failed)| failed);
        let body = version("body");
        let reads_bodies = component.component_type().imports(component.engine()).any(|(name, _)| name == body);
        Some(Self { answer, more, failed, reads_bodies })
    }

    /// True if the body of this request passes.
    pub(crate) fn takes(&self, body: &Body) -> bool {
        self.reads_bodies || body.as_whole().is_some()
    }
}

/// A larger body is read piece by piece.
const MOST_WHOLE: usize = 64 << 10;

/// The request in one buffer, and what of its body is still to be read.
fn packed(request: Mounted) -> (Vec<u8>, Option<Body>) {
    let Mounted { parts, body, peer, id } = request;
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
    write_fields(&mut out, &parts.headers, 0);
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

/// The most that the fields of an answer may have, names and values together.
const FIELDS: usize = 128 << 10;

/// An answer, and whether its body follows. The guest is not trusted: where the answer ends is for us to say, or what it calls a body could
/// be read as another answer (RFC 9112, 11.1).
pub(super) fn unpacked(bytes: &Bytes, is_head: bool) -> Result<(Response, bool), String> {
    let short = |short: Short| short.to_string();
    let mut reader = Reader::new(bytes);
    let number = reader.u16().map_err(short)?;
    let status = StatusCode::from_u16(number).ok().filter(|status| !status.is_informational());
    let status = status.ok_or_else(|| format!("it answered with {number}, which is no status of an answer"))?;
    let mut response = Response::of_status(status);
    let mut taken = 0;
    for _ in 0..reader.u32().map_err(short)? {
        let (name, value) = (reader.bytes().map_err(short)?, reader.bytes().map_err(short)?);
        // As they are written: `name: value` and the end of the line.
        taken += name.len() + value.len() + 4;
        if taken > FIELDS {
            return Err(format!("the fields of its answer have more than {FIELDS} bytes"));
        }
        let name = HeaderName::from_bytes(name).map_err(|error| format!("a field of its answer: {error}"))?;
        let value = HeaderValue::from_bytes(value).map_err(|error| format!("its field {name}: {error}"))?;
        // They are about the connection, which is not the guest's.
        if !DEFAULT_FORBIDDEN_HEADERS.contains(&name) {
            let added = response.headers_mut().try_append(name, value);
            added.map_err(|_| "its answer has more fields than a head can hold".to_owned())?;
        }
    }
    let follows = reader.u8().map_err(short)? == FOLLOWS;
    // Without a body the length is the one that there would be (RFC 9110, 8.6); a body that is here has its own.
    let may_have_length = follows || is_head || status == StatusCode::NOT_MODIFIED;
    if !may_have_length || !has_one_length(response.headers()) {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    *response.body_mut() = bytes.slice_ref(reader.rest()).into();
    Ok((response, follows))
}

fn has_one_length(headers: &HeaderMap) -> bool {
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let is_number = |value: &HeaderValue| !value.is_empty() && value.as_bytes().iter().all(u8::is_ascii_digit);
    lengths.next().is_some_and(is_number) && lengths.next().is_none()
}

/// Runs a future of the guest on this thread. A timer is made when it first waits; most never do.
pub(super) async fn within<T>(until: Instant, guest: impl Future<Output = T>) -> Result<T, Failure> {
    let mut guest = pin!(guest);
    if let Poll::Ready(done) = poll_fn(|cx| Poll::Ready(guest.as_mut().poll(cx))).await {
        return Ok(done);
    }
    tokio::time::timeout_at(until, guest).await.map_err(|_| Failure::Late)
}

/// Answers a request.
pub(super) async fn answer(
    ready: &Arc<Ready>,
    door: Door,
    place: Place,
    request: Mounted,
) -> Result<Response, Failure> {
    let (id, is_head) = (request.id, request.parts.method == Method::HEAD);
    let (bytes, body) = packed(request);
    let mut place = Some(place);
    match attempt(ready, door, &mut place, (id, is_head), (&bytes, body)).await {
        Ok(response) => Ok(response),
        // A probe wants to know what failed. Who asks for a page is still in its place, and takes nobody else's.
        Err(failure) if place.as_ref().is_none_or(|place| !place.counts) => Err(failure),
        Err(failure) => page::of(failure, (ready, door), (id, is_head), &bytes).await,
    }
}

async fn attempt(
    ready: &Arc<Ready>,
    door: Door,
    place: &mut Option<Place>,
    (id, is_head): (RequestId, bool),
    (bytes, body): (&[u8], Option<Body>),
) -> Result<Response, Failure> {
    let mut instance = ready.instance();
    instance.begin(ready).map_err(|error| Failure::Trap(error.to_string()))?;
    instance.store.data_mut().services.begin(id);
    instance.store.data_mut().services.body = body;
    // Copied as the call returns: the guest frees what it gave before anybody here could look at it again.
    let until = place.as_ref().map_or_else(Instant::now, |place| place.until);
    let called = within(until, instance.call::<_, (Vec<u8>,)>(ready, &door.answer, (bytes,))).await?;
    let bytes = match called {
        Ok((bytes,)) => Bytes::from(bytes),
        Err(error) => return Err(Failure::of(Err(error), &instance, ready).err().unwrap_or(Failure::Silent)),
    };
    let (mut response, follows) = unpacked(&bytes, is_head).map_err(Failure::Trap)?;
    if follows && let Some(place) = place.take() {
        // Who reads the answer slowly keeps the body of its request open, and no database.
        instance.store.data_mut().services.undo();
        let at = Arc::new(Mutex::new(Shared { at: At::Idle(Box::new((instance, place))), reader: None }));
        let end = tokio::task::spawn_local(ends(Arc::downgrade(&at), until, Arc::clone(ready), id));
        let rest = Rest { shared: at, ready: Arc::clone(ready), door, id, end: end.abort_handle() };
        *response.body_mut() = Body::stream(rest);
    } else {
        instance.store.data_mut().services.end();
        ready.give_back(instance).await;
    }
    Ok(response)
}

impl Instance {
    /// Calls a function of the guest, within the time of the request that it has begun.
    pub(crate) async fn call<P, R>(
        &mut self,
        ready: &Ready,
        function: &ComponentExportIndex,
        parameters: P,
    ) -> Result<R>
    where
        P: ComponentNamedList + Lower + Send + Sync,
        R: ComponentNamedList + Lift + Send + Sync + 'static,
    {
        let instance = self.live(ready).await?;
        let function = instance.get_typed_func::<P, R>(&mut self.store, function)?;
        let result = function.call_async(&mut self.store, parameters).await?;
        self.came_back(instance);
        Ok(result)
    }
}

/// The body of an answer that its guest makes while it is sent.
struct Rest {
    shared: Arc<Mutex<Shared>>,
    ready: Arc<Ready>,
    door: Door,
    id: RequestId,
    /// The task that ends it when its time is up.
    end: AbortHandle,
}

/// What the body and the task that ends it both reach; they run on one thread.
struct Shared {
    at: At,
    /// Who waits for the next piece.
    reader: Option<Waker>,
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.end.abort();
    }
}

/// Ends a guest when the time of its request is up, even if nobody reads its answer: it would keep its place for as long as a client likes.
async fn ends(shared: Weak<Mutex<Shared>>, until: Instant, ready: Arc<Ready>, id: RequestId) {
    tokio::time::sleep_until(until).await;
    let Some(shared) = shared.upgrade() else { return };
    let (guest, reader) = {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(shared.at, At::Ended | At::Late) {
            return;
        }
        (std::mem::replace(&mut shared.at, At::Late), shared.reader.take())
    };
    drop(guest);
    Failure::Late.log(&ready, id);
    if let Some(reader) = reader {
        reader.wake();
    }
}

/// The guest, and its place among those that may be at work.
type Guest = Box<(Instance, Place)>;

type Asking = Pin<Box<dyn Future<Output = (Guest, Result<Option<Bytes>, Failure>)> + Send>>;

enum At {
    Idle(Guest),
    Asking(Asking),
    /// Its time was up.
    Late,
    Ended,
}

async fn ask(mut guest: Guest, ready: Arc<Ready>, door: Door) -> (Guest, Result<Option<Bytes>, Failure>) {
    type More = (std::result::Result<Option<Vec<u8>>, String>,);
    let piece = match guest.0.call::<(), More>(&ready, &door.more, ()).await {
        Ok((Ok(piece),)) => Ok(piece.map(Bytes::from)),
        Ok((Err(text),)) => Err(Failure::Trap(text)),
        Err(error) => Err(Failure::of(Err(error), &guest.0, &ready).err().unwrap_or(Failure::Silent)),
    };
    (guest, piece)
}

impl http_body::Body for Rest {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &*self;
        let mut shared = this.shared.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match std::mem::replace(&mut shared.at, At::Ended) {
                At::Ended => return Poll::Ready(None),
                At::Late => return Poll::Ready(Some(Err("the guest took too long over its answer".into()))),
                At::Idle(guest) => shared.at = At::Asking(Box::pin(ask(guest, Arc::clone(&this.ready), this.door))),
                At::Asking(mut asking) => match asking.as_mut().poll(cx) {
                    Poll::Pending => {
                        shared.at = At::Asking(asking);
                        shared.reader = Some(cx.waker().clone());
                        return Poll::Pending;
                    }
                    Poll::Ready((guest, Ok(Some(piece)))) => {
                        shared.at = At::Idle(guest);
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                    Poll::Ready((guest, Ok(None))) => {
                        let (mut instance, _place) = *guest;
                        instance.store.data_mut().services.end();
                        this.ready.keep(instance);
                        return Poll::Ready(None);
                    }
                    Poll::Ready((_, Err(failure))) => {
                        failure.log(&this.ready, this.id);
                        return Poll::Ready(Some(Err("the guest failed before its answer was complete".into())));
                    }
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, fields: &[(&str, &str)], kind: u8, is_head: bool) -> Result<(Response, bool), String> {
        let mut out = Writer::with_capacity(64);
        out.u16(status);
        out.u32(u32::try_from(fields.len()).unwrap());
        for (name, value) in fields {
            out.bytes(name.as_bytes());
            out.bytes(value.as_bytes());
        }
        out.u8(kind);
        out.rest(b"body");
        unpacked(&out.finish().into(), is_head)
    }

    fn length(status: u16, lengths: &[&str], kind: u8, is_head: bool) -> Option<String> {
        let fields: Vec<_> = lengths.iter().map(|length| ("content-length", *length)).collect();
        let (answer, _) = answered(status, &fields, kind, is_head).unwrap();
        answer.headers().get(CONTENT_LENGTH).map(|length| length.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_guest_does_not_say_where_its_answer_ends() {
        assert_eq!(length(200, &["1"], 1, false), None, "the body is here");
        assert_eq!(length(204, &["1"], 1, false), None);
        assert_eq!(length(200, &["9"], 1, true).as_deref(), Some("9"), "HEAD");
        assert_eq!(length(304, &["9"], 1, false).as_deref(), Some("9"));
        assert_eq!(length(200, &["9"], 2, false).as_deref(), Some("9"), "the body follows");
        for wrong in [&["1", "9"][..], &["+9"], &["1, 9"], &[""]] {
            assert_eq!(length(200, wrong, 2, false), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_connection_is_not_the_guests() {
        let fields = [("transfer-encoding", "chunked"), ("Connection", "x"), ("keep-alive", "1"), ("x", "y")];
        let (answer, _) = answered(200, &fields, 1, false).unwrap();
        assert_eq!(answer.headers().len(), 1);
        for status in [0, 99, 100, 101, 103, 1000] {
            assert!(answered(status, &[], 1, false).unwrap_err().contains("no status of an answer"), "{status}");
        }
    }

    #[test]
    fn a_head_has_its_bounds() {
        let many = vec![("a", ""); 40_000];
        assert!(answered(200, &many, 1, false).unwrap_err().contains("more than 131072 bytes"));
        let large = "x".repeat(FIELDS);
        assert!(answered(200, &[("x", &large)], 1, false).unwrap_err().contains("more than 131072 bytes"));
        assert!(answered(200, &[("x", "a\r\nb: c")], 1, false).unwrap_err().contains("its field x"));
        assert!(answered(200, &[("a b", "c")], 1, false).is_err());
    }
}
