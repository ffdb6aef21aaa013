//! Handlers below a prefix that are not services: a host of WebAssembly components, or another router.
//!
//! A mount gets the request unchanged. Nothing that skep does for a service applies: no CSRF defence, no body limit, no
//! redirects. Its errors become error pages.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};

use http::header::ACCEPT;
use http::request::Parts;

use crate::body::Body;
use crate::panic::{self, CatchPanic, Panicked};
use crate::request::{Peer, RequestId};
use crate::response::Result;
use crate::route::RouteLine;

/// The future of a [`Mount`]'s response.
pub type ResponseFuture = Pin<Box<dyn Future<Output = Result>>>;

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
}

impl Mounted {
    /// Takes what only the mount needs; method, path and what an error page looks at stay.
    pub(crate) fn new(parts: &mut Parts, body: Body, peer: Peer, id: RequestId) -> Self {
        let (mut taken, ()) = http::Request::new(()).into_parts();
        taken.method = parts.method.clone();
        taken.uri = parts.uri.clone();
        taken.version = parts.version;
        std::mem::swap(&mut taken.headers, &mut parts.headers);
        std::mem::swap(&mut taken.extensions, &mut parts.extensions);
        if let Some(accept) = taken.headers.get(ACCEPT) {
            parts.headers.insert(ACCEPT, accept.clone());
        }
        Self { parts: taken, body, peer, id }
    }
}

/// A mount and its prefix.
pub(crate) struct MountPoint {
    /// Without a trailing slash; empty for `/`.
    pub(crate) prefix: String,
    pub(crate) mount: Box<dyn Mount>,
}

impl MountPoint {
    pub(crate) fn new(prefix: &str, mount: impl Mount) -> Self {
        let inner = prefix.trim_matches('/');
        let prefix = if inner.is_empty() { String::new() } else { format!("/{inner}") };
        Self { prefix, mount: Box::new(mount) }
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
        }
    }
}

impl fmt::Debug for MountPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}/", self.mount.name(), self.prefix)
    }
}
