//! What a server hands to the framework.

use std::net::SocketAddr;

use http::HeaderMap;
use http::request::Parts;

use crate::body::Body;
use crate::cx::RequestId;

/// A request as a server received it: the header block parsed, the body not yet read.
#[derive(Debug)]
pub struct Request {
    pub(crate) parts: Parts,
    pub(crate) body: Body,
    pub(crate) peer: Peer,
    /// Given by whoever received it.
    pub(crate) id: Option<RequestId>,
}

/// Who sent a request, as far as the server knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// The address; none over a unix socket and in tests.
    pub address: Option<SocketAddr>,
    /// True if the connection is encrypted.
    pub tls: bool,
}

impl Peer {
    /// A peer with this address.
    #[must_use]
    pub fn new(address: Option<SocketAddr>, tls: bool) -> Self {
        Self { address, tls }
    }
}

impl Request {
    /// A request from a header block and a body.
    ///
    /// ```
    /// let (parts, ()) = http::Request::get("/").body(()).unwrap().into_parts();
    /// let request = skep::Request::new(parts, skep::Body::empty());
    /// ```
    #[must_use]
    pub fn new(parts: Parts, body: Body) -> Self {
        Self { parts, body, peer: Peer::default(), id: None }
    }

    /// The same request, with what is known of its sender.
    #[must_use]
    pub fn with_peer(mut self, peer: Peer) -> Self {
        self.peer = peer;
        self
    }

    /// The same request under an id that whoever received it has given to it: its error page and its log lines show that one.
    ///
    /// ```
    /// let (parts, ()) = http::Request::get("/").body(()).unwrap().into_parts();
    /// let request = skep::Request::new(parts, skep::Body::empty()).with_id(0x0123_4567_89ab_cdef);
    /// ```
    #[must_use]
    pub fn with_id(mut self, id: u64) -> Self {
        self.id = Some(RequestId(id));
        self
    }
}

/// The value of a header field, if it is there and is visible ASCII.
pub(crate) fn header_text<'r>(headers: &'r HeaderMap, name: &http::HeaderName) -> Option<&'r str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
