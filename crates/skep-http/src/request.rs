//! Requests, as a server passes them to the framework.

pub mod subnet;

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, COOKIE};
use http::{Extensions, HeaderName, HeaderValue, Method, StatusCode, Uri, Version};

use crate::body::{Body, BodyError, BodyFailure, TooLarge};
use crate::error::{Error, Result};
use crate::fields::list::elements;
use crate::quota::Share;
use skep_html::{Buffer, Render, Text};

pub use self::subnet::{Subnet, SubnetExt};
#[doc(hidden)]
pub use crate::fields::FieldPositions;
pub use crate::fields::{Fields, NotText, Value, Values};

/// All of a request that stands before its body. It is what [`http::request::Parts`] is, which it is made of and
/// becomes, but for the fields: no map of them has to be made.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The method.
    pub method: Method,
    /// The target.
    pub uri: Uri,
    /// The version of HTTP.
    pub version: Version,
    /// The header fields.
    pub headers: Fields,
    /// What layers and servers have added.
    pub extensions: Extensions,
}

impl From<http::request::Parts> for Parts {
    fn from(parts: http::request::Parts) -> Self {
        let http::request::Parts { method, uri, version, headers, extensions, .. } = parts;
        Self { method, uri, version, headers: headers.into(), extensions }
    }
}

impl From<http::request::Parts> for Box<Parts> {
    fn from(parts: http::request::Parts) -> Self {
        Self::new(parts.into())
    }
}

impl From<Parts> for http::request::Parts {
    fn from(parts: Parts) -> Self {
        let Parts { method, uri, version, headers, extensions } = parts;
        let (mut parts, ()) = http::Request::new(()).into_parts();
        (parts.method, parts.uri, parts.version) = (method, uri, version);
        (parts.headers, parts.extensions) = (headers.into(), extensions);
        parts
    }
}

/// A request as a server received it: the header block parsed, the body not yet read.
#[derive(Debug)]
pub struct Request {
    received: Received,
}

/// What a [`Request`] consists of.
#[derive(Debug)]
pub struct Received {
    /// All that stands before the body. Boxed: a request moves through many hands.
    pub parts: Box<Parts>,
    /// The body.
    pub body: Body,
    /// Who sent it.
    pub peer: Peer,
    /// Chosen by the server.
    pub id: Option<RequestId>,
    /// The server wants to know what it cost.
    pub is_accounted: bool,
}

extension! {
    /// What a framework does with a request.
    pub trait RequestExt for Request {
        /// A request that consists of this.
        fn of(received: Received) -> Self {
            Self { received }
        }

        /// What it consists of.
        fn received(&self) -> &Received {
            &self.received
        }

        /// What it consists of, to change.
        fn received_mut(&mut self) -> &mut Received {
            &mut self.received
        }

        /// What it consists of, to keep.
        fn into_received(self) -> Received {
            self.received
        }
    }
}

/// The id of a request, as error pages and log lines show it: 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(u64);

impl From<u64> for RequestId {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl From<RequestId> for u64 {
    fn from(id: RequestId) -> Self {
        id.0
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Render for RequestId {
    type Content = Text;

    fn render(&self, out: &mut Buffer) {
        format_args!("{self}").render(out);
    }
}

/// Who sent a request, as far as the server knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// The address; none over a unix socket and in tests.
    pub address: Option<SocketAddr>,
    /// True if the connection is encrypted.
    pub tls: bool,
    /// True if fields of the request name a client behind a proxy that is not trusted: who sent it may be anywhere.
    #[doc(hidden)]
    pub is_forwarded: bool,
}

impl Peer {
    /// A peer with this address. A socket of IPv6 shows clients of IPv4 as `::ffff:192.0.2.1`; here they are
    /// `192.0.2.1`.
    ///
    /// ```
    /// let peer = skep::Peer::new("[::ffff:192.0.2.1]:80".parse().ok(), false);
    /// assert_eq!(peer.address.unwrap().to_string(), "192.0.2.1:80");
    /// ```
    #[must_use]
    pub fn new(address: Option<SocketAddr>, tls: bool) -> Self {
        let canonical = |address: SocketAddr| match address.ip().to_canonical() {
            four @ IpAddr::V4(_) => SocketAddr::new(four, address.port()),
            IpAddr::V6(_) => address,
        };
        Self { address: address.map(canonical), tls, is_forwarded: false }
    }

    /// What counts as one client where clients have limits: an IPv4 address, or the /64 of an IPv6 address, which is
    /// what one subscriber gets.
    ///
    /// ```
    /// use skep::Peer;
    ///
    /// let network = |address: &str| Peer::new(address.parse().ok(), false).network();
    /// assert_eq!(network("[2001:db8::1]:80"), network("[2001:db8::2]:81"));
    /// assert_ne!(network("192.0.2.1:80"), network("192.0.2.2:80"));
    /// ```
    #[must_use]
    pub fn network(&self) -> Option<u128> {
        Some(match self.address?.ip().to_canonical() {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits() >> 64 << 64,
        })
    }

