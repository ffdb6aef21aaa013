//! What answers below a prefix and is no service: another program, a host of WebAssembly components, a router of its own.
//!
//! It is given the request as it came and answers as it likes. Of what skep does for a service nothing stands before it: no
//! defence against forms of other sites, no limit of a body, no redirect. Errors it gives back become the same pages.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};

use http::header::ACCEPT;
use http::request::Parts;

use crate::app::RouteLine;
use crate::body::Body;
use crate::cx::RequestId;
use crate::error::Result;
use crate::panic::{self, CatchPanic, Panicked};
use crate::percent;
use crate::request::Peer;
use crate::site::Site;

/// What a [`Mount`] gives back: the answer, later.
pub type Answering = Pin<Box<dyn Future<Output = Result>>>;

/// Answers all requests below a prefix: [`App::mount`](crate::App::mount).
///
/// ```
/// use skep::mount::{Answering, Mount, Mounted};
/// use skep::prelude::*;
///
/// struct Echo;
///
/// impl Mount for Echo {
///     fn answer(&self, request: Mounted) -> Answering {
///         Box::pin(async move { Ok(Response::text(request.parts.uri.path().to_owned())) })
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().mount("/echo", Echo));
/// assert_eq!(client.get("/echo/a/b").text(), "/echo/a/b");
/// assert_eq!(client.get("/elsewhere").status(), 404);
/// ```
pub trait Mount: Send + Sync + 'static {
    /// Answers on the thread that asks. A panic costs its request, as in a handler.
    fn answer(&self, request: Mounted) -> Answering;

    /// What it is, for the table of routes.
    fn name(&self) -> String {
        "a program of its own".to_owned()
    }
}

/// A request for a [`Mount`].
#[derive(Debug)]
pub struct Mounted {
    /// The header block. The path is the whole one, with the prefix.
    pub parts: Parts,
    /// The body, not yet read.
    pub body: Body,
    /// Who sent it.
    pub peer: Peer,
    /// What the log and an error page know it by.
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

/// What is mounted where a request leads, unless a service or a folder answers there.
pub(crate) fn find<'s>(site: &'s Site, parts: &Parts) -> Option<&'s Place> {
    let path = parts.uri.path();
    let place = site.mounts.iter().find(|place| place.holds(path))?;
    let is_ours = !site.router.is_empty() && site.router.find(&percent::normalise_path(path)).is_some();
    (!is_ours).then_some(place)
}

/// A mount at its place.
pub(crate) struct Place {
    /// Without a slash at its end: empty for all.
    prefix: String,
    pub(crate) mount: Box<dyn Mount>,
}

impl Place {
    pub(crate) fn new(prefix: &str, mount: impl Mount) -> Self {
        let inner = prefix.trim_matches('/');
        let prefix = if inner.is_empty() { String::new() } else { format!("/{inner}") };
        Self { prefix, mount: Box::new(mount) }
    }

    /// True if a path, which begins with a slash, leads here.
    pub(crate) fn holds(&self, path: &str) -> bool {
        path.strip_prefix(&*self.prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Its answer. Also what it does before there is a future may panic.
    pub(crate) async fn catching(&self, request: Mounted) -> Result<Result, Panicked> {
        let answering = panic::catch(|| self.mount.answer(request))?;
        CatchPanic(pin!(answering)).await
    }

    /// How specific it is.
    pub(crate) fn depth(&self) -> usize {
        self.prefix.len()
    }

    /// Its line of the table of routes.
    pub(crate) fn route(&self) -> RouteLine {
        RouteLine { method: "*".to_owned(), path: format!("{}/{{*path}}", self.prefix), target: self.mount.name() }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}/", self.mount.name(), self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Mount for Nothing {
        fn answer(&self, _request: Mounted) -> Answering {
            Box::pin(std::future::ready(Err(crate::Error::not_found())))
        }
    }

    #[test]
    fn a_prefix_holds_itself_and_what_is_below() {
        let place = Place::new("/app/", Nothing);
        assert!(place.holds("/app") && place.holds("/app/") && place.holds("/app/a"));
        assert!(!place.holds("/apple") && !place.holds("/") && !place.holds("/a/app"));
        let all = Place::new("/", Nothing);
        assert!(all.holds("/") && all.holds("/a") && !all.holds("*"));
        assert_eq!((&*place.route().path, &*all.route().path), ("/app/{*path}", "/{*path}"));
    }
}
