//! What the tests of this crate share: an application, a server in this process, and a client that sends exactly the
//! given bytes.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::Duration;

use skep::body::FileSlice;
use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;
use skep::upgrade::Upgraded;
use skep::websocket::{Message, WebSocket};
use skep_server::{Running, Server};

#[derive(Service)]
#[service(GET "/")]
struct Hello;

impl Handle for Hello {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("Hello, world!"))
    }
}

/// Says how long its body was.
#[derive(Service)]
#[service(POST "/length", cross_origin = "tests have no origin")]
struct Length;

impl Handle for Length {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let body = cx.read_body().await?;
        Ok(Response::text(body.len().to_string()))
    }
}

/// Responds after this many milliseconds.
#[derive(Service)]
#[service(GET "/slow/{millis}")]
struct Slow {
    millis: u64,
}

impl Handle for Slow {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        tokio::time::sleep(Duration::from_millis(self.millis)).await;
        Ok(Response::text("at last"))
    }
}

/// Sends back what it receives; but `fail` is an error, `panic` a panic, and `bye` ends it.
#[derive(Service)]
#[service(GET "/echo")]
struct Echo;

impl Handle for Echo {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.websocket(async |socket: &mut WebSocket| {
            while let Some(message) = socket.receive().await? {
                match &message {
                    Message::Text(text) if text == "fail" => return Err(skep::Error::internal("on purpose")),
                    Message::Text(text) if text == "panic" => panic!("on purpose"),
                    Message::Text(text) if text == "bye" => return Ok(()),
                    _ => socket.send(message).await?,
                }
            }
            Ok(())
        })
    }
}

/// Says which protocol was agreed on.
#[derive(Service)]
#[service(GET "/spoken")]
struct Spoken;

impl Handle for Spoken {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.websocket_with(&["v2", "v1"], async |socket: &mut WebSocket| {
            Ok(socket.send(socket.protocol().unwrap_or("none")).await?)
        })
    }
}

/// A byte stream of a protocol of its own: everything is sent back in capitals.
#[derive(Service)]
#[service(GET "/shout")]
struct Shout;

impl Handle for Shout {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.upgrade("shout", async |mut stream: Upgraded| {
            let mut buffer = [0; 100];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                buffer[..count].make_ascii_uppercase();
                stream.write_all(&buffer[..count]).await.unwrap();
            }
        })
    }
}

/// A line of the pages.
pub const PAGE: &str = "The bees know the way home, and so does this line.\n";

/// 100 KB of text, made for each request.
#[derive(Service)]
#[service(GET "/page/made")]
struct MadePage;

impl Handle for MadePage {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(PAGE.repeat(2000)))
    }
}

/// The same from the cache.
#[derive(Service)]
#[service(GET "/page/cached")]
struct CachedPage;

impl PublicPage for CachedPage {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(1))
    }

    async fn page(&self, _cx: &SharedCx<'_>) -> Result {
        Ok(Response::text(PAGE.repeat(2000)))
    }
}

/// Never responds, and notes when it is given up.
#[derive(Service)]
#[service(GET "/held/{name}")]
struct Held {
    name: String,
}

static ENDED: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Ending(String);

impl Drop for Ending {
    fn drop(&mut self) {
        ENDED.lock().unwrap().push(std::mem::take(&mut self.0));
    }
}

impl Handle for Held {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let _ending = Ending(self.name);
        std::future::pending().await
    }
}

/// True once the handler of `/held/NAME` was given up.
pub fn has_ended(name: &str) -> bool {
    ENDED.lock().unwrap().iter().any(|ended| ended == name)
}

/// `count` bytes, as a whole or as a file.
#[derive(Service)]
#[service(GET "/bytes/{kind}/{count}")]
struct Bytes {
    kind: String,
    count: u64,
}

impl Handle for Bytes {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(match &*self.kind {
            "file" => {
                Response::new(skep::Body::file(FileSlice { file: file(self.count)?.into(), start: 0, len: self.count }))
            }
            "short" => Response::new(skep::Body::file(FileSlice { file: file(10)?.into(), start: 0, len: self.count })),
            "slow" => Response::new(skep::Body::stream(SlowDots { left: self.count, sleep: None })),
            "stream" => Response::new(skep::Body::stream(Dots(self.count))),
            _ => Response::new(pattern(self.count)),
        })
    }
}

