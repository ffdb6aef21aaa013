//! What stands around a handler: layers, and guards whose values it does not need.

use std::any::TypeId;
use std::sync::Arc;

use http::HeaderValue;
use http::header::CACHE_CONTROL;

use super::{DynHandler, Endpoint};
use crate::context::cx::Cx;
use crate::contract::guard::{DynGuard, GuardInfo};
use crate::contract::layer::{DynLayer, Innermost, Next};
use crate::contract::service::{Input, ResponseFuture};
use crate::routing::path_prefix::PathPrefix;
use crate::routing::route::Route;
use skep_http::ext::ResponseExt as _;
use skep_http::response::Response;

/// The layers of an endpoint, the outermost first, and its guards, in the order in which they check.
pub(crate) struct Around {
    pub(crate) route: String,
    pub(crate) layers: Vec<Arc<dyn DynLayer>>,
    /// Those of prefixes first. With a prefix: only for requests below it, where that is not clear from the route.
    pub(crate) guards: Vec<(Option<Arc<PathPrefix>>, Arc<DynGuard>)>,
}

impl Around {
    pub(super) fn call<'r>(
        &'r self,
        handler: &'r dyn DynHandler,
        cx: &'r mut Cx<'_>,
        input: &'r mut Input<'_>,
    ) -> ResponseFuture<'r> {
        Box::pin(async move {
            let mut inner = Guarded { guards: &self.guards, handler, input };
            Next::new(&self.layers, &self.route, &mut inner).run(cx).await
        })
    }
}

/// A handler behind guards.
struct Guarded<'g, 'i> {
    guards: &'g [(Option<Arc<PathPrefix>>, Arc<DynGuard>)],
    handler: &'g dyn DynHandler,
    input: &'g mut Input<'i>,
}

impl Innermost for Guarded<'_, '_> {
    fn call<'c>(&'c mut self, cx: &'c mut Cx<'_>) -> ResponseFuture<'c> {
        Box::pin(async move {
            if self.guards.is_empty() {
                return self.handler.call(cx, self.input).await.map_err(|error| cx.explain(error));
            }
            for (prefix, guard) in self.guards {
                if prefix.as_ref().is_none_or(|prefix| prefix.holds(cx.uri().path())) {
                    guard.check(cx).await?;
                }
            }
            let mut response = self.handler.call(cx, self.input).await.map_err(|error| cx.explain(error))?;
            forbid_shared_caches(&mut response);
            Ok(response)
        })
    }
}

/// A page that is cached here for everybody who passes the guards must not be cached for everybody else by a proxy; nor
/// may one with the cookie of one user.
pub(crate) fn forbid_shared_caches(response: &mut Response) {
    if response.field(&CACHE_CONTROL).is_none() {
        return;
    }
    let is_public = |value: &HeaderValue| value.as_bytes().windows(6).any(|word| word.eq_ignore_ascii_case(b"public"));
    if response.headers().get_all(CACHE_CONTROL).iter().any(is_public) {
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
}

impl Endpoint {
    /// Puts layers and guards around it, in this order.
    pub(crate) fn set_around(&mut self, around: Around) {
        if !around.layers.is_empty() || !around.guards.is_empty() {
            self.around = Some(Box::new(around));
        }
    }

    /// The guards that check each request, in this order.
    pub(crate) fn guards(&self) -> impl Iterator<Item = GuardInfo> {
        let around = self.around.iter().flat_map(|around| &around.guards).map(|(_, guard)| guard.info);
        around.chain(self.own_guards())
    }

    /// Those that the service has itself.
    pub(crate) fn own_guards(&self) -> impl Iterator<Item = GuardInfo> {
        self.guards.iter().copied()
    }

    /// The route of the service.
    pub(crate) fn route(&self) -> Option<&'static Route> {
        self.route
    }

    /// The service that answers, also for the redirect from its query.
    pub(crate) fn service(&self) -> Option<TypeId> {
        self.service
    }
}
