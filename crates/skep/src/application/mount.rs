//! Handlers below a prefix that are not services: a host of WebAssembly components, or another router.
//!
//! A mount gets the request unchanged, within the limits of the server: a target without a path is refused, and so is a
//! body beyond
//! `limits.body` or one that breaks off, with the status that a service would give it. Nothing else that skep does for
//! a service applies: no CSRF defence, no redirects. Its errors become error pages, and its responses are compressed.

use std::fmt;
use std::pin::pin;

use http::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, COOKIE, IF_NONE_MATCH};
use http::request::Parts;
use http::{Extensions, HeaderName};
use skep_units::panic::{self, CatchPanic, Panicked};

use crate::context::work::Work;
use crate::contract::service;
use crate::routing::route::RouteLine;
use skep_http::body::Body;
use skep_http::request::{self, Peer, RequestId};
use skep_http::response::Result;

/// The future of a [`Mount`]'s response.
pub type ResponseFuture = service::ResponseFuture<'static>;

/// Handles all requests below a prefix: [`App::mount`](crate::App::mount).
///
/// ```
/// use skep::mount::{ResponseFuture, Mount, Mounted};
/// use skep::prelude::*;
///
/// struct Echo;
///
/// impl Mount for Echo {
///     fn answer(&self, request: Mounted) -> ResponseFuture {
///         Box::pin(async move { Ok(Response::text(request.parts.uri.path().to_owned())) })
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().mount("/echo", Echo));
/// assert_eq!(client.get("/echo/a/b").text(), "/echo/a/b");
/// assert_eq!(client.get("/elsewhere").status(), 404);
/// ```
pub trait Mount: Send + Sync + 'static {
    /// Handles a request on the current thread. A panic ends only that request.
    fn answer(&self, request: Mounted) -> ResponseFuture;

    /// Bytes that the body of this request may have (413), if not those of `limits.body`. `u64::MAX` for a mount that
    /// has limits of its own. [`App::mount_body_limit`](crate::App::mount_body_limit) is stronger.
    fn body_limit(&self, _request: &Parts) -> Option<u64> {
        None
    }

    /// Its name in the table of routes.
    fn name(&self) -> String {
        "a program of its own".to_owned()
    }
}

/// A request for a [`Mount`].
#[derive(Debug)]
pub struct Mounted {
    /// The header section. The path includes the prefix.
    pub parts: Parts,
    /// The body, not yet read.
    pub body: Body,
    /// The peer.
    pub peer: Peer,
    /// The id in log lines and on error pages.
    pub id: RequestId,
    /// What it may use of the application: its database, mail, requests to other servers. None of a request that no
    /// server made, such as a probe.
    pub work: Option<Work>,
}

/// Fields that are needed for the response: by an error page, and by compression with its guard against BREACH.
const NEEDED: [HeaderName; 7] = [
    ACCEPT,
    ACCEPT_ENCODING,
    ACCEPT_LANGUAGE,
    AUTHORIZATION,
    COOKIE,
    IF_NONE_MATCH,
    HeaderName::from_static("sec-fetch-site"),
];

impl Mounted {
    /// Without a body. Takes what only the mount needs; method, path and what the response depends on stay.
    pub(crate) fn new(parts: &mut request::Parts, peer: Peer, (id, work): (RequestId, Work)) -> Self {
        let mut needed = parts.headers.clone();
        needed.retain(|name| NEEDED.iter().any(|known| name.eq_ignore_ascii_case(known.as_str().as_bytes())));
        let (method, uri) = (parts.method.clone(), parts.uri.clone());
        let rest =
            request::Parts { method, uri, version: parts.version, headers: needed, extensions: Extensions::new() };
        let taken = std::mem::replace(parts, rest);
        Self { parts: taken.into(), body: Body::empty(), peer, id, work: Some(work) }
    }
}

/// A prefix without a trailing slash; empty for `/`.
fn normal(prefix: &str) -> String {
    let inner = prefix.trim_matches('/');
    if inner.is_empty() { String::new() } else { format!("/{inner}") }
}

/// A mount and its prefix.
pub(crate) struct MountPoint {
    /// Without a trailing slash; empty for `/`.
    pub(crate) prefix: String,
    pub(crate) mount: Box<dyn Mount>,
    /// What the application says: stronger than what the mount says.
    body_limit: Option<u64>,
}

impl MountPoint {
    pub(crate) fn new(prefix: &str, mount: impl Mount) -> Self {
        Self { prefix: normal(prefix), mount: Box::new(mount), body_limit: None }
    }

    /// Sets the limit of bodies, if this is mounted there.
    pub(crate) fn limit_body(&mut self, prefix: &str, bytes: u64) -> bool {
        let is_here = self.prefix == normal(prefix);
        if is_here {
            self.body_limit = Some(bytes);
        }
        is_here
    }

    /// Bytes that the body of this request may have.
    pub(crate) fn body_limit(&self, request: &Parts, usual: u64) -> u64 {
        self.body_limit.or_else(|| self.mount.body_limit(request)).unwrap_or(usual)
    }

    /// True if this path is below the prefix.
    pub(crate) fn holds(&self, path: &str) -> bool {
        path.strip_prefix(&*self.prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Its answer. Also what it does before there is a future may panic.
    pub(crate) async fn catching(&self, request: Mounted) -> Result<Result, Panicked> {
        let answering = panic::catch(|| self.mount.answer(request))?;
        CatchPanic(pin!(answering)).await
    }

    /// The length of the prefix: the longest one wins.
    pub(crate) fn depth(&self) -> usize {
        self.prefix.len()
    }

    /// Its line of the table of routes.
    pub(crate) fn route(&self) -> RouteLine {
        RouteLine {
            method: "*".to_owned(),
            path: format!("{}/{{*path}}", self.prefix),
            target: self.mount.name(),
            guards: Vec::new(),
            open: None,
            source: None,
        }
    }
}

impl fmt::Debug for MountPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}/", self.mount.name(), self.prefix)
    }
}
