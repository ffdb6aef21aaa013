//! Requests to components of WASI 0.3: `wasi:http/handler`, whose functions run concurrently, and on after they have
//! returned.
//!
//! Start reading at [`serve`].

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::HOST;
use http::uri::{Authority, Scheme};
use http_body::Frame;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};
use wasmtime::Result;
use wasmtime::component::Accessor;
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;
use wasmtime_wasi_http::p3::Request;
use wasmtime_wasi_http::p3::bindings::{Service, ServiceIndices};
use wasmtime_wasi_http::{Error, FieldMap, WasiHttpView};

use super::{Given, Incoming, give};
use crate::instance::Instance;
use crate::program::Program;
use crate::state::StoreData;

/// Has an instance handle a request, with what it does after its response.
pub(super) async fn serve(
    instance: &mut Instance,
    program: &Program,
    indices: &ServiceIndices,
    (incoming, given): (Incoming, Given),
) -> Result<()> {
    instance.begin(program)?;
    let handle = async |accessor: &Accessor<StoreData>, service: &Arc<Service>| {
        accessor.with(|mut access| access.data_mut().services.begin(incoming.id));
        answer(accessor, service, (incoming, given)).await?;
        // What it does after its response is a part of the request.
        poll_fn(|cx| accessor.poll_no_interesting_tasks(cx)).await;
        Ok(())
    };
    instance.serve_concurrent(program, indices, handle).await
}

/// Calls the handler. It may run on after its response.
async fn answer(
    accessor: &Accessor<StoreData>,
    service: &Service,
    (mut incoming, given): (Incoming, Given),
) -> Result<()> {
    let (until, done) = (incoming.until, incoming.done.take());
    let request = accessor.with(|mut access| request(access.data_mut(), incoming));
    let response = match service.handle(accessor, request).await? {
        Ok(response) => response,
        Err(code) => {
            give(&given, Err(format!("{code:?}")));
            return Ok(());
        }
    };
    let (taken, is_taken) = oneshot::channel();
    // Tells the guest whether its response was sent.
    let told = async { is_taken.await.map_err(|_| Error::ConnectionTerminated) };
    let response = accessor.with(|access| response.into_http(access, told))?;
    give(
        &given,
        Ok(response.map(|body| HyperOutgoingBody::new(Taken { body, until, timer: None, guest: Some(taken), done }))),
    );
    Ok(())
}

/// The authority of a request, if it is valid.
pub(super) fn authority(parts: &http::request::Parts) -> Option<Authority> {
    let named = || Authority::try_from(parts.headers.get(HOST)?.as_bytes()).ok();
    parts.uri.authority().cloned().or_else(named)
}

/// A request as WASI 0.3 has it.
fn request(state: &mut StoreData, incoming: Incoming) -> Request {
    let (parts, body) = incoming.request.into_parts();
    let scheme = if incoming.is_tls { Scheme::HTTPS } else { Scheme::HTTP };
    let (authority, path) = (authority(&parts), parts.uri.path_and_query().cloned());
    let headers = FieldMap::new_immutable(state.http().hooks, parts.headers);
    Request::new(parts.method, Some(scheme), authority, path, headers, None, body).0
}

/// The body of a response. It ends at the deadline of its request: the guest may have ended, if it has passed on the
/// body of its request or of another response.
struct Taken {
    body: HyperOutgoingBody,
    until: Instant,
    timer: Option<Pin<Box<Sleep>>>,
    /// Tells the guest that all of it was taken.
    guest: Option<oneshot::Sender<()>>,
    /// Tells the host.
    done: Option<oneshot::Sender<()>>,
}

impl http_body::Body for Taken {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.body).poll_frame(cx);
        match &polled {
            Poll::Ready(None) => {
                this.guest.take().map(|guest| guest.send(()));
                this.done = None;
                polled
            }
            Poll::Ready(Some(Err(_))) => {
                this.done = None;
                polled
            }
            Poll::Ready(_) => polled,
            Poll::Pending => {
                let until = this.until;
                let timer = this.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
                timer.as_mut().poll(cx).map(|()| Some(Err(Error::HttpResponseTimeout)))
            }
        }
    }
}
