//! One client that sends more than can be done at once does not keep a thread from others.
//!
//! The server has one thread. A client has it do something two hundred times, and the first time lasts until another
//! client has sent its request. That request says how often it was done before: of order, and not of time.

use std::collections::BTreeMap;
use std::io::Write;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http_body::Body as _;
use skep::prelude::*;
use skep::upgrade::Upgraded;
use skep::websocket::WebSocket;
use skep_server::Running;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::http2::block_on;
use super::support::{Raw, start_app};
use super::tls::{self, Files};

/// How often it is done in all, and before the request of somebody else at the most: some rounds, in each of which it
/// is done once, as it takes longer than a turn may. In the first round the connection is accepted, in another one its
/// request is read.
const ALL: usize = 200;
const MOST: usize = 20;

/// Longer than a turn.
const STEP: Duration = Duration::from_millis(2);

#[derive(Default)]
struct Job {
    may_begin: AtomicBool,
    done: AtomicUsize,
}

/// The job of this name.
fn job(name: &str) -> Arc<Job> {
    static JOBS: Mutex<BTreeMap<String, Arc<Job>>> = Mutex::new(BTreeMap::new());
    Arc::clone(JOBS.lock().unwrap().entry(name.to_owned()).or_default())
}

impl Job {
    /// Does it once, without waiting: the thread is busy.
    fn step(&self) {
        if self.done.fetch_add(1, Ordering::SeqCst) == 0 {
            while !self.may_begin.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let begun = Instant::now();
        while begun.elapsed() < STEP {}
    }

    fn until_begun(&self) {
        while self.done.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// How often it was done.
#[derive(Service)]
#[service(GET "/done/{job}")]
pub(crate) struct Done {
    job: String,
}

impl Handle for Done {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(job(&self.job).done.load(Ordering::SeqCst).to_string()))
    }
}

#[derive(Service)]
#[service(GET "/busy/{job}")]
pub(crate) struct Work {
    job: String,
}

impl Handle for Work {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        job(&self.job).step();
        Ok(Response::text("x"))
    }
}

/// For each piece of its body.
#[derive(Service)]
#[service(POST "/pieces/{job}", cross_origin = "tests have no origin")]
pub(crate) struct Pieces {
    job: String,
}

impl Handle for Pieces {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (job, mut body) = (job(&self.job), cx.take_body());
        while let Some(Ok(_)) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            job.step();
        }
        Ok(Response::text("x"))
    }
}

/// For each piece of its response.
#[derive(Service)]
#[service(GET "/stream/{job}")]
pub(crate) struct Stream {
    job: String,
}

impl Handle for Stream {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::new(skep::Body::stream(Steps { job: job(&self.job), left: ALL })))
    }
}

struct Steps {
    job: Arc<Job>,
    left: usize,
}

impl http_body::Body for Steps {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(None) };
        self.left = left;
        self.job.step();
        Poll::Ready(Some(Ok(http_body::Frame::data(bytes::Bytes::from_static(b".")))))
    }
}

/// For each message.
#[derive(Service)]
#[service(GET "/messages/{job}")]
pub(crate) struct Messages {
    job: String,
}

impl Handle for Messages {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let job = job(&self.job);
        cx.websocket(async move |socket: &mut WebSocket| {
            while socket.receive().await?.is_some() {
                job.step();
            }
            Ok(())
        })
    }
}

/// For each byte of a protocol of its own.
#[derive(Service)]
#[service(GET "/bytes/{job}")]
pub(crate) struct Bytes {
    job: String,
}

impl Handle for Bytes {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let job = job(&self.job);
        cx.upgrade("bytes", async move |mut stream: Upgraded| {
            while let Ok(1..) = stream.read(&mut [0]).await {
                job.step();
            }
        })
    }
}

/// For each message that it sends.
#[derive(Service)]
#[service(GET "/sends/{job}")]
pub(crate) struct Sends {
    job: String,
}

impl Handle for Sends {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let job = job(&self.job);
        cx.websocket(async move |socket: &mut WebSocket| {
            for _ in 0..ALL {
                job.step();
                socket.send("x").await?;
            }
            Ok(())
        })
    }
}

