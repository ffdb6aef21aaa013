//! Connections that stop being HTTP and become a byte stream (RFC 9110, 7.8; of HTTP/2, one stream: RFC 8441).
//!
//! A handler responds with what is to be done with the byte stream: `Cx::upgrade`, or of
//! WebSockets `Cx::websocket`. The server sends that response, and then runs it on the
//! connection's thread. A server that can do so puts an [`Offer`] into the request; the host of a component cannot.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::time::Instant;

use crate::body::own_thread::OwnThread;
use crate::log::{self, RequestLog};

/// A connection in both directions, as a server brings it.
pub trait ByteStream {
    /// Receives bytes; none at the end.
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Ready if another message may be handled in this turn of the event loop: a client that sends many at once leaves
    /// its thread to others now and then.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        Poll::Ready(())
    }

    /// Sends some of the bytes, or keeps them until the next flush.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Sends what was kept.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ends this direction.
    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ready when nothing has arrived for this long.
    fn poll_quiet(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()>;

    /// Ready when the server stops, or another version takes over: what runs has `grace` to end.
    fn poll_ending(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// True from when on its user is no longer signed in. Not ready while that is being found out.
    #[doc(hidden)]
    fn poll_revoked(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let _ = cx;
        Poll::Ready(false)
    }
}

/// The byte stream that a connection has become. It stays on its thread.
pub struct Upgraded(Box<dyn ByteStream>);

impl Upgraded {
    /// For a server.
    #[must_use]
    pub fn new(stream: impl ByteStream + 'static) -> Self {
        Self(Box::new(stream))
    }

    /// Receives bytes, and says how many; 0 at the end.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.0.poll_read(cx, buffer)).await
    }

    /// Sends all of the bytes.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        poll_fn(|cx| {
            while !bytes.is_empty() {
                match ready!(self.0.poll_write(cx, bytes))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    count => bytes = &bytes[count..],
                }
            }
            self.0.poll_flush(cx)
        })
        .await
    }

    /// Ends the sending direction.
    pub async fn shutdown(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.0.poll_shutdown(cx)).await
    }

    /// Waits until the server stops or another version takes over: what runs has the time of the setting `grace` to
    /// end.
    pub async fn ending(&mut self) {
        poll_fn(|cx| self.0.poll_ending(cx)).await;
    }
}

extension! {
    /// What a framework does with a byte stream.
    pub trait UpgradedExt for Upgraded {
        /// The stream of the server.
        fn stream(&mut self) -> &mut dyn ByteStream {
            &mut *self.0
        }
    }
}

skep_units::opaque_debug!(Upgraded);

/// Whether what was begun may go on.
pub trait Watch: Send + 'static {
    /// True while it may, and false from then on. Not ready while that is being found out. Wakes the task when it is
    /// time to ask again.
    fn poll_holds(&mut self, cx: &mut Context<'_>) -> Poll<bool>;
}

/// A byte stream of which nothing is read or written once its watch has ended it.
struct Watched {
    stream: Box<dyn ByteStream>,
    watch: Box<dyn Watch>,
    /// Since when a protocol with words for it may say so.
    revoked: Option<Instant>,
}

/// How long it may take.
const LAST_WORDS: Duration = Duration::from_secs(5);

impl Watched {
    /// Ready with an error once it has ended.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let is_open = match self.revoked {
            Some(since) => since.elapsed() < LAST_WORDS,
            None => ready!(self.watch.poll_holds(cx)),
        };
        Poll::Ready(if is_open { Ok(()) } else { Err(io::ErrorKind::ConnectionAborted.into()) })
    }
}

impl ByteStream for Watched {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?;
        self.stream.poll_read(cx, buffer)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?;
        self.stream.poll_write(cx, bytes)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_flush(cx)
    }

    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_shutdown(cx)
    }

    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.stream.poll_turn(cx)
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        self.stream.poll_quiet(cx, time)
    }

    fn poll_ending(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.stream.poll_ending(cx)
    }

    fn poll_revoked(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if self.revoked.is_none() && !ready!(self.watch.poll_holds(cx)) {
            self.revoked = Some(Instant::now());
        }
        Poll::Ready(self.revoked.is_some())
    }
}

/// The server can make this request's connection a byte stream. An extension of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// By `101 Switching Protocols`.
    Http1,
    /// By extended CONNECT (RFC 8441), which looks like the same request with GET and the field `Upgrade`.
    Http2,
}

/// What runs on the byte stream.
pub type Task = Pin<Box<dyn Future<Output = ()>>>;

type Begin = Box<dyn FnOnce(Upgraded) -> Task>;

/// What is to be done with the byte stream: the body of a response with status 101.
pub struct Upgrade {
    run: OwnThread<Begin>,
    service: u16,
}

impl Upgrade {
    /// Whose it is: a position in `Site::service_routes`.
    #[doc(hidden)]
    #[must_use]
    pub fn service(&self) -> u16 {
        self.service
    }

    /// The same, on a byte stream that ends when the watch says so.
    pub(crate) fn watched(self, watch: Box<dyn Watch>) -> Self {
        let service = self.service;
        let watched = |stream: Upgraded| Upgraded(Box::new(Watched { stream: stream.0, watch, revoked: None }));
        Self { run: OwnThread::new(Box::new(move |stream| self.begin(watched(stream)))), service }
    }

    /// Begins. For a server, which has sent the response, and does so on the thread that made it.
    ///
    /// # Panics
    /// On another thread.
    #[must_use]
    pub fn begin(self, stream: Upgraded) -> Task {
        let run = self.run.take().expect("a connection stays on its thread");
        run(stream)
    }
}

/// What a connection becomes: `begin` has its byte stream.
pub fn upgrade<F: Future<Output = ()> + 'static>(begin: impl FnOnce(Upgraded) -> F + 'static) -> Upgrade {
    let service = log::with_request(|request| request.map_or(0, RequestLog::service));
    Upgrade { run: OwnThread::new(Box::new(move |stream| Box::pin(begin(stream)))), service }
}

impl fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Upgrade(..)")
    }
}
