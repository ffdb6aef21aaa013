//! Components over TLS and HTTP/2, where one connection brings many requests at once.

use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::Test;
use super::guests;
use super::server::{Folder, Server};

pub(crate) const TESTS: &[Test] = &[("both_protocols_are_spoken_over_tls", over_tls)];

fn over_tls() {
    let folder = Folder::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = format!("tls.certificate={}", folder.write("it.crt", made.cert.pem()).display());
    let key = folder.write("it.key", made.signing_key.serialize_pem());
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let key = format!("tls.key={}", key.display());
    let guest = guests::plain();
    let server = Server::start(&[guest.to_str().unwrap(), "--set", &certificate, "--set", &key]);
    let options = tokio::runtime::LocalOptions::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(options).unwrap();
    let all = speak(&server.address, made.cert.der());
    runtime.block_on(async { tokio::time::timeout(Duration::from_mins(1), all).await.unwrap() });
}

async fn speak(address: &str, root: &CertificateDer<'static>) {
    let stream = connect(address, root, b"http/1.1").await;
    let (mut one, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::task::spawn_local(connection);
    let told = text(one.send_request(request("/request")).await).await;
    assert!(told.starts_with("GET Some(true) localhost /request"), "the guest knows that it is TLS: {told}");
    let stream = connect(address, root, b"h2").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (two, connection) = http2::handshake(Local, TokioIo::new(stream)).await.unwrap();
    tokio::task::spawn_local(connection);
    let ask = |path: &str| {
        let (mut sender, request) = (two.clone(), request(&format!("https://localhost{path}")));
        tokio::task::spawn_local(async move { text(sender.send_request(request).await).await })
    };
    let asked: Vec<_> = (0..50).map(|_| ask("/counts")).collect();
    for answer in asked {
        assert_eq!(answer.await.unwrap(), "static 1 local 1", "each has an instance of its own");
    }
    // One that dies takes its own stream with it, and no other.
    let (slow, dead) = (ask("/sleep?300"), ask("/unreachable"));
    assert!(dead.await.unwrap().contains("Internal Server Error"));
    assert_eq!(slow.await.unwrap(), "slept");
}

async fn connect(address: &str, root: &CertificateDer<'static>, protocol: &[u8]) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

fn request(target: &str) -> Request<Empty<Bytes>> {
    Request::get(target).header("host", "localhost").body(Empty::new()).unwrap()
}

async fn text(answer: hyper::Result<Response<hyper::body::Incoming>>) -> String {
    let body = answer.unwrap().into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

#[derive(Clone)]
struct Local;

impl<F: Future + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}
