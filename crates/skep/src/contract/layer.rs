//! Layers: code around handlers, such as an audit trail, timing, header fields, tenants or a maintenance mode.
//!
//! [`App::wrap`](crate::App::wrap) puts one around all services and folders, [`App::wrap_only`](crate::App::wrap_only)
//! around some services. A service without layers pays nothing for them.

use std::fmt;
use std::sync::Arc;

use crate::context::cx::Cx;
use crate::contract::service::ResponseFuture;
use skep_http::response::Result;

/// Code around handlers: what other frameworks call middleware, a filter, or `before_action` and `after_action`.
///
/// It sees the request, decides whether it goes on ([`Next::run`]), and sees the response, or the error before it
/// becomes an error page. An `async` closure with these arguments is a layer too.
///
/// ```
/// use skep::layer::{Layer, Next};
/// use skep::prelude::*;
///
/// struct Maintenance;
///
/// impl Layer for Maintenance {
///     async fn handle(&self, cx: &mut Cx<'_>, next: Next<'_>) -> Result {
///         if cx.data().join("maintenance").exists() {
///             return Err(Error::new(StatusCode::SERVICE_UNAVAILABLE).with_message("We are back at noon."));
///         }
///         next.run(cx).await
///     }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// impl Handle for Index {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("hello")) }
/// }
///
/// let app = App::new().serve(services![Index]).wrap(Maintenance).wrap(async |cx: &mut Cx<'_>, next: Next<'_>| {
///     let route = next.route();
///     let response = next.run(cx).await?;
///     Ok(response.with_header("x-route".parse()?, route.parse()?))
/// });
/// let answer = skep::test::Client::new(app).get("/");
/// assert_eq!((answer.text(), answer.header("x-route")), ("hello", Some("Index")));
/// ```
///
/// # Order
/// The layer of the first call of `wrap` is the outermost one; all of `wrap` are around all of `wrap_only`. Layers run
/// after routing and after the check of the origin, and around [guards](crate::guard::Guard), parameters, the body and
/// the handler. So a layer sees what was refused, and not what has no route: 404, 405, and what
/// [`App::mount`](crate::App::mount) answers.
///
/// The request's [transaction](crate::Cx::transaction) commits after the outermost layer, so what a layer writes in it
/// is kept with what the handler wrote, or not at all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer",
    label = "expected a type with `impl Layer`, or a closure `async |cx: &mut Cx<'_>, next: Next<'_>| {{ ... }}`"
)]
pub trait Layer: Send + Sync + 'static {
    /// Handles a request: usually something before and after `next.run(cx).await`.
    #[expect(async_fn_in_trait, reason = "a handler stays on the thread that accepted its connection")]
    async fn handle(&self, cx: &mut Cx<'_>, next: Next<'_>) -> Result;
}

impl<F> Layer for F
where
    F: for<'c, 'r, 'n> AsyncFn(&'c mut Cx<'r>, Next<'n>) -> Result + Send + Sync + 'static,
{
    async fn handle(&self, cx: &mut Cx<'_>, next: Next<'_>) -> Result {
        self(cx, next).await
    }
}

/// A layer without its type.
pub(crate) trait DynLayer: Send + Sync {
    fn handle<'c>(&'c self, cx: &'c mut Cx<'_>, next: Next<'c>) -> ResponseFuture<'c>;
}

impl<L: Layer> DynLayer for L {
    fn handle<'c>(&'c self, cx: &'c mut Cx<'_>, next: Next<'c>) -> ResponseFuture<'c> {
        Box::pin(Layer::handle(self, cx, next))
    }
}

/// What is inside all layers.
pub(crate) trait Innermost {
    fn call<'c>(&'c mut self, cx: &'c mut Cx<'_>) -> ResponseFuture<'c>;
}

/// The rest of the way to the handler: further layers, guards, the handler itself.
pub struct Next<'n> {
    layers: &'n [Arc<dyn DynLayer>],
    route: &'n str,
    innermost: &'n mut dyn Innermost,
}

impl<'n> Next<'n> {
    pub(crate) fn new(layers: &'n [Arc<dyn DynLayer>], route: &'n str, innermost: &'n mut dyn Innermost) -> Self {
        Self { layers, route, innermost }
    }

    /// Lets the request go on. An error is not a page yet: `with_header`, `with_message` and `with_status` change what
    /// is sent.
    pub async fn run(self, cx: &mut Cx<'_>) -> Result {
        let Self { layers, route, innermost } = self;
        match layers.split_first() {
            Some((layer, layers)) => layer.handle(cx, Next { layers, route, innermost }).await,
            None => innermost.call(cx).await,
        }
    }

    /// The name of the service, or what the table of routes calls the folder: for labels and audit trails, where a path
    /// would be one of too many.
    #[must_use]
    pub fn route(&self) -> &'n str {
        self.route
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("route", &self.route).field("layers", &self.layers.len()).finish_non_exhaustive()
    }
}