/// A stream of chunks of 1000 bytes whose length nobody knows.
struct Dots(u64);

impl http_body::Body for Dots {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<std::result::Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        let count = self.0.min(1000);
        self.0 -= count;
        std::task::Poll::Ready((count > 0).then(|| Ok(http_body::Frame::data(vec![b'.'; count as usize].into()))))
    }
}

/// A dot each 150 ms.
struct SlowDots {
    left: u64,
    sleep: Option<std::pin::Pin<Box<tokio::time::Sleep>>>,
}

impl http_body::Body for SlowDots {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<std::result::Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        if self.left == 0 {
            return std::task::Poll::Ready(None);
        }
        let pause = || Box::pin(tokio::time::sleep(Duration::from_millis(150)));
        std::task::ready!(self.sleep.get_or_insert_with(pause).as_mut().poll(cx));
        self.sleep = None;
        self.left -= 1;
        std::task::Poll::Ready(Some(Ok(http_body::Frame::data(bytes::Bytes::from_static(b".")))))
    }
}

/// Bytes that show when some of them are missing, doubled or out of order.
pub fn pattern(count: u64) -> Vec<u8> {
    // Repeated, not computed: ten megabytes of it are made in a moment.
    let count = usize::try_from(count).unwrap();
    let mut bytes = (0..251).collect::<Vec<u8>>().repeat(count / 251 + 1);
    bytes.truncate(count);
    bytes
}

pub fn file(count: u64) -> std::io::Result<std::fs::File> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("skep-server-test-{}-{number}", std::process::id()));
    std::fs::write(&path, pattern(count))?;
    let file = std::fs::File::open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// The peer, and the origin that links have; sets a cookie, and says in `x-seen` which fields of proxies there are.
#[derive(Service)]
#[service(GET "/sender")]
struct Sender;

impl Handle for Sender {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let peer = cx.peer().address.map(|address| address.to_string()).unwrap_or_default();
        cx.set_cookie(&skep::Cookie::new("a", "b"));
        let names = [
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-proto",
            "x-forwarded-host",
            "x-forwarded-port",
            "x-forwarded-prefix",
        ];
        let is_seen = |name: &&'static str| cx.header(&skep::HeaderName::from_static(name)).is_some();
        let seen = names.into_iter().filter(is_seen).collect::<Vec<_>>().join(" ");
        let response = Response::text(format!("{peer} {}", cx.shared().origin()));
        Ok(response.with_header(skep::HeaderName::from_static("x-seen"), skep::HeaderValue::try_from(seen).unwrap()))
    }
}

/// Events that never come.
#[derive(Service)]
#[service(GET "/events")]
struct Events;

impl Handle for Events {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let never = Never::<std::result::Result<skep::sse::Event, std::convert::Infallible>>(std::marker::PhantomData);
        Ok(cx.events(never).retry(Duration::from_secs(1)).into())
    }
}

/// A stream that is always pending.
struct Never<T>(std::marker::PhantomData<fn() -> T>);

impl<T> futures_core::Stream for Never<T> {
    type Item = T;

    fn poll_next(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<Option<T>> {
        std::task::Poll::Pending
    }
}

#[derive(Service)]
#[service(GET "/panic")]
struct Panic;

impl Handle for Panic {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        panic!("on purpose")
    }
}

pub fn app() -> App {
    App::new().name("test", "1.2.3").serve(services![
        Hello, Length, Slow, Held, MadePage, CachedPage, Echo, Spoken, Shout, Bytes, Sender, Events, Panic,
    ])
}

/// A server on a port of its own, with these settings besides.
pub fn server(settings: &[(&str, &str)]) -> Running {
    start(&[&[("listen", "127.0.0.1:0")], settings].concat())
}

/// A server with these settings.
pub fn start(settings: &[(&str, &str)]) -> Running {
    start_app(app, settings)
}

