//! WebSockets and other byte streams end with the session of who opened them.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skep::prelude::*;
use skep::upgrade::{ByteStream, Offer, Task, Upgraded};
use skep::websocket::WebSocket;
use skep::{Body, Request};
use skep_cache::driver::block_on;
use skep_people::Signed;
use tokio::sync::watch;

use super::app::{User, app};
use super::*;

/// What the server is to send.
struct Feed(watch::Sender<u32>);

#[derive(Service)]
#[service(GET "/{kind}/socket")]
struct Socket {
    kind: String,
    #[guard]
    _user: Signed<User>,
}

impl Handle for Socket {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mut numbers = cx.state::<Feed>().0.subscribe();
        match &*self.kind {
            "receiving" => cx.websocket(async |socket: &mut WebSocket| {
                assert!(socket.receive().await?.is_none());
                Ok(())
            }),
            "sending" => cx.websocket(async move |socket: &mut WebSocket| {
                while numbers.changed().await.is_ok() {
                    let number = *numbers.borrow_and_update();
                    socket.send(number.to_string()).await?;
                }
                Ok(())
            }),
            _ => cx.upgrade("websocket", async move |mut stream: Upgraded| {
                while numbers.changed().await.is_ok() {
                    let number = *numbers.borrow_and_update();
                    if stream.write_all(number.to_string().as_bytes()).await.is_err() {
                        break;
                    }
                }
            }),
        }
    }
}

/// A connection whose client says nothing.
#[derive(Clone, Default)]
struct Silent(Rc<RefCell<Vec<u8>>>);

impl ByteStream for Silent {
    fn poll_read(&mut self, _cx: &mut Context<'_>, _buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_write(&mut self, _cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_quiet(&mut self, _cx: &mut Context<'_>, _time: Duration) -> Poll<()> {
        Poll::Pending
    }

    fn poll_ending(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

/// One that is open, and what was sent on it.
fn open(local: &skep::LocalSite, client: &Client, kind: &str) -> (Task, Silent) {
    let request = http::Request::get(format!("/{kind}/socket"))
        .header("cookie", format!("skep-session={}", client.cookie("skep-session").unwrap()))
        .header("upgrade", "websocket")
        .header("connection", "upgrade")
        .header("sec-fetch-site", "same-origin")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let (mut parts, ()) = request.body(()).unwrap().into_parts();
    parts.extensions.insert(Offer::Http1);
    let mut response = block_on(local.answer(Request::new(parts, Body::empty())));
    assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
    let upgrade = std::mem::take(response.body_mut()).into_upgrade().expect("it is an upgrade");
    let stream = Silent::default();
    (upgrade.begin(Upgraded::new(stream.clone())), stream)
}

/// Polls it often enough for what is ready to be done. True if it has ended.
fn poll(task: &mut Task) -> bool {
    (0..20).any(|_| Pin::new(&mut *task).poll(&mut Context::from_waker(Waker::noop())).is_ready())
}

#[test]
fn what_is_open_ends_with_the_session_of_who_opened_it() {
    const CLOSED: &[u8] = b"\x88\x0c\x03\xf0signed out";
    for (kind, first, last) in
        [("receiving", &b""[..], CLOSED), ("sending", &b"\x81\x011"[..], CLOSED), ("raw", &b"1"[..], &b""[..])]
    {
        let (world, other) = World::of(app().serve(services![Socket]).state(Feed(watch::Sender::new(0)))).and_ada();
        let (local, client) = (world.site.local(), world.client());
        sign_in(&client, PASSWORD);
        let (mut task, sent) = open(&local, &client, kind);
        assert!(!poll(&mut task));
        world.clock.advance(Duration::from_secs(11));
        world.site.state::<Feed>().0.send_replace(1);
        assert!(!poll(&mut task), "{kind} goes on");
        assert_eq!(*sent.0.borrow(), first, "{kind}");
        other.post("/sign-out?everywhere=true", &[]);
        world.clock.advance(Duration::from_secs(11));
        world.site.state::<Feed>().0.send_replace(2);
        let has_ended = poll(&mut task);
        assert_eq!(*sent.0.borrow(), [first, last].concat(), "{kind}");
        assert_eq!(has_ended, kind == "raw", "the peer of a WebSocket has a moment to agree");
    }
}
