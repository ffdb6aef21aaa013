//! TLS, with the feature `tls`.

#[cfg(not(feature = "tls"))]
mod absent;
#[cfg(feature = "tls")]
mod certificates;

#[cfg(not(feature = "tls"))]
pub(crate) use absent::{Acceptor, Stream, acceptor, is_http2, plain};
#[cfg(feature = "tls")]
pub(crate) use certificates::{Acceptor, Stream, acceptor, is_http2, plain};
