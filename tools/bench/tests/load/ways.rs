//! Every way to a server: TLS, unix sockets, HTTP/2 with and without TLS, HEAD, bodies, a server that it starts itself.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use skep_bench::load::{self, ErrorKind, Figures, Pace, Plan, RequestSpec, Trust, Version, fetch};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::server::{HELLO, read_request, serve};

fn plan(url: &str) -> Plan {
    let mut plan = Plan::of(url.parse().unwrap());
    (plan.connections, plan.warm_up, plan.time) = (4, Duration::ZERO, Duration::from_secs(20));
    plan.count = Some(200);
    plan
}

fn good(plan: &Plan) -> Figures {
    let figures = load::run(plan).unwrap();
    assert_eq!((figures.answers, figures.errors.total()), (200, 0), "{:?}", figures.errors);
    figures
}

/// A certificate for localhost: what a server is set up with, and the PEM that trusts it.
fn certificate(protocols: &[&[u8]]) -> (Arc<ServerConfig>, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    (Arc::new(config), made.cert.pem())
}

#[test]
fn tls_with_a_certificate_that_is_trusted_or_not() {
    let (config, pem) = certificate(&[b"http/1.1"]);
    let address = serve(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        while read_request(&mut stream) {
            if stream.write_all(HELLO).and_then(|()| stream.flush()).is_err() {
                return;
            }
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, pem).unwrap();
    let url = format!("https://localhost:{}/", address.port());
    good(&Plan { trust: Trust::All, ..plan(&url) });
    good(&Plan { trust: Trust::File(file.clone()), ..plan(&url) });
    good(&Plan { trust: Trust::All, reuse: false, ..plan(&url) });
    let by_address = format!("https://{address}/");
    let error = load::run(&Plan { trust: Trust::File(file), ..plan(&by_address) }).unwrap_err().to_string();
    assert!(error.starts_with("no TLS with the server: ") && error.contains("ertificate"), "{error}");
    fs::write(folder.path().join("none.pem"), "nothing\n").unwrap();
    let none = Trust::File(folder.path().join("none.pem"));
    let error = load::run(&Plan { trust: none, ..plan(&url) }).unwrap_err().to_string();
    assert!(error.ends_with("none.pem: there is no certificate in it"), "{error}");
}

#[test]
fn a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || while read_request(&mut stream) && stream.write_all(HELLO).is_ok() {});
        }
    });
    let mut plan = plan("http://localhost/");
    plan.target = plan.target.over_unix(&path);
    good(&plan);
    plan.reuse = false;
    good(&plan);
}

#[test]
fn head_and_bodies() {
    let address = serve(|stream| {
        let mut piece = [0; 4096];
        while let Ok(length @ 1..) = std::io::Read::read(stream, &mut piece) {
            let text = String::from_utf8_lossy(&piece[..length]).into_owned();
            let answer: &[u8] = match text.split(' ').next() {
                Some("HEAD") => b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n",
                Some("POST") if text.ends_with("\r\ncontent-length: 4\r\n\r\na=42") => HELLO,
                _ => b"HTTP/1.1 400 Bad\r\ncontent-length: 0\r\n\r\n",
            };
            if stream.write_all(answer).is_err() {
                return;
            }
        }
    });
    let mut plan = plan(&format!("http://{address}/"));
    plan.requests =
        vec![RequestSpec::get("/").method("HEAD").unwrap(), RequestSpec::get("/").method("POST").unwrap().body("a=42")];
    good(&plan);
}

/// Answers every stream; `/missing` is not there.
async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin) {
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let status = if request.uri().path() == "/missing" { 404 } else { 200 };
        let answer = http::Response::builder().status(status).header("x-it", "is").body(()).unwrap();
        if let Ok(mut body) = respond.send_response(answer, false) {
            let _ = body.send_data(Bytes::from_static(b"Hello, world!"), true);
        }
    }
}

