//! Requests that a mount answers, and the rules of who may reach what.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use skep_units::lock;
use skep_units::panic::{CatchPanic, Panicked};

use super::{LocalSite, Site, observed};
use crate::application::mount::{MountPoint, Mounted};
use crate::base::percent;
use crate::context::cx::{Cx, WatchResponse};
use crate::context::resources::ThreadResources;
use crate::context::work::Work;
use skep_http::body::{Body, BodyError, BodyFailure, TooLarge};
use skep_http::error::Error;
use skep_http::request::{Parts, Peer, RequestId, body_error};
use skep_http::response::{Response, Result};

/// What is done with the response, which ends with what the guards have admitted.
type Admitted = Option<WatchResponse>;

/// What is mounted where a request leads, unless a service or a folder answers there, and its position in
/// `Site::service_names`.
pub(super) fn find<'s>(site: &'s Site, parts: &Parts) -> Option<(u16, &'s MountPoint)> {
    let path = parts.uri.path();
    let (position, place) = site.mounts.iter().enumerate().find(|(_, place)| place.holds(path))?;
    let is_ours = !site.router.is_empty() && site.router.find(&percent::normalise_path(path)).is_some();
    (!is_ours).then(|| (observed::of_mount(position), place))
}

impl LocalSite {
    /// Has the access rules check a request that they say something about, before anything else sees it.
    pub(super) async fn check_access(
        &self,
        parts: &Parts,
        (peer, id): (Peer, RequestId),
        resources: &ThreadResources,
    ) -> Result<()> {
        let mut cx = Cx::new(parts, peer, (Body::empty(), 0), resources, id);
        self.site().access.check(&mut cx, parts).await.map_err(|error| cx.fail(error))
    }

    /// The answer of a mount, if its request may reach it.
    pub(super) async fn answer_from_mount(
        &self,
        mount: &MountPoint,
        parts: &mut Parts,
        (body, peer, id): (Body, Peer, RequestId),
        resources: &ThreadResources,
    ) -> Result<Result, Panicked> {
        // A block of its own: what is pinned borrows the parts until it is dropped.
        let admitted = { CatchPanic(pin!(self.admit_to_mount(parts, (peer, id), resources))).await };
        match admitted {
            Ok(Ok(watch)) => {
                let mut request = Mounted::new(parts, peer, (id, Work::new(resources)));
                let usual = self.site().setup().limits.body;
                let limit = if body.is_empty() { u64::MAX } else { mount.body_limit(&request.parts, usual) };
                // A length that is declared is refused before the client sends the body.
                if body.size_hint().lower() > limit {
                    return Ok(Err(Error::too_large(limit)));
                }
                // A body that is here, or that the mount limits itself, needs nobody who watches it.
                let failed = (limit != u64::MAX && body.as_whole().is_none()).then(Failed::default);
                request.body = match failed.clone() {
                    Some(failed) => Body::stream(Watched { body, left: limit, limit, failed }),
                    None => body,
                };
                let mut answering = pin!(mount.catching(request));
                let answered = poll_fn(|cx| {
                    let polled = answering.as_mut().poll(cx);
                    // Whatever the mount makes of a part of a body: the client has not sent the request.
                    failed.as_ref().and_then(Failed::take).map_or(polled, |error| Poll::Ready(Ok(Err(error))))
                });
                let mut answered = answered.await;
                if let (Some(watch), Ok(Ok(response))) = (watch, &mut answered) {
                    watch(response);
                }
                answered
            }
            refused => refused.map(|refused| refused.map(|_| Response::default())),
        }
    }

    /// Has the access rules and the guards of prefixes check a request that a mount answers.
    async fn admit_to_mount(
        &self,
        parts: &Parts,
        (peer, id): (Peer, RequestId),
        resources: &ThreadResources,
    ) -> Result<Admitted> {
        let path = parts.uri.path();
        if self.site().access.has_any(path) {
            Box::pin(self.check_access(parts, (peer, id), resources)).await?;
        }
        let mut guards = self.site().prefix_guards.iter().filter(|guard| guard.prefix.holds(path)).peekable();
        if guards.peek().is_none() {
            return Ok(Admitted::default());
        }
        let mut cx = Cx::new(parts, peer, (Body::empty(), 0), resources, id);
        for guard in guards {
            if let Err(error) = guard.guard.check(&mut cx).await {
                return Err(cx.fail(error));
            }
        }
        // Boxed: most guards ask once.
        if cx.is_rechecked() { Box::pin(cx.watcher()).await } else { Ok(None) }
    }
}

/// Why the body of a request failed, if it did.
#[derive(Clone, Default)]
struct Failed(Arc<Mutex<Option<Error>>>);

impl Failed {
    fn take(&self) -> Option<Error> {
        lock(&self.0).take()
    }
}

/// A body that ends with an error beyond its limit.
struct Watched {
    body: Body,
    left: u64,
    limit: u64,
    failed: Failed,
}

impl Watched {
    /// Notes the failure for the response, and tells the mount.
    fn fail(&self, why: BodyError) -> BodyFailure {
        let error = body_error(why, self.limit);
        let failure = BodyFailure::new(error.status(), error.message().unwrap_or_default().to_owned());
        *lock(&self.failed.0) = Some(error);
        failure
    }
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = BodyFailure;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFailure>>> {
        let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(cx)) else { return Poll::Ready(None) };
        let frame = match frame {
            Ok(frame) => frame,
            Err(why) => return Poll::Ready(Some(Err(self.fail(why)))),
        };
        let Some(left) = self.left.checked_sub(frame.data_ref().map_or(0, |data| data.len() as u64)) else {
            return Poll::Ready(Some(Err(self.fail(TooLarge { limit: self.limit }.into()))));
        };
        self.left = left;
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