/// A server with another application.
pub fn start_app(app: impl Fn() -> App + Send + Sync + 'static, settings: &[(&str, &str)]) -> Running {
    let data = std::env::temp_dir().join(format!("skep-server-test-data-{}", std::process::id()));
    let quiet = [("log.access", "false"), ("log.level", "error"), ("workers", "2"), ("data", data.to_str().unwrap())];
    let server = quiet.iter().chain(settings).fold(Server::new(app), |server, (name, value)| server.fix(*name, *value));
    server.start().unwrap()
}

/// `127.0.0.1:12345` of `http://127.0.0.1:12345`.
pub fn address(server: &Running) -> String {
    server.urls()[0].split("//").nth(1).unwrap().to_owned()
}

/// A client that sends exactly the given bytes. Reads have a timeout.
pub struct Raw {
    pub stream: TcpStream,
    seen: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Raw {
    pub fn connect(server: &Running) -> Self {
        Self::over(TcpStream::connect(address(server)).unwrap())
    }

    pub fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, seen: Vec::new() }
    }

    pub fn say(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(text.as_ref()).unwrap();
        self
    }

    /// Says it a byte at a time. The server may hang up before the end.
    pub fn spell(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        for byte in text.as_ref() {
            if self.stream.write_all(&[*byte]).is_err() {
                break;
            }
        }
        self
    }

    fn more(&mut self) -> usize {
        let mut buffer = [0; 16 << 10];
        let count = self.stream.read(&mut buffer).expect("the server answers or closes");
        self.seen.extend_from_slice(&buffer[..count]);
        count
    }

    /// Reads until the server has said this.
    pub fn read_until(&mut self, text: &str) {
        while !self.seen.windows(text.len()).any(|window| window == text.as_bytes()) {
            assert!(self.more() > 0, "closed before {text:?}: {:?}", String::from_utf8_lossy(&self.seen));
        }
        self.seen.clear();
    }

    /// The next answer, to the end of its body.
    pub fn answer(&mut self) -> Answer {
        let end = loop {
            if let Some(at) = self.seen.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            assert!(self.more() > 0, "closed within a head: {:?}", String::from_utf8_lossy(&self.seen));
        };
        let head = String::from_utf8(self.seen.drain(..end).collect()).unwrap();
        let status = head[9..12].parse().unwrap();
        if matches!(status, 100 | 204) {
            return Answer { status, head, body: Vec::new() };
        }
        let body = match field(&head, "content-length").map(|length| length.parse::<usize>().unwrap()) {
            Some(length) => {
                while self.seen.len() < length {
                    assert!(self.more() > 0, "closed within a body, after {} of {length} bytes", self.seen.len());
                }
                self.seen.drain(..length).collect()
            }
            None => self.chunked(),
        };
        Answer { status, head, body }
    }

    fn chunked(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                if let Some(at) = self.seen.windows(2).position(|window| window == b"\r\n") {
                    break at;
                }
                assert!(self.more() > 0, "closed within a chunk");
            };
            let size = usize::from_str_radix(std::str::from_utf8(&self.seen[..end]).unwrap(), 16).unwrap();
            while self.seen.len() < end + 2 + size + 2 {
                assert!(self.more() > 0, "closed within a chunk");
            }
            body.extend_from_slice(&self.seen[end + 2..end + 2 + size]);
            self.seen.drain(..end + 2 + size + 2);
            if size == 0 {
                return body;
            }
        }
    }

    /// Asserts that the server says no more, and ends the connection in order.
    pub fn closed(&mut self) {
        assert_eq!(self.more(), 0, "more came: {:?}", String::from_utf8_lossy(&self.seen));
        assert!(self.seen.is_empty(), "more came: {:?}", String::from_utf8_lossy(&self.seen));
    }
}

impl Answer {
    pub fn field(&self, name: &str) -> Option<&str> {
        field(&self.head, name)
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// Asserts that this is a page of ours about this status, and that it says so.
pub fn assert_page(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.field("connection"), Some("close"), "{}", answer.head);
    assert!(answer.field("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{}", answer.head);
    let reason = http::StatusCode::from_u16(status).unwrap().canonical_reason().unwrap();
    assert!(answer.text().contains("<h1>") && answer.text().contains(reason), "{}", answer.text());
    assert!(answer.field("date").is_some_and(|date| date.ends_with(" GMT")), "{}", answer.head);
}