/// Those that all servers of HTTP/2 have accepted.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// A server of HTTP/2, in a thread of its own.
fn http2(tls: Option<Arc<ServerConfig>>) -> u16 {
    let (send, receive) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            send.send(listener.local_addr().unwrap().port()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                CONNECTIONS.fetch_add(1, Ordering::Relaxed);
                let tls = tls.clone();
                tokio::spawn(async move {
                    match tls {
                        None => answer(stream).await,
                        Some(config) => {
                            if let Ok(stream) = tokio_rustls::TlsAcceptor::from(config).accept(stream).await {
                                answer(stream).await;
                            }
                        }
                    }
                });
            }
        });
    });
    receive.recv().unwrap()
}

#[test]
fn http2_with_prior_knowledge_and_by_alpn() {
    let port = http2(None);
    let plain = Plan { http: Version::Http2, depth: 8, ..plan(&format!("http://127.0.0.1:{port}/")) };
    assert_eq!(good(&plain).bytes, 200 * 13);
    // A connection for each request is one more to accept for each.
    let before = CONNECTIONS.load(Ordering::Relaxed);
    good(&Plan { depth: 1, reuse: false, ..plain });
    assert!(CONNECTIONS.load(Ordering::Relaxed) - before >= 200);
    let (config, _) = certificate(&[b"h2"]);
    let port = http2(Some(config));
    let secure = Plan { http: Version::Http2, trust: Trust::All, ..plan(&format!("https://localhost:{port}/")) };
    good(&secure);
    good(&Plan { reuse: false, ..secure.clone() });
    let answer =
        fetch(&secure.target, &RequestSpec::get("/"), &Trust::All, Version::Http2, Duration::from_secs(5)).unwrap();
    assert_eq!((answer.status, answer.field("x-it"), &answer.body[..]), (200, Some("is"), &b"Hello, world!"[..]));
}

#[test]
fn http2_in_an_open_loop_and_with_errors() {
    let port = http2(None);
    let mut open = Plan { http: Version::Http2, ..plan(&format!("http://127.0.0.1:{port}/")) };
    (open.count, open.pace, open.time) = (None, Pace::Open { per_second: 200.0 }, Duration::from_secs(1));
    open.warm_up = Duration::from_millis(200);
    assert_eq!(good(&open).unanswered, 0);
    let mut missing = Plan { http: Version::Http2, ..plan(&format!("http://127.0.0.1:{port}/missing")) };
    missing.count = Some(50);
    let figures = load::run(&missing).unwrap();
    assert_eq!(figures.errors.iter().next().map(|(kind, count, _)| (kind, count)), Some((ErrorKind::Status(404), 50)));
    // Who asks for HTTP/2 over TLS gets it or an error.
    let (config, _) = certificate(&[b"http/1.1"]);
    let port = http2(Some(config));
    let old = Plan { http: Version::Http2, trust: Trust::All, ..plan(&format!("https://localhost:{port}/")) };
    let error = load::run(&old).unwrap_err().to_string();
    assert!(error.starts_with("no TLS with the server: ") || error.contains("does not offer HTTP/2"), "{error}");
}

/// Over every connection, in every loop, by several threads: a busy load counts what one that sleeps does, and knows
/// how much of its time it was not needed.
#[test]
fn a_busy_load_counts_the_same_and_tells_looking_from_working() {
    let server = crate::server::Server::delayed(|_| Duration::from_millis(5));
    assert_eq!(good(&plan(&server.url())).idle, Duration::ZERO);
    let busy = Plan { busy: true, ..plan(&server.url()) };
    let open =
        Plan { pace: Pace::Open { per_second: 400.0 }, count: None, time: Duration::from_millis(500), ..busy.clone() };
    for plan in [Plan { threads: 2, ..busy.clone() }, Plan { reuse: false, ..busy.clone() }, open, busy] {
        let figures = good(&plan);
        assert!(figures.idle > Duration::ZERO && figures.idle <= figures.own_cpu, "{figures:?}");
        assert!(figures.own_share() < 0.5, "{}", figures.own_share());
    }
    let http2 = Plan { busy: true, http: Version::Http2, ..plan("http://127.0.0.1:1/") };
    let error = load::run(&http2).unwrap_err().to_string();
    assert_eq!(error, "a busy load speaks HTTP/1.1: over HTTP/2 it waits in a runtime, which sleeps");
}

