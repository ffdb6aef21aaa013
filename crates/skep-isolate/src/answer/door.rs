//! Requests to applications of Skep: one buffer goes in and one comes out (`wit/skep.wit`, interface `door`), where `wasi:http` takes some
//! twenty calls of the host.
//!
//! Start reading at [`answer`].

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
use http_body::Frame;
use skep::body::BodyError;
use skep::mount::Mounted;
use skep::wire::{Reader, Short, Writer};
use skep::{Body, Response};
use wasmtime::Result;
use wasmtime::component::{Component, ComponentExportIndex, ComponentNamedList, Lift, Lower, WasmList};

use super::Place;
use super::failure::Failure;
use crate::instance::Instance;
use crate::ready::Ready;
use crate::services::{seed, version};

/// The functions of the interface `door`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Door {
    answer: ComponentExportIndex,
    more: ComponentExportIndex,
    /// It can read a body piece by piece.
    reads_bodies: bool,
}

impl Door {
    /// Of a component that was made by `skep::component!`.
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let (_, door) = component.get_export(None, version("door").as_str())?;
        let (_, answer) = component.get_export(Some(&door), "answer")?;
        let (_, more) = component.get_export(Some(&door), "more")?;
        let body = version("body");
        let reads_bodies = component.component_type().imports(component.engine()).any(|(name, _)| name == body);
        Some(Self { answer, more, reads_bodies })
    }

    /// True if the body of this request passes.
    pub(crate) fn takes(&self, body: &Body) -> bool {
        self.reads_bodies || body.as_whole().is_some()
    }
}

/// A larger body is read piece by piece.
const WHOLE: usize = 64 << 10;

/// The request in one buffer, and what of its body is still to be read.
fn packed(request: Mounted) -> (Vec<u8>, Option<Body>) {
    let Mounted { parts, body, peer, id } = request;
    let mut out = Writer::with_capacity(256 + 48 * parts.headers.len());
    out.u64(id.into());
    let (a, b) = seed();
    out.u64(a);
    out.u64(b);
    out.u8(u8::from(peer.tls));
    out.bytes(parts.method.as_str().as_bytes());
    out.bytes(parts.uri.path_and_query().map_or("/", |path| path.as_str()).as_bytes());
    out.bytes(parts.uri.authority().map_or("", |authority| authority.as_str()).as_bytes());
    out.bytes(peer.address.map(|address| address.to_string()).unwrap_or_default().as_bytes());
    out.u32(u32::try_from(parts.headers.len()).expect("a header map has 32768 fields at most"));
    for (name, value) in &parts.headers {
        out.bytes(name.as_str().as_bytes());
        out.bytes(value.as_bytes());
    }
    match body.as_whole() {
        Some([]) => out.u8(0),
        Some(bytes) if bytes.len() <= WHOLE => {
            out.u8(1);
            out.rest(bytes);
        }
        _ => {
            out.u8(2);
            return (out.finish(), Some(body));
        }
    }
    (out.finish(), None)
}

/// An answer, and whether its body follows.
fn unpacked(bytes: &Bytes) -> Result<(Response, bool), Short> {
    let mut reader = Reader::new(bytes);
    let status = StatusCode::from_u16(reader.u16()?).map_err(|_| Short)?;
    let mut response = Response::of_status(status);
    for _ in 0..reader.u32()? {
        let name = HeaderName::from_bytes(reader.bytes()?).map_err(|_| Short)?;
        let value = HeaderValue::from_bytes(reader.bytes()?).map_err(|_| Short)?;
        response.headers_mut().append(name, value);
    }
    let follows = reader.u8()? == 2;
    *response.body_mut() = bytes.slice_ref(reader.rest()).into();
    Ok((response, follows))
}

/// Runs a future of the guest on this thread. A timer is made when it first waits; most never do.
async fn within<T>(ready: &Ready, guest: impl Future<Output = T>) -> Result<T, Failure> {
    let mut guest = pin!(guest);
    if let Poll::Ready(done) = poll_fn(|cx| Poll::Ready(guest.as_mut().poll(cx))).await {
        return Ok(done);
    }
    tokio::time::timeout(ready.limits.time, guest).await.map_err(|_| Failure::Late)
}

/// Answers a request.
pub(super) async fn answer(ready: &Arc<Ready>, door: Door, request: Mounted) -> Result<Response, Failure> {
    let place = Place::take(ready)?;
    let id = request.id;
    let (bytes, body) = packed(request);
    let mut instance = ready.instance();
    instance.store.data_mut().services.begin(id);
    instance.store.data_mut().services.body = body;
    let called = within(ready, instance.call::<_, (WasmList<u8>,)>(ready, &door.answer, (&bytes[..],))).await?;
    let bytes = called.map(|(list,)| Bytes::copy_from_slice(list.as_le_slice(&instance.store)));
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => return Err(Failure::of(Err(error), &instance, ready).err().unwrap_or(Failure::Silent)),
    };
    let (mut response, follows) = unpacked(&bytes).map_err(|short| Failure::Trap(short.to_string()))?;
    if follows {
        let rest = Rest { at: At::Idle(Box::new((instance, place))), ready: Arc::clone(ready), door, id };
        *response.body_mut() = Body::stream(rest);
    } else {
        instance.store.data_mut().services.end();
        ready.give_back(instance);
    }
    Ok(response)
}

impl Instance {
    /// Calls a function of the guest with its time, as [`Instance::serve`] does.
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
        let instance = self.begun(ready).await?;
        let function = instance.get_typed_func::<P, R>(&mut self.store, function)?;
        let result = function.call_async(&mut self.store, parameters).await?;
        self.came_back(instance);
        Ok(result)
    }
}

/// The body of an answer that its guest makes while it is sent.
struct Rest {
    at: At,
    ready: Arc<Ready>,
    door: Door,
    id: skep::cx::RequestId,
}

/// The guest, and its place among those that may be at work.
type Guest = Box<(Instance, Place)>;

type Asking = Pin<Box<dyn Future<Output = (Guest, Result<Option<Bytes>, Failure>)> + Send>>;

enum At {
    Idle(Guest),
    Asking(Asking),
    Ended,
}

async fn ask(mut guest: Guest, ready: Arc<Ready>, door: Door) -> (Guest, Result<Option<Bytes>, Failure>) {
    type More = (std::result::Result<Option<Vec<u8>>, String>,);
    let called = within(&ready, guest.0.call::<(), More>(&ready, &door.more, ())).await;
    let piece = match called {
        Ok(Ok((Ok(piece),))) => Ok(piece.map(Bytes::from)),
        Ok(Ok((Err(text),))) => Err(Failure::Trap(text)),
        Ok(Err(error)) => Err(Failure::of(Err(error), &guest.0, &ready).err().unwrap_or(Failure::Silent)),
        Err(failure) => Err(failure),
    };
    (guest, piece)
}

impl http_body::Body for Rest {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        loop {
            match std::mem::replace(&mut this.at, At::Ended) {
                At::Ended => return Poll::Ready(None),
                At::Idle(guest) => this.at = At::Asking(Box::pin(ask(guest, Arc::clone(&this.ready), this.door))),
                At::Asking(mut asking) => match asking.as_mut().poll(cx) {
                    Poll::Pending => {
                        this.at = At::Asking(asking);
                        return Poll::Pending;
                    }
                    Poll::Ready((guest, Ok(Some(piece)))) => {
                        this.at = At::Idle(guest);
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                    Poll::Ready((guest, Ok(None))) => {
                        let (mut instance, _place) = *guest;
                        instance.store.data_mut().services.end();
                        this.ready.give_back(instance);
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
