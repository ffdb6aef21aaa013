//! TLS: made-up certificates, real ones, and wrong ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use skep_client::wait_until;
use skep_server::{Running, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::http2;
use super::support::{Raw, address, app, pattern, server};

pub(crate) struct Files {
    folder: PathBuf,
}

impl Files {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("skep-server-tls-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for which in ["a", "b"] {
            let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            fs::write(folder.join(format!("{which}.crt")), made.cert.pem()).unwrap();
            let key = folder.join(format!("{which}.key"));
            fs::write(&key, made.signing_key.serialize_pem()).unwrap();
            fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
        }
        fs::write(folder.join("empty"), "nothing").unwrap();
        fs::set_permissions(folder.join("empty"), fs::Permissions::from_mode(0o600)).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).unwrap();
    }
}

pub(crate) async fn connect(server: &Running, root: &str, protocol: &[u8]) -> TlsStream<TcpStream> {
    shake_hands(TcpStream::connect(address(server)).await.unwrap(), root, protocol).await
}

async fn shake_hands(stream: TcpStream, root: &str, protocol: &[u8]) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(root).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

#[test]
fn both_protocols_are_spoken_with_a_certificate_from_files() {
    let files = Files::new("good");
    let server = server(&[("tls.certificate", &files.path("a.crt")), ("tls.key", &files.path("a.key"))]);
    assert!(server.urls()[0].starts_with("https://"), "{:?}", server.urls());
    http2::block_on(async {
        let mut stream = connect(&server, &files.path("a.crt"), b"http/1.1").await;
        stream.write_all(b"GET /bytes/file/2000000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        assert!(all.ends_with(&pattern(2_000_000)));
        let mut stream = connect(&server, &files.path("a.crt"), b"http/1.0").await;
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        assert!(all.starts_with(b"HTTP/1.0 200 ") && all.ends_with(b"Hello, world!"));
        let stream = connect(&server, &files.path("a.crt"), b"h2").await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let mut sender = http2::handshake(stream).await;
        let answer = sender.send_request(http2::get("/")).await.unwrap();
        assert_eq!(http2::text(answer).await.unwrap().1, b"Hello, world!");
    });
}

#[test]
fn a_server_that_stops_finishes_the_handshakes_that_wait() {
    let files = Files::new("stops");
    let server = server(&[("tls.certificate", &files.path("a.crt")), ("tls.key", &files.path("a.key"))]);
    http2::block_on(async {
        let late = TcpStream::connect(address(&server)).await.unwrap();
        // It is accepted before the server stops.
        drop(connect(&server, &files.path("a.crt"), b"http/1.1").await);
        let listened = address(&server);
        let stopping = std::thread::spawn(|| server.stop());
        let has_stopped = || std::net::TcpStream::connect(&listened).is_err();
        wait_until(|| "the server still accepts connections".to_owned(), has_stopped);
        let mut stream = shake_hands(late, &files.path("a.crt"), b"http/1.1").await;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).await.unwrap();
        assert!(all.contains("\r\nconnection: close\r\n") && all.ends_with("Hello, world!"), "{all}");
        stopping.join().unwrap();
    });
}

#[test]
fn a_certificate_is_made_up_for_trying() {
    let server = server(&[("tls.self_signed", "true")]);
    assert!(server.urls()[0].starts_with("https://"), "{:?}", server.urls());
}

#[test]
fn a_request_without_tls_is_redirected_and_reaches_no_service() {
    let tls = ("tls.self_signed", "true");
    let location = |server: &Running, host: &str, target: &str| {
        let mut raw = Raw::connect(server);
        raw.say(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        let answer = raw.answer();
        assert!(answer.status == 308 && answer.body.is_empty(), "{answer:?}");
        answer.field("location").unwrap().to_owned()
    };
    let own = server(&[tls, ("development", "true")]);
    assert_eq!(location(&own, "localhost:8443", "/a?b=c"), "https://localhost:8443/a?b=c");
    assert_eq!(location(&own, "localhost:80", "/"), "https://localhost/");
    let based = server(&[tls, ("base_url", "https://example.org")]);
    assert_eq!(location(&based, "example.org", "/a"), "https://example.org/a");
    let mut raw = Raw::connect(&own);
    raw.say("GET / HTTP/1.0\r\n\r\n");
    let answer = raw.answer();
    assert!(answer.status == 400 && answer.text().contains("speaks HTTPS"), "{answer:?}");
}

#[test]
fn a_handshake_that_never_ends_does() {
    let server = server(&[("tls.self_signed", "true"), ("limits.tls_handshake", "100ms")]);
    Raw::connect(&server).closed();
}

#[test]
fn what_is_wrong_with_files_is_said() {
    let files = Files::new("bad");
    let error = |certificate: &str, key: &str| {
        let server = Server::new(app).fix("listen", "127.0.0.1:0").fix("data", files.path("data"));
        let server = server.fix("tls.certificate", certificate).fix("tls.key", key);
        server.start().unwrap_err().to_string()
    };
    let [good, key, other, empty] = ["a.crt", "a.key", "b.key", "empty"].map(|name| files.path(name));
    assert_eq!(error(&good, &other), format!("the key in {other} does not belong to the certificate in {good}"));
    assert!(
        error(&empty, &key).starts_with(&format!("{empty}: there is no certificate in it")),
        "{}",
        error(&empty, &key)
    );
    assert!(error(&good, &empty).starts_with(&format!("{empty}: there is no private key in it")));
    fs::set_permissions(&other, fs::Permissions::from_mode(0o644)).unwrap();
    let expected = format!("{other}: it has mode 644, so others may read or change it: chmod 600 {other}");
    assert_eq!(error(&good, &other), expected);
    assert!(error("/no/such", &key).starts_with("cannot read /no/such: No such file"));
    assert_eq!(error(&good, ""), "tls.certificate (--tls-cert) is set, but tls.key (--tls-key) is not");
}