/// However long an answer takes: the first ones come when sending has ended long ago.
#[test]
fn a_load_that_drains_counts_what_it_has_asked_for() {
    let server = crate::server::Server::delayed(|_| Duration::from_millis(300));
    let short = Plan { count: None, time: Duration::from_millis(100), drain: true, ..plan(&server.url()) };
    let figures = load::run(&short).unwrap();
    assert_eq!((figures.answers, server.took.lock().unwrap().len()), (4, 4));
    assert!(figures.elapsed >= Duration::from_millis(300));
}

/// Whatever is spoken, several threads come to what one does.
#[test]
fn several_threads_share_connections_requests_and_rate() {
    let server = crate::server::Server::delayed(|_| Duration::from_millis(1));
    let port = http2(None);
    for (http, url) in [(Version::Http1, server.url()), (Version::Http2, format!("http://127.0.0.1:{port}/"))] {
        let three = Plan { http, threads: 3, ..plan(&url) };
        good(&three);
        let open = Plan { pace: Pace::Open { per_second: 400.0 }, count: None, ..three };
        let open = Plan { time: Duration::from_millis(500), warm_up: Duration::from_millis(100), ..open };
        let figures = good(&open);
        assert_eq!(figures.unanswered, 0);
        assert_eq!(figures.latency.len(), 200);
        // A piece of time at the end that is too short for a rate is left out.
        let pieces = figures.over_time.iter().map(|piece| piece.answers).sum::<u64>();
        assert!((150..=200).contains(&pieces), "{pieces}");
    }
    // What is wrong for one is wrong for all, and the run ends.
    let nobody = Plan { threads: 3, warm_up: Duration::from_millis(100), ..plan("http://127.0.0.1:1/") };
    let error = load::run(&nobody).unwrap_err().to_string();
    assert!(error.contains("refused"), "{error}");
}

#[test]
fn a_ramp_and_a_log_send_what_is_due() {
    let server = crate::server::Server::delayed(|_| Duration::ZERO);
    let ramp = Plan { count: None, pace: Pace::Ramp { from: 100.0, to: 300.0 }, ..plan(&server.url()) };
    let figures = load::run(&Plan { time: Duration::from_secs(1), ..ramp.clone() }).unwrap();
    assert_eq!(figures.answers + figures.unanswered, 200);
    let log = "::1 - - [31/Dec/2023:23:59:58 +0000] \"GET /a HTTP/1.1\" 200 1\n::1 - - [31/Dec/2023:23:59:59 +0000] \"GET /b HTTP/1.1\" 200 1\n";
    let requests = load::read_access_log(log).unwrap().requests;
    let replay = Plan { requests, pace: Pace::Replay { speed: 2.0 }, time: Duration::from_secs(5), ..ramp };
    let figures = load::run(&replay).unwrap();
    assert_eq!((figures.answers, figures.errors.total()), (2, 0));
    // Half of the second that lies between the two: a busy machine makes it longer only.
    assert!(figures.elapsed >= Duration::from_millis(450), "{:?}", figures.elapsed);
}

#[test]
fn pipelined_and_unkept_connections_count_every_answer() {
    let server = crate::server::Server::delayed(|_| Duration::ZERO);
    let unkept = Plan { reuse: false, count: Some(500), ..plan(&server.url()) };
    let figures = load::run(&unkept).unwrap();
    assert_eq!((figures.answers, figures.errors.total()), (500, 0));
    // This server answers once for what it reads at once, so that pipelined requests would be too many for it.
    let pipelining = serve(|stream| {
        let mut piece = [0; 4096];
        while let Ok(length @ 1..) = std::io::Read::read(stream, &mut piece) {
            let requests = piece[..length].windows(4).filter(|four| four == b"\r\n\r\n").count();
            if std::io::Write::write_all(stream, &HELLO.repeat(requests)).is_err() {
                return;
            }
        }
    });
    let deep = Plan { depth: 16, count: Some(5000), ..plan(&format!("http://{pipelining}/")) };
    let figures = load::run(&deep).unwrap();
    assert_eq!((figures.answers, figures.errors.total()), (5000, 0));
    assert_eq!(figures.bytes, 5000 * HELLO.len() as u64);
}
