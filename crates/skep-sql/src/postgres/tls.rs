//! TLS to PostgreSQL, with rustls: the server's certificate must be of its name, and of an authority that this machine
//! or the address names.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use skep_units::system_roots;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// How TLS is spoken.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// With the authorities in this file (PEM), or those of the system.
    pub(super) fn new(authorities: Option<&Path>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        match authorities {
            Some(path) => {
                let unreadable = |error| format!("sslrootcert={}: {error}", path.display());
                for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
                    roots.add(certificate.map_err(unreadable)?).map_err(|error| error.to_string())?;
                }
            }
            None => _ = roots.add_parsable_certificates(system_roots("the database")),
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Connector;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Connector> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other);
        Ok(Connector { config: Arc::clone(&self.0), name })
    }
}

/// For one connection. Of one over a unix socket there is no name, and it is never asked.
pub(super) struct Connector {
    config: Arc<ClientConfig>,
    name: io::Result<ServerName<'static>>,
}

impl TlsConnect<Socket> for Connector {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let stream = TlsConnector::from(self.config).connect(self.name?, socket).await;
            stream.map(Box::new).map(Stream).map_err(|error| {
                io::Error::other(format!("TLS: {error}; the address may say `sslrootcert=FILE`, or `sslmode=disable`"))
            })
        })
    }
}

/// An encrypted connection.
pub(super) struct Stream(Box<tokio_rustls::client::TlsStream<Socket>>);

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}
