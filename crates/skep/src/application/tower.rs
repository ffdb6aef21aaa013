//! [tower](https://docs.rs/tower): services below a prefix, layers around the application, and the application as a
//! service. With the cargo feature `tower`.
//!
//! | to | call |
//! |---|---|
//! | mount an `axum::Router` or another service below a prefix | [`App::mount_service`](crate::App::mount_service) |
//! | put a layer of `tower-http` around the application | [`App::layer`](crate::App::layer) |
//! | use the application in an axum router or a server of your own | [`service`] |
//!
//! The how-to guide is `docs/guides/extend/tower.md`.

mod mounted;
mod pumped;
mod served;
mod stack;

use std::any::Any;
use std::task::{Context, Poll};

use bytes::Bytes;

use skep_http::body::{Body, BodyError};
use skep_http::error::Error;
use skep_http::ext::RequestExt as _;
use skep_http::request::{Peer, Received, Request, RequestId};
use skep_http::response::Response;

pub use served::{AppService, Driver, service};
pub use stack::{Inner, InnerFuture};
pub(crate) use stack::{MakeLayer, Stack};

/// The server wants to know what the request cost.
#[derive(Clone)]
struct Accounted;

/// A request as tower's services take it. Extensions hold the [`Peer`], and the id of error pages and log lines if it
/// is known.
fn into_http(request: Request) -> http::Request<Body> {
    let Received { mut parts, body, peer, id, is_accounted } = request.into_received();
    parts.extensions.insert(peer);
    if let Some(id) = id {
        parts.extensions.insert(id);
    }
    if is_accounted {
        parts.extensions.insert(Accounted);
    }
    http::Request::from_parts((*parts).into(), body)
}

fn from_http(request: http::Request<Body>) -> Request {
    let (mut parts, body) = request.into_parts();
    let peer = parts.extensions.remove::<Peer>().unwrap_or_default();
    let id = parts.extensions.remove::<RequestId>();
    let is_accounted = parts.extensions.remove::<Accounted>().is_some();
    Request::of(Received { parts: parts.into(), body, peer, id, is_accounted })
}

/// A body of any kind. Our own, from a layer that leaves bodies alone, stays what it is: whole, or a file.
fn body<B>(body: B) -> Body
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BodyError>,
{
    let mut body = Some(body);
    if let Some(own) = (&mut body as &mut dyn Any).downcast_mut::<Option<Body>>() {
        return own.take().unwrap_or_else(Body::empty);
    }
    match body {
        Some(body) if !body.is_end_stream() => Body::stream(body),
        _ => Body::empty(),
    }
}

fn response<B>(response: http::Response<B>) -> Response
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BodyError>,
{
    response.map(body).into()
}

/// Waits until the service is ready, and calls it.
async fn call<S, B>(mut service: S, request: http::Request<Body>) -> crate::Result
where
    S: tower_service::Service<http::Request<Body>, Response = http::Response<B>>,
    S::Error: Into<BodyError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BodyError>,
{
    let failed = |error: S::Error| Error::internal(error.into());
    std::future::poll_fn(|cx: &mut Context<'_>| -> Poll<Result<(), S::Error>> { service.poll_ready(cx) })
        .await
        .map_err(failed)?;
    service.call(request).await.map(response).map_err(failed)
}