/// Once, and once more when all of its body has been sent.
#[derive(Service)]
#[service(GET "/large/{job}")]
pub(crate) struct Large {
    job: String,
}

impl Handle for Large {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let job = job(&self.job);
        job.step();
        Ok(Response::new(bytes::Bytes::from_owner(LargeBody { job, bytes: vec![b'x'; 4 << 20] })))
    }
}

struct LargeBody {
    job: Arc<Job>,
    bytes: Vec<u8>,
}

impl AsRef<[u8]> for LargeBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for LargeBody {
    fn drop(&mut self) {
        self.job.step();
    }
}

pub(crate) const SERVICES: skep::Services = skep::services![Done, Work, Pieces, Stream, Messages, Bytes, Sends, Large];

fn app() -> App {
    App::new().serve(SERVICES)
}

fn server() -> Running {
    start_app(app, &[("listen", "127.0.0.1:0"), ("workers", "1"), ("limits.body", "100MiB")])
}

/// While this client has the job done, others are served: on a connection that they had, and on a new one.
fn assert_fair(name: &str, greedy: impl FnOnce(&Running) -> Vec<Raw>) {
    let server = server();
    let done = format!("GET /done/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut known = Raw::connect(&server);
    assert_eq!(known.say(&done).answer().text(), "0", "{name}");
    let job = job(name);
    let clients = greedy(&server);
    job.until_begun();
    known.say(&done);
    let mut new = Raw::connect(&server);
    new.say(&done);
    job.may_begin.store(true, Ordering::SeqCst);
    for (who, other) in [("who was there", &mut known), ("who comes", &mut new)] {
        let before: usize = other.answer().text().parse().unwrap();
        assert!((1..=MOST).contains(&before), "{name}: {who} waits until it was done {before} times");
    }
    drop(clients);
}

/// A client that sends this. It does not wait for the server to take it.
fn sends(bytes: Vec<u8>) -> impl FnOnce(&Running) -> Vec<Raw> {
    move |server| {
        let client = Raw::connect(server);
        let mut stream = client.stream.try_clone().unwrap();
        std::thread::spawn(move || stream.write_all(&bytes));
        vec![client]
    }
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

fn upgrade(path: &str, protocol: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
}

#[test]
fn pipelined_requests() {
    assert_fair("pipelined", sends(get("/busy/pipelined").repeat(ALL).into()));
    assert_fair("head", sends(get("/busy/head").replace("GET", "HEAD").repeat(ALL).into()));
    let post = "POST /pieces/forms HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc";
    assert_fair("forms", sends(post.repeat(ALL).into()));
    // A fast one between two slow ones, whose bytes come at once or in packets of their own.
    let mixed = [get("/done/mixed"), get("/busy/mixed")].concat().repeat(ALL);
    assert_fair("mixed", sends(mixed.into()));
    assert_fair("packets", |server| {
        let client = Raw::connect(server);
        let mut stream = client.stream.try_clone().unwrap();
        std::thread::spawn(move || (0..ALL).try_for_each(|_| stream.write_all(get("/busy/packets").as_bytes())));
        vec![client]
    });
}

/// Several of them share the rounds.
#[test]
fn pipelined_requests_on_several_connections() {
    assert_fair("several", |server| {
        (0..4).flat_map(|_| sends(get("/busy/several").repeat(ALL / 4).into())(server)).collect()
    });
}

#[test]
fn pieces_of_bodies() {
    // Each is as much as is received at once, at the most.
    let body = |name, encoding| format!("POST /pieces/{name} HTTP/1.1\r\nHost: localhost\r\n{encoding}\r\n\r\n");
    let size = ALL << 15;
    let whole = [body("whole", format!("Content-Length: {size}")).into_bytes(), vec![b'x'; size]].concat();
    assert_fair("whole", sends(whole));
    let head = body("chunks", "Transfer-Encoding: chunked".to_owned());
    assert_fair("chunks", sends([head, "1\r\na\r\n".repeat(size / 6), "0\r\n\r\n".to_owned()].concat().into()));
    assert_fair("stream", sends(get("/stream/stream").into()));
}

#[test]
fn messages_and_bytes_of_upgraded_connections() {
    // Masked by zeros: a text of one byte.
    let message = [0x81, 0x81, 0, 0, 0, 0, b'x'];
    assert_fair(
        "messages",
        sends([upgrade("/messages/messages", "websocket").into_bytes(), message.repeat(ALL)].concat()),
    );
    assert_fair("bytes", sends([upgrade("/bytes/bytes", "bytes").into_bytes(), vec![b'x'; ALL]].concat()));
}

#[test]
fn messages_to_a_client_of_a_websocket() {
    assert_fair("sends", sends(upgrade("/sends/sends", "websocket").into()));
    // CONNECT of RFC 8441.
    assert_fair("sends2", sends([http2(), connect("/sends/sends2")].concat()));
}

/// An extended CONNECT for a WebSocket.
fn connect(path: &str) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("origin", "http://localhost"),
        ("sec-websocket-version", "13"),
    ] {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).unwrap());
            block.extend(text.as_bytes());
        }
    }
    frame(1, 4, 1, &block)
}

