//! TLS, with the flag `--tls`: between browser and command, and between command and application, so that the
//! application knows that a connection is safe without a field that a proxy adds.

#[cfg(feature = "tls")]
mod authority;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
#[cfg(feature = "tls")]
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::package::Package;

/// A connection, encrypted or not.
pub(crate) type Stream = Box<dyn Connection>;

/// What a connection can do.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Connection for S {}

/// Where a browser finds the command: displayed as an origin, such as `http://127.0.0.1:8080`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) listen: SocketAddr,
    pub(crate) is_safe: bool,
}

impl Origin {
    pub(crate) fn scheme(self) -> &'static str {
        if self.is_safe { "https" } else { "http" }
    }

    /// The port of addresses without one.
    pub(crate) fn default_port(self) -> u16 {
        if self.is_safe { 443 } else { 80 }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme(), self.listen)
    }
}

/// Where the application listens.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<Tls>,
}

impl Upstream {
    pub(crate) async fn connect(&self) -> io::Result<Stream> {
        let stream = TcpStream::connect(self.address).await?;
        let _ = stream.set_nodelay(true);
        match &self.tls {
            Some(tls) => tls.connect(stream).await,
            None => Ok(Box::new(stream)),
        }
    }
}

/// What both sides of connections need, and the application's settings.
#[cfg(feature = "tls")]
#[derive(Clone)]
pub(crate) struct Tls {
    acceptor: tokio_rustls::TlsAcceptor,
    connector: tokio_rustls::TlsConnector,
    settings: [String; 3],
    authority: PathBuf,
}

/// Without the feature, no value exists.
#[cfg(not(feature = "tls"))]
#[derive(Clone)]
pub(crate) enum Tls {}

#[cfg(feature = "tls")]
impl Tls {
    /// With a certificate of the authority of this user, which is made the first time. The application gets it in
    /// files.
    pub(crate) fn new(package: &Package) -> Result<Self, String> {
        Self::in_folders(&authority::folder()?, &package.target.join("skep-dev"))
    }

    /// With the authority in one folder, and the files for the application in the other.
    pub(crate) fn in_folders(authority: &Path, own: &Path) -> Result<Self, String> {
        authority::tls(authority, own)
    }

    /// The settings of the application.
    pub(crate) fn settings(&self) -> &[String] {
        &self.settings
    }

    /// The certificate that a browser has to trust.
    pub(crate) fn authority(&self) -> &Path {
        &self.authority
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<Stream> {
        Ok(Box::new(self.acceptor.accept(stream).await?))
    }

    async fn connect(&self, stream: TcpStream) -> io::Result<Stream> {
        let name = tokio_rustls::rustls::pki_types::ServerName::try_from("localhost").map_err(io::Error::other)?;
        Ok(Box::new(self.connector.connect(name, stream).await?))
    }
}

#[cfg(not(feature = "tls"))]
impl Tls {
    pub(crate) fn new(_package: &Package) -> Result<Self, String> {
        Err("--tls needs skep-dev with the cargo feature `tls`: in a clone of Skep, `cargo install --locked --path \
             crates/skep-dev --features tls`"
            .to_owned())
    }

    pub(crate) fn settings(&self) -> &[String] {
        match *self {}
    }

    pub(crate) fn authority(&self) -> &Path {
        match *self {}
    }

    pub(crate) async fn accept(&self, _stream: TcpStream) -> io::Result<Stream> {
        match *self {}
    }

    async fn connect(&self, _stream: TcpStream) -> io::Result<Stream> {
        match *self {}
    }
}

/// Keys are in it.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}
