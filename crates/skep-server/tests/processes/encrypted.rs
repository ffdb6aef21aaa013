//! Swaps over TLS, where a client cannot be lost to a handshake that nobody finishes, and HTTP/2, where a connection
//! brings many requests at once and ends with a word of its own.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::Test;
use super::server::{Server, deploy, folder};

pub(crate) const TESTS: &[Test] = &[
    ("drill_swap_under_load_over_tls", drill_swap_under_load_over_tls),
    ("drill_swap_under_load_over_http2", drill_swap_under_load_over_http2),
];

/// Connections at a time; over HTTP/2, each has `AT_ONCE` requests in flight.
const CONNECTIONS: usize = 4;
const AT_ONCE: usize = 4;

fn drill_swap_under_load_over_tls() {
    for model in ["thread", "prefork"] {
        swap_under_load(model, "http/1.1");
    }
}

fn drill_swap_under_load_over_http2() {
    for model in ["thread", "prefork"] {
        swap_under_load(model, "h2");
    }
}

/// What the connections of a load have seen.
#[derive(Default)]
struct Seen {
    good: Cell<u64>,
    connections: Cell<u64>,
    /// Set when the load is to end.
    enough: Cell<bool>,
}

fn swap_under_load(model: &'static str, protocol: &'static str) {
    let folder = folder();
    certify(&folder);
    deploy(&folder.join("app"), "0");
    let arguments = ["--mpm", model, "--workers", "2", "--set", "concurrency=8"];
    let tls = ["--set", "tls.certificate=it.crt", "--set", "tls.key=it.key"];
    let server = Server::start_in(folder.clone(), &[&arguments[..], &tls[..]].concat());
    let options = tokio::runtime::LocalOptions::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(options).unwrap();
    let swaps = 4;
    runtime.block_on(async {
        let seen = Rc::<Seen>::default();
        let tls = connector(&folder, protocol);
        let loads: Vec<_> = (0..CONNECTIONS)
            .map(|_| tokio::task::spawn_local(load(server.address.clone(), tls.clone(), Rc::clone(&seen))))
            .collect();
        go_on(&seen, 50).await;
        for version in 1..=swaps {
            deploy(&folder.join("app"), &version.to_string());
            let (good, text) = swap(&server).await;
            assert!(good, "{text}");
            // A connection that is opened now reaches the new version.
            let mut one = Connection::open(&server.address, &tls).await.unwrap();
            assert_eq!(one.ask().await.as_deref(), Some(version.to_string().as_str()));
            go_on(&seen, 50).await;
        }
        seen.enough.set(true);
        for load in loads {
            load.await.unwrap();
        }
        println!(
            "  {model}, {protocol}: {} good over {} connections, {swaps} swaps, nothing lost",
            seen.good.get(),
            seen.connections.get()
        );
    });
}

/// Says the word on another thread: this one has the clients.
async fn swap(server: &Server) -> (bool, String) {
    let (tell, told) = tokio::sync::oneshot::channel();
    let folder = server.folder.clone();
    std::thread::spawn(move || tell.send(super::server::control_in(&folder, "swap", &[])));
    told.await.unwrap()
}

async fn go_on(seen: &Seen, answers: u64) {
    let until = seen.good.get() + answers;
    let all = async {
        while seen.good.get() < until {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), all).await.expect("the load gets on");
}

/// Asks over one connection after the other, each as long as the server keeps it. Any request that was sent and not
/// answered is a loss, and panics.
async fn load(address: String, tls: TlsConnector, seen: Rc<Seen>) {
    while !seen.enough.get() {
        let Some(mut connection) = Connection::open(&address, &tls).await else { continue };
        seen.connections.set(seen.connections.get() + 1);
        let mut first = None;
        while let Some(version) = connection.ask().await {
            seen.good.set(seen.good.get() + 1);
            assert_eq!(first.get_or_insert_with(|| version.clone()), &version, "one connection saw two versions");
            if seen.enough.get() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

enum Connection {
    One(http1::SendRequest<Empty<Bytes>>),
    Two(http2::SendRequest<Empty<Bytes>>),
}

impl Connection {
    /// None if the server was done with it before it heard anything: on a busy machine a client may be that late.
    async fn open(address: &str, tls: &TlsConnector) -> Option<Self> {
        let stream = TcpStream::connect(address).await.expect("nobody is refused");
        let name = ServerName::try_from("localhost").unwrap();
        let stream: TlsStream<TcpStream> = tls.connect(name, stream).await.expect("a handshake that began is finished");
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            let (sender, connection) = http2::handshake(Local, TokioIo::new(stream)).await.ok()?;
            tokio::task::spawn_local(connection);
            return Some(Self::Two(sender));
        }
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::task::spawn_local(connection);
        Some(Self::One(sender))
    }

    /// The version that answers; none if the server has said before that the connection ends.
    async fn ask(&mut self) -> Option<String> {
        match self {
            Self::One(sender) => {
                sender.ready().await.ok()?;
                text(sender.try_send_request(request("/version")).await.map_err(|mut error| {
                    assert!(error.take_message().is_some(), "a request was lost: {:?}", error.error());
                }))
                .await
            }
            Self::Two(sender) => {
                sender.ready().await.ok()?;
                let ask = |mut sender: http2::SendRequest<Empty<Bytes>>| async move {
                    text(sender.try_send_request(request("https://localhost/version")).await.map_err(|mut error| {
                        assert!(error.take_message().is_some(), "a request was lost: {:?}", error.error());
                    }))
                    .await
                };
                let asked: Vec<_> = (0..AT_ONCE).map(|_| tokio::task::spawn_local(ask(sender.clone()))).collect();
                let mut first = None;
                for answer in asked {
                    let Some(version) = answer.await.unwrap() else { continue };
                    assert_eq!(first.get_or_insert_with(|| version.clone()), &version);
                }
                first
            }
        }
    }
}

async fn text(answer: Result<Response<hyper::body::Incoming>, ()>) -> Option<String> {
    let answer = answer.ok()?;
    assert_eq!(answer.status(), StatusCode::OK);
    let body = answer.into_body().collect().await.expect("an answer that began is whole").to_bytes();
    Some(String::from_utf8(body.to_vec()).unwrap())
}

fn request(target: &str) -> Request<Empty<Bytes>> {
    Request::get(target).header("host", "localhost").body(Empty::new()).unwrap()
}

#[derive(Clone)]
struct Local;

impl<F: Future + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

fn certify(folder: &Path) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.join("it.crt"), made.cert.pem()).unwrap();
    fs::write(folder.join("it.key"), made.signing_key.serialize_pem()).unwrap();
    fs::set_permissions(folder.join("it.key"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

fn connector(folder: &Path, protocol: &str) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("it.crt")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.into()];
    TlsConnector::from(Arc::new(config))
}