    /// The networks that the client counts for, the widest one first: /24 and /32 of IPv4, /48, /56 and /64 of IPv6,
    /// which subscribers get. None without an address.
    ///
    /// ```
    /// use skep::Peer;
    ///
    /// let peer = Peer::new("192.0.2.7:80".parse().ok(), false);
    /// assert_eq!(peer.subnets().map(|subnet| subnet.share()).collect::<Vec<_>>(), [32, 1]);
    /// ```
    pub fn subnets(self) -> impl DoubleEndedIterator<Item = Subnet> + Clone {
        subnet::subnets(self)
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
    #[inline]
    pub fn new(parts: impl Into<Box<Parts>>, body: Body) -> Self {
        Self::of(Received { parts: parts.into(), body, peer: Peer::default(), id: None, is_accounted: false })
    }

    /// Sets the peer.
    #[must_use]
    #[inline]
    pub fn with_peer(mut self, peer: Peer) -> Self {
        self.received.peer = peer;
        self
    }

    /// Has the framework measure what this request costs, for
    /// [`Response::take_account`](crate::Response::take_account).
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn with_account(mut self, yes: bool) -> Self {
        self.received.is_accounted = yes;
        self
    }

    /// Sets the id that error pages and log lines show for this request.
    ///
    /// ```
    /// let (parts, ()) = http::Request::get("/").body(()).unwrap().into_parts();
    /// let request = skep::Request::new(parts, skep::Body::empty()).with_id(0x0123_4567_89ab_cdef);
    /// ```
    #[must_use]
    #[inline]
    pub fn with_id(mut self, id: u64) -> Self {
        self.received.id = Some(RequestId(id));
        self
    }
}

/// The value of a header field, if it is there and is visible ASCII.
pub fn header_text<'r>(headers: &'r Fields, name: &HeaderName) -> Option<&'r str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The value of a header field as a text. Several lines are one list (RFC 9110, 5.3), those of `Cookie` too (RFC 9113,
/// 8.2.3).
///
/// # Errors
/// 400 for what is no visible ASCII.
pub fn joined_text<'r>(headers: &'r Fields, name: &HeaderName) -> Result<Option<Cow<'r, str>>> {
    let mut lines = headers.get_all(name).map(Value::to_str);
    let not_text = |_| Error::bad_request(format!("the header field {name} is not visible ASCII"));
    let Some(first) = lines.next() else { return Ok(None) };
    let mut joined = Cow::Borrowed(first.map_err(not_text)?);
    for line in lines {
        let separator = if name == COOKIE { "; " } else { ", " };
        *joined.to_mut() += separator;
        *joined.to_mut() += line.map_err(not_text)?;
    }
    Ok(Some(joined))
}

/// 415 for a body in a coding, which nothing here undoes (RFC 9110, 15.5.16).
pub fn expect_plain(headers: &Fields) -> Result<()> {
    let is_plain = |field: Value<'_>| {
        field.to_str().is_ok_and(|list| elements(list).all(|coding| coding.eq_ignore_ascii_case("identity")))
    };
    if headers.get_all(CONTENT_ENCODING).all(is_plain) {
        return Ok(());
    }
    let error = Error::new(StatusCode::UNSUPPORTED_MEDIA_TYPE).with_message("a body is read without Content-Encoding");
    Err(error.with_header(ACCEPT_ENCODING, HeaderValue::from_static("identity")))
}

/// Reads a body up to a limit.
pub async fn read_whole(body: Body, limit: u64, memory: &mut Share, most: u64) -> Result<Bytes> {
    // A declared length above the limit is refused before anything is read.
    if http_body::Body::size_hint(&body).lower() > limit {
        return Err(Error::too_large(limit));
    }
    let admit = |bytes| if memory.take(bytes, most) { Ok(()) } else { Err(no_memory().into()) };
    body.collect_if(limit, admit).await.map_err(|cause| body_error(cause, limit))
}

/// The memory for the bodies of all requests (`limits.bodies`) is used up.
pub fn no_memory() -> BodyFailure {
    BodyFailure::new(StatusCode::SERVICE_UNAVAILABLE, "too much is being sent at the moment: please try again later")
}

/// The error for a body that could not be read whole.
pub fn body_error(cause: BodyError, limit: u64) -> Error {
    match cause.downcast::<BodyFailure>() {
        Ok(failure) => Error::new(failure.status()).with_message(failure.to_string()),
        Err(cause) if cause.is::<TooLarge>() => Error::too_large(limit),
        Err(cause) => Error::bad_request("the body ended before it was complete").with_cause(cause),
    }
}
