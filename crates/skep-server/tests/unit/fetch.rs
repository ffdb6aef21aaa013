//! Against real servers on the loopback device.

use std::net::SocketAddr;
use std::pin::pin;
use std::time::{Duration, Instant};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls_pki_types::PrivatePkcs8KeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::*;

/// What a server does with each connection, after it has read a request.
#[derive(Clone, Copy)]
enum Does {
    Respond(&'static str),
    /// Says that there is this number of bytes, and sends them.
    Large(usize),
    /// The same in chunks, whose sum nobody knows before.
    Chunks(usize),
    Stall,
    HalfAHead,
}

/// A server that notes its connections and the heads of its requests.
struct Other {
    address: SocketAddr,
    heads: Arc<std::sync::Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Other {
    async fn start(does: Does) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (heads, connections) = (Arc::<std::sync::Mutex<Vec<String>>>::default(), Arc::<AtomicUsize>::default());
        let address = listener.local_addr().unwrap();
        let (all_heads, count) = (Arc::clone(&heads), Arc::clone(&connections));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(stream, does, Arc::clone(&all_heads)));
            }
        });
        Self { address, heads, connections }
    }

    fn url(&self) -> String {
        format!("http://{}/path?a=b", self.address)
    }
}

async fn serve(mut stream: TcpStream, does: Does, heads: Arc<std::sync::Mutex<Vec<String>>>) {
    while let Some(head) = read_head(&mut stream).await {
        heads.lock().unwrap().push(head);
        let sent = match does {
            Does::Respond(response) => stream.write_all(response.as_bytes()).await,
            Does::Large(bytes) => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
                stream.write_all(&[head.as_bytes(), &vec![b'x'; bytes]].concat()).await
            }
            Does::Chunks(count) => {
                let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1000));
                let body = chunk.repeat(count);
                let all = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{body}0\r\n\r\n");
                stream.write_all(all.as_bytes()).await
            }
            Does::Stall => std::future::pending().await,
            Does::HalfAHead => {
                let _ = stream.write_all(b"HTTP/1.1 20").await;
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn read_head(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

fn client(allow: &[&str], per_host: usize) -> Client {
    Client::with_roots(hosts(allow), per_host, RootCertStore::empty())
}

fn hosts(allow: &[&str]) -> Reach {
    Reach::parse(&allow.iter().map(|said| (*said).to_owned()).collect::<Vec<_>>()).unwrap()
}

fn bounds(time: Duration, body: u64) -> Bounds {
    let mut bounds = Bounds::default();
    (bounds.time, bounds.body) = (time, body);
    bounds
}

async fn get(client: &Client, url: &str) -> Result<Response<Bytes>, FetchError> {
    within(client, url, bounds(Duration::from_secs(10), 100_000)).await
}

async fn within(client: &Client, url: &str, bounds: Bounds) -> Result<Response<Bytes>, FetchError> {
    client.fetch(Request::get(url).body(Bytes::new()).unwrap(), bounds).await
}

const HELLO: Does = Does::Respond("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-a: b\r\n\r\nhello");

#[tokio::test(flavor = "current_thread")]
async fn requests_share_connections() {
    let (other, client) = (Other::start(HELLO).await, client(&["127.0.0.1"], 8));
    for _ in 0..5 {
        let response = get(&client, &other.url()).await.unwrap();
        assert_eq!((response.status().as_u16(), &response.body()[..]), (200, &b"hello"[..]));
        assert_eq!(response.headers()["x-a"], "b");
    }
    assert_eq!(other.connections.load(Ordering::Relaxed), 1);
    assert!(other.heads.lock().unwrap()[0].starts_with("GET /path?a=b HTTP/1.1\r\nhost: 127.0.0.1:"));
    assert_eq!(client.per_host.known(), 0, "a host is forgotten when nothing goes there");
}

#[tokio::test(flavor = "current_thread")]
async fn a_host_that_is_not_named_is_asked_nothing() {
    let other = Other::start(HELLO).await;
    let port = other.address.port();
    let localhost = format!("http://localhost:{port}/");
    // Neither a pattern nor a name allows an address of this machine, a literal one or what a name or a number stands
    // for.
    for allow in
        [&[][..], &["example.org"], &["127.0.0.1:1"], &["*"], &["*.0.0.1"], &["localhost"], &["*", "127.0.0.1:1"]]
    {
        let client = client(allow, 8);
        for url in [
            other.url(),
            localhost.clone(),
            format!("http://[::ffff:127.0.0.1]:{port}/"),
            format!("http://2130706433:{port}/"),
        ] {
            let error = get(&client, &url).await.unwrap_err();
            assert!(error.is_not_allowed(), "{allow:?} {url}: {error}");
        }
    }
    assert_eq!(other.connections.load(Ordering::Relaxed), 0);
    for allow in [&["*", &format!("127.0.0.1:{port}")][..], &["LOCALHOST", "127.0.0.1"], &["localhost", "private"]] {
        assert_eq!(get(&client(allow, 8), &localhost).await.unwrap().status(), 200, "{allow:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_redirect_is_a_response_and_is_not_followed() {
    let inside = Other::start(HELLO).await;
    let redirect = format!("HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", inside.url());
    let other = Other::start(Does::Respond(redirect.leak())).await;
    let response = get(&client(&["127.0.0.1"], 8), &other.url()).await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers()["location"].to_str().unwrap()), (302, &*inside.url()));
    assert_eq!(inside.connections.load(Ordering::Relaxed), 0);
}

#[tokio::test(flavor = "current_thread")]
async fn a_large_response_is_an_error() {
    let client = client(&["127.0.0.1"], 8);
    for (does, is_large) in
        [(Does::Large(2000), true), (Does::Large(1000), false), (Does::Chunks(2), true), (Does::Chunks(1), false)]
    {
        let other = Other::start(does).await;
        let response = within(&client, &other.url(), bounds(Duration::from_secs(10), 1000)).await;
        assert_eq!(response.as_ref().err().map(FetchError::is_too_large), is_large.then_some(true), "{response:?}");
        assert_eq!(response.map_or(1000, |response| response.body().len()), 1000);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_slow_server_costs_the_time_that_is_allowed() {
    let (other, client) = (Other::start(Does::Stall).await, client(&["127.0.0.1"], 1));
    let begun = Instant::now();
    let (long, short) = (bounds(Duration::from_millis(600), 1000), bounds(Duration::from_millis(200), 1000));
    // The second one waits for its turn, and has less time than the first one takes.
    let url = other.url();
    let (first, second) = tokio::join!(within(&client, &url, long), within(&client, &url, short));
    assert!(first.unwrap_err().is_timeout() && second.unwrap_err().is_timeout());
    assert!((600..2400).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    assert_eq!((client.per_host.known(), other.connections.load(Ordering::Relaxed)), (0, 1));
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_that_is_given_up_lets_go_of_its_turn() {
    let (other, client) = (Other::start(Does::Stall).await, client(&["127.0.0.1"], 1));
    let url = other.url();
    {
        let mut fetching = pin!(get(&client, &url));
        assert!(timeout(Duration::from_millis(50), &mut fetching).await.is_err());
        assert_eq!(client.per_host.known(), 1);
    }
    assert_eq!(client.per_host.known(), 0);
}

#[tokio::test(flavor = "current_thread")]
async fn a_server_that_is_not_there_or_breaks_off_is_unreachable() {
    let client = client(&["127.0.0.1"], 8);
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let broken = Other::start(Does::HalfAHead).await;
    for url in [format!("http://{gone}/"), broken.url()] {
        let error = get(&client, &url).await.unwrap_err();
        assert!(error.is_unreachable() && !error.to_string().contains("path"), "{error}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_certificate_that_nobody_vouches_for_is_refused() {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key.into()).unwrap();
    let (acceptor, listener) = (TlsAcceptor::from(Arc::new(config)), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            read_head(&mut stream).await;
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
        }
    });
    let error = get(&client(&["localhost", "private"], 8), &url).await.unwrap_err();
    assert!(error.is_unreachable() && format!("{error:?}").contains("UnknownIssuer"), "{error:?}");
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let trusting = Client::with_roots(hosts(&["localhost", "private"]), 8, roots);
    assert_eq!(get(&trusting, &url).await.unwrap().status(), 204);
}