/// A request of HTTP/2 with this method by its number in the static table.
fn request(stream: usize, method: u8, flags: u8, path: &str) -> Vec<u8> {
    let length = u8::try_from(path.len()).unwrap();
    let head = [&[method, 0x86, 0x41, 9][..], b"localhost", &[0x04, length], path.as_bytes()].concat();
    frame(1, flags, stream, &head)
}

fn frame(kind: u8, flags: u8, stream: usize, payload: &[u8]) -> Vec<u8> {
    let [.., a, b, c] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let stream = u32::try_from(stream).unwrap().to_be_bytes();
    [&[a, b, c, kind, flags][..], &stream, payload].concat()
}

/// Preface, and settings with a large window.
fn http2() -> Vec<u8> {
    let settings = frame(4, 0, 0, &[0, 4, 0x7f, 0xff, 0xff, 0xff]);
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), settings].concat()
}

#[test]
fn streams_of_http_2_and_their_pieces() {
    // As many as may run at a time.
    let streams = (0..100).flat_map(|number| request(2 * number + 1, 0x82, 5, "/busy/streams"));
    assert_fair("streams", sends(http2().into_iter().chain(streams).collect()));
    assert_fair("stream2", sends([http2(), request(1, 0x82, 5, "/stream/stream2")].concat()));
    // Within the window that a stream begins with.
    let data = (0..ALL).flat_map(|_| frame(0, 0, 1, &[b'x'; 100]));
    let upload = [http2(), request(1, 0x83, 4, "/pieces/pieces2")].concat();
    assert_fair("pieces2", sends(upload.into_iter().chain(data).collect()));
}

/// A client that takes what is encrypted at once: it does not decrypt it.
#[test]
fn a_large_body_over_tls() {
    let files = Files::new("fair");
    let (certificate, key) = (files.path("a.crt"), files.path("a.key"));
    let settings = [("listen", "127.0.0.1:0"), ("workers", "1"), ("tls.certificate", &certificate), ("tls.key", &key)];
    let server = start_app(app, &settings);
    let job = job("tls");
    let before = block_on(async {
        let mut known = tls::connect(&server, &certificate, b"http/1.1").await;
        let mut greedy = tls::connect(&server, &certificate, b"http/1.1").await;
        greedy.write_all(get("/large/tls").as_bytes()).await.unwrap();
        let mut encrypted = greedy.into_inner().0.into_std().unwrap();
        encrypted.set_nonblocking(false).unwrap();
        std::thread::spawn(move || std::io::copy(&mut encrypted, &mut std::io::sink()));
        job.until_begun();
        let closing = get("/done/tls").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        known.write_all(closing.as_bytes()).await.unwrap();
        job.may_begin.store(true, Ordering::SeqCst);
        let mut answer = String::new();
        known.read_to_string(&mut answer).await.unwrap();
        answer
    });
    assert!(before.ends_with("\r\n\r\n1"), "all of the body is sent before: {before}");
}
