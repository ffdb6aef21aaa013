//! Hello and a folder of files over TLS from hyper and tokio-rustls: HTTP/2 or HTTP/1.1, as ALPN says.
//!
//! One current-thread runtime; files are read by tokio's threads, whole. No limits, no timer, no log, no shutdown.
//! Run: `peer-hyper-tls PORT CERTIFICATE KEY FILES`. It ends on SIGTERM, by the signal's default.

use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const USAGE: &str = "usage: peer-hyper-tls PORT CERTIFICATE KEY FILES";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, certificate, key, files] = arguments.as_slice() else { return Err(USAGE.into()) };
    let port = port.parse().map_err(|_| USAGE)?;
    let acceptor = TlsAcceptor::from(Arc::new(config(Path::new(certificate), Path::new(key))?));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(serve(port, acceptor, Arc::new(files.into())))
}

fn config(certificate: &Path, key: &Path) -> Result<ServerConfig> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<std::result::Result<_, _>>()?;
    let mut config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

async fn serve(port: u16, acceptor: TlsAcceptor, files: Arc<PathBuf>) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream, acceptor.clone(), files.clone()));
    }
}

async fn connection(stream: TcpStream, acceptor: TlsAcceptor, files: Arc<PathBuf>) {
    // A client that goes away is no news: the load generator counts what it misses.
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let (stream, service) = (TokioIo::new(stream), service_fn(move |request| answer(request, files.clone())));
    if is_http2 {
        let _ = http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service).await;
    } else {
        let _ = http1::Builder::new().pipeline_flush(true).serve_connection(stream, service).await;
    }
}

async fn answer(
    request: Request<Incoming>,
    files: Arc<PathBuf>,
) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let (content_type, body) = match request.uri().path() {
        "/" => ("text/plain", Some(Bytes::from_static(b"Hello, world!"))),
        path => ("application/octet-stream", read(&files, path).await),
    };
    let mut response = Response::new(Full::new(body.clone().unwrap_or_default()));
    if body.is_none() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    Ok(response)
}

/// A file of the folder itself.
async fn read(files: &Path, path: &str) -> Option<Bytes> {
    let name = path.strip_prefix('/').filter(|name| !name.contains(['/', '\\']) && *name != "..")?;
    tokio::fs::read(files.join(name)).await.ok().map(Bytes::from)
}
