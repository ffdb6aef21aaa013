//! A service of tower below a prefix.

use std::any::type_name;
use std::sync::Mutex;

use bytes::Bytes;
use http::Uri;
use http::uri::PathAndQuery;
use skep_units::lock;
use tower_service::Service;

use super::{call, into_http};
use crate::application::app::App;
use crate::application::mount::{self, Mount, ResponseFuture};
use skep_http::body::{Body, BodyError};
use skep_http::ext::RequestExt as _;
use skep_http::request::{Received, Request};

/// A service that is mounted, without the prefix in the paths that it sees.
struct Mounted<S> {
    /// Not every service is `Sync`; each request has a clone.
    service: Mutex<S>,
    /// Without a trailing slash; empty for `/`.
    prefix: String,
}

impl App {
    /// Has a service of tower answer what comes below a prefix, such as an `axum::Router`. It sees paths without the
    /// prefix, as with axum's `nest`, and its futures need not be `Send`. As with [`mount`](Self::mount), nothing that
    /// Skep does for its own services applies, but for [guards of prefixes](Self::guard), [layers of
    /// tower](Self::layer) and [the limit of bodies](Self::mount_body_limit). What its errors say is logged, and the
    /// client gets a 500.
    ///
    /// ```
    /// use axum::routing::get;
    /// use skep::prelude::*;
    ///
    /// let router = axum::Router::new().route("/hives/{id}", get(async |id: axum::extract::Path<u32>| format!("hive {}", *id)));
    /// let client = skep::test::Client::new(App::new().mount_service("/old", router));
    /// assert_eq!(client.get("/old/hives/7").text(), "hive 7");
    /// ```
    #[must_use]
    pub fn mount_service<S, B>(self, prefix: &str, service: S) -> Self
    where
        S: Service<http::Request<Body>, Response = http::Response<B>> + Clone + Send + 'static,
        S::Error: Into<BodyError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        let inner = prefix.trim_matches('/');
        let own = if inner.is_empty() { String::new() } else { format!("/{inner}") };
        self.mount(prefix, Mounted { service: Mutex::new(service), prefix: own })
    }
}

impl<S, B> Mount for Mounted<S>
where
    S: Service<http::Request<Body>, Response = http::Response<B>> + Clone + Send + 'static,
    S::Error: Into<BodyError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BodyError>,
{
    fn answer(&self, request: mount::Mounted) -> ResponseFuture {
        let mount::Mounted { mut parts, body, peer, id, .. } = request;
        if let Some(uri) = without_prefix(&parts.uri, &self.prefix) {
            parts.uri = uri;
        }
        let service = lock(&self.service).clone();
        let request = Request::of(Received { parts: parts.into(), body, peer, id: Some(id), is_accounted: false });
        Box::pin(call(service, into_http(request)))
    }

    fn name(&self) -> String {
        let name = type_name::<S>();
        name.split('<').next().unwrap_or(name).to_owned()
    }
}

/// The same without the prefix of its path.
fn without_prefix(uri: &Uri, prefix: &str) -> Option<Uri> {
    let rest = uri.path_and_query()?.as_str().strip_prefix(prefix)?;
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
    Uri::from_parts(parts).ok()
}
