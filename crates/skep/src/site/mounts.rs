//! Requests that a mount answers, and the rules of who may reach what.

use std::pin::pin;

use http::request::Parts;

use super::{Local, Site, observed};
use crate::body::Body;
use crate::cx::Cx;
use crate::mount::{MountPoint, Mounted};
use crate::panic::{CatchPanic, Panicked};
use crate::percent;
use crate::request::{Peer, RequestId};
use crate::resources::ThreadResources;
use crate::response::{Response, Result};

/// What is done with the response, which ends with what the guards have admitted.
#[cfg(feature = "people")]
type Admitted = Option<crate::cx::WatchResponse>;
#[cfg(not(feature = "people"))]
type Admitted = ();

/// What is mounted where a request leads, unless a service or a folder answers there, and its position in `Site::service_observed`.
pub(super) fn find<'s>(site: &'s Site, parts: &Parts) -> Option<(u16, &'s MountPoint)> {
    let path = parts.uri.path();
    let (position, place) = site.mounts.iter().enumerate().find(|(_, place)| place.holds(path))?;
    let is_ours = !site.router.is_empty() && site.router.find(&percent::normalise_path(path)).is_some();
    (!is_ours).then(|| (observed::of_mount(position), place))
}

impl Local {
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
            #[cfg(not(feature = "people"))]
            Ok(Ok(())) => mount.catching(Mounted::new(parts, body, peer, id)).await,
            #[cfg(feature = "people")]
            Ok(Ok(watch)) => {
                let mut answered = mount.catching(Mounted::new(parts, body, peer, id)).await;
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
        #[cfg(not(feature = "people"))]
        return Ok(());
        #[cfg(feature = "people")]
        cx.watcher().await
    }
}
