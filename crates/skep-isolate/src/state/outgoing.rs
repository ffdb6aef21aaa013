//! Requests of a guest to other servers: HTTP/1.1, a connection for each, to an address that [`Reach`] admits.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{PathAndQuery, Scheme};
use http::{Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use skep_server::outgoing::Reach;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_rustls::TlsConnector;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

/// A response, and what ends when its connection does.
pub(super) type Sent = Result<(Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>), Error>;

/// The time for each step, unless the guest sets one; the deadline of its request comes first.
const PATIENCE: Duration = Duration::from_mins(10);

static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("ring has what these versions need");
    Arc::new(config.with_root_certificates(roots).with_no_client_auth())
});

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Sends a request to a host that the list has.
///
/// # Errors
/// `DestinationIpProhibited` if that leads to no address which the list admits.
pub(super) async fn send(
    reach: &Reach,
    (host, port): (&str, u16),
    mut request: Request<WasiBody>,
    options: RequestOptions,
) -> Sent {
    let connecting = connect(reach, host, port, request.uri().scheme() == Some(&Scheme::HTTPS));
    let patience = options.connect_timeout.unwrap_or(PATIENCE);
    let stream = timeout(patience, connecting).await.map_err(|_| Error::ConnectionTimeout)??;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    // Scheme and authority are for proxies only (RFC 9112, 3.2); the host field has been set.
    let target = request.uri().path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(target);
    let patience = options.first_byte_timeout.unwrap_or(PATIENCE);
    let response =
        timeout(patience, sender.send_request(request)).await.map_err(|_| Error::ConnectionReadTimeout)??;
    let patience = options.between_bytes_timeout.unwrap_or(PATIENCE);
    let response = response.map(|body| Timed { body, patience, sleep: Box::pin(sleep(patience)) }.boxed_unsync());
    Ok((response, Box::new(async move { connection.await.map_or(Ok(()), |ended| ended.map_err(Error::from)) })))
}

async fn connect(reach: &Reach, host: &str, port: u16, tls: bool) -> Result<Box<dyn Stream>, Error> {
    let stream = reach.connect(host, port).await.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => Error::DestinationIpProhibited,
        _ => Error::Connect(error),
    })?;
    if !tls {
        return Ok(Box::new(stream));
    }
    let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(name)?;
    let stream = TlsConnector::from(Arc::clone(&TLS)).connect(name, stream).await.map_err(Error::Tls)?;
    Ok(Box::new(stream))
}

/// A body whose pieces come in time.
struct Timed {
    body: Incoming,
    patience: Duration,
    sleep: Pin<Box<Sleep>>,
}

impl Body for Timed {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
            ready!(self.sleep.as_mut().poll(cx));
            return Poll::Ready(Some(Err(Error::ConnectionReadTimeout)));
        };
        let next = Instant::now() + self.patience;
        self.sleep.as_mut().reset(next);
        Poll::Ready(frame.map(|frame| frame.map_err(Error::from)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
