//! TLS, with the feature `tls`.

#[cfg(not(feature = "tls"))]
mod absent;
#[cfg(feature = "tls")]
mod certificates;

#[cfg(not(feature = "tls"))]
pub(crate) use absent::{Acceptor, Stream, acceptor, is_http2, plain};
#[cfg(feature = "tls")]
pub(crate) use certificates::{Acceptor, Stream, acceptor, is_http2, plain};

use std::path::PathBuf;

use skep_settings::settings;

settings! {
    /// The settings `tls.*`.
    #[derive(Clone, Debug)]
    pub(crate) struct Settings in "tls" {
        /// Certificate chain as a PEM file, the server's own first. With it, TCP listeners speak TLS. Needs the cargo
        /// feature `tls`.
        certificate: Option<PathBuf> = Path, "", flag "--tls-cert" "FILE";
        /// Private key of the certificate as a PEM file. Needs the cargo feature `tls`.
        key: Option<PathBuf> = Path, "", flag "--tls-key" "FILE";
        /// Use TLS with a certificate for localhost that is made at the start. For development: browsers warn about it.
        /// Needs the cargo feature `tls`.
        self_signed: bool = Bool, false, flag "--tls-self-signed" "";
    }
}
