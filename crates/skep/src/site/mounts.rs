//! Requests that a mount answers, and the rules of who may reach what.

use http::request::Parts;

use super::{Local, Site, observed};
use crate::body::Body;
use crate::cx::Cx;
use crate::mount::MountPoint;
use crate::percent;
use crate::request::{Peer, RequestId};
use crate::resources::ThreadResources;
use crate::response::Result;

/// What is mounted where a request leads, unless a service or a folder answers there, and its position in `Site::service_observed`.
pub(super) fn find<'s>(site: &'s Site, parts: &Parts) -> Option<(u16, &'s MountPoint)> {
    let path = parts.uri.path();
    let (position, place) = site.mounts.iter().enumerate().find(|(_, place)| place.holds(path))?;
    let is_ours = !site.router.is_empty() && site.router.find(&percent::normalise_path(path)).is_some();
    (!is_ours).then(|| (observed::of_mount(position), place))
}

impl Local {
    /// Has the access rules check a request, before anything else sees it.
    pub(super) async fn check_access(
        &self,
        parts: &Parts,
        (peer, id): (Peer, RequestId),
        resources: &ThreadResources,
    ) -> Result<()> {
        let access = &self.site().access;
        if !access.has_any(parts.uri.path()) {
            return Ok(());
        }
        let mut cx = Cx::new(parts, peer, (Body::empty(), 0), resources, id);
        // Boxed: most requests have no rule.
        Box::pin(access.check(&mut cx, parts)).await.map_err(|error| cx.fail(error))
    }

    /// Has the access rules and the guards of prefixes check a request that a mount answers.
    pub(super) async fn admit_to_mount(
        &self,
        parts: &Parts,
        (peer, id): (Peer, RequestId),
        resources: &ThreadResources,
    ) -> Result<()> {
        self.check_access(parts, (peer, id), resources).await?;
        let path = parts.uri.path();
        let mut guards = self.site().prefix_guards.iter().filter(|guard| guard.prefix.holds(path)).peekable();
        if guards.peek().is_none() {
            return Ok(());
        }
        let mut cx = Cx::new(parts, peer, (Body::empty(), 0), resources, id);
        for guard in guards {
            if let Err(error) = guard.guard.check(&mut cx).await {
                return Err(cx.fail(error));
            }
        }
        Ok(())
    }
}
