//! HTTP/2 in clear, by prior knowledge.

use std::convert::Infallible;
use std::future::Future;
use std::io::Write;
use std::pin::Pin;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::{Request, Response, StatusCode};
use skep_server::Running;
use tokio::net::TcpStream;

use super::support::{Raw, address, pattern, server};

/// Runs a client on a thread of its own.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let options = tokio::runtime::LocalOptions::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(options).unwrap();
    runtime.block_on(async { tokio::time::timeout(std::time::Duration::from_secs(20), future).await.unwrap() })
}

#[derive(Clone)]
pub(crate) struct Local;

impl<F: Future + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

pub(crate) async fn handshake<S>(stream: S) -> SendRequest<Full<Bytes>>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + 'static,
{
    let (sender, connection) = http2::handshake(Local, Io(stream)).await.unwrap();
    tokio::task::spawn_local(connection);
    sender
}

pub(crate) struct Io<S>(pub(crate) S);

impl<S: tokio::io::AsyncRead + Unpin> hyper::rt::Read for Io<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        mut cursor: hyper::rt::ReadBufCursor<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        let mut memory = [0; 8192];
        let room = cursor.remaining().min(memory.len());
        let mut buffer = tokio::io::ReadBuf::new(&mut memory[..room]);
        std::task::ready!(Pin::new(&mut self.0).poll_read(cx, &mut buffer))?;
        cursor.put_slice(buffer.filled());
        std::task::Poll::Ready(Ok(()))
    }
}

impl<S: tokio::io::AsyncWrite + Unpin> hyper::rt::Write for Io<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        bytes: &[u8],
    ) -> std::task::Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

pub(crate) async fn connect(server: &Running) -> SendRequest<Full<Bytes>> {
    handshake(TcpStream::connect(address(server)).await.unwrap()).await
}

pub(crate) fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(format!("http://x{path}")).body(Full::default()).unwrap()
}

pub(crate) async fn text(response: Response<hyper::body::Incoming>) -> Result<(StatusCode, Vec<u8>), Infallible> {
    let status = response.status();
    Ok((status, response.into_body().collect().await.unwrap().to_bytes().to_vec()))
}

#[test]
fn requests_are_answered_side_by_side() {
    let server = server(&[]);
    block_on(async {
        let mut sender = connect(&server).await;
        let slow = sender.send_request(get("/slow/100"));
        let fast = sender.send_request(get("/"));
        let file = sender.send_request(get("/bytes/file/300000"));
        assert_eq!(text(fast.await.unwrap()).await, Ok((StatusCode::OK, b"Hello, world!".to_vec())));
        assert_eq!(text(slow.await.unwrap()).await, Ok((StatusCode::OK, b"at last".to_vec())));
        assert!(text(file.await.unwrap()).await == Ok((StatusCode::OK, pattern(300_000))));
        let missing = sender.send_request(get("/nowhere")).await.unwrap();
        assert_eq!(missing.status(), 404);
    });
}

#[test]
fn bodies_are_taken_in_and_their_limits_kept() {
    let server = server(&[("limits.url", "100B")]);
    block_on(async {
        let mut sender = connect(&server).await;
        let post = |length: usize| Request::post("http://x/length").body(Full::from(vec![b'x'; length])).unwrap();
        assert_eq!(
            text(sender.send_request(post(100_000)).await.unwrap()).await,
            Ok((StatusCode::OK, b"100000".to_vec()))
        );
        assert_eq!(sender.send_request(post(2 << 20)).await.unwrap().status(), 413);
        let long = format!("/{}", "x".repeat(200));
        assert_eq!(sender.send_request(get(&long)).await.unwrap().status(), 414);
    });
}

#[test]
fn the_preface_is_understood_byte_by_byte_and_its_beginning_alone_is_not_http_1() {
    let server = server(&[("limits.header_time", "200ms")]);
    let mut client = Raw::connect(&server);
    // Preface, and an empty SETTINGS frame; the answer begins with SETTINGS of the server.
    client.spell("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").say([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    let mut frame = [0; 9];
    std::io::Read::read_exact(&mut client.stream, &mut frame).unwrap();
    assert_eq!(frame[3], 4, "{frame:?}");
    let mut client = Raw::connect(&server);
    assert_eq!(client.say("PRI * HTTP/2.0\r\n\r\nXX").answer().status, 505);
}

/// "Rapid reset" (CVE-2023-44487): requests that are called off as soon as they are sent cost the client nothing.
#[test]
fn a_client_that_only_calls_off_its_requests_is_sent_away() {
    let server = server(&[("limits.http2_resets", "5")]);
    let mut client = Raw::connect(&server);
    let mut said = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let mut frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        said.extend([0, 0, u8::try_from(payload.len()).unwrap(), kind, flags]);
        said.extend(stream.to_be_bytes());
        said.extend(payload);
    };
    frame(4, 0, 0, &[]);
    for stream in (1..200).step_by(2) {
        // :method GET, :scheme http, :path /, :authority x; then RST_STREAM with CANCEL.
        frame(1, 5, stream, &[0x82, 0x86, 0x84, 0x41, 1, b'x']);
        frame(3, 0, stream, &[0, 0, 0, 8]);
    }
    client.say(said);
    // GOAWAY with ENHANCE_YOUR_CALM.
    let goaway = std::iter::repeat_with(|| read_frame(&mut client)).find(|(kind, _)| *kind == 7).unwrap();
    assert_eq!(goaway.1[4..8], [0, 0, 0, 11]);
}

/// A client of frames: preface, settings with this initial window, and requests for a path on streams 1, 3, 5 and so
/// on.
fn frames(server: &Running, window: u32, path: &str, streams: u32) -> Raw {
    let mut said = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let mut frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        said.extend([0, 0, u8::try_from(payload.len()).unwrap(), kind, flags]);
        said.extend(stream.to_be_bytes());
        said.extend(payload);
    };
    let window = [&[0, 4][..], &window.to_be_bytes()].concat();
    frame(4, 0, 0, &window);
    let path = [&[0x04, u8::try_from(path.len()).unwrap()], path.as_bytes()].concat();
    for stream in 0..streams {
        // :method GET, :scheme http, :authority x, :path as a literal.
        frame(1, 5, 2 * stream + 1, &[&[0x82, 0x86, 0x41, 1, b'x'][..], &path].concat());
    }
    let mut client = Raw::connect(server);
    client.say(said);
    client
}

/// The response would be held for as long as the connection: its socket is not blocked.
#[test]
fn a_stream_whose_window_stays_closed_is_reset() {
    let server = server(&[("limits.write_idle", "200ms")]);
    for (window, path) in [
        (0, "/bytes/whole/200000"),
        (1, "/bytes/whole/200000"),
        (0, "/bytes/file/200000"),
        (20_000, "/bytes/stream/200000"),
        (0, "/"),
    ] {
        let mut client = frames(&server, window, path, 3);
        let resets: Vec<_> =
            std::iter::repeat_with(|| read_frame(&mut client)).filter(|(kind, _)| *kind == 3).take(3).collect();
        assert_eq!(resets.len(), 3, "{window} {path}");
    }
}

/// Else each of a hundred requests of a connection would have its response made, and held.
#[test]
fn a_connection_that_takes_nothing_has_few_responses_made() {
    let server = server(&[("limits.unsent", "128MiB")]);
    let mut client = frames(&server, 0, "/bytes/whole/600000", 9);
    let heads = |client: &mut Raw, count: usize| {
        std::iter::repeat_with(|| read_frame(client)).filter(|(kind, _)| *kind == 1).take(count).count()
    };
    assert_eq!(heads(&mut client, 2), 2, "the second one reaches the 1 MiB that is its part");
    client.stream.set_read_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
    let mut byte = [0];
    assert!(std::io::Read::read(&mut client.stream, &mut byte).is_err(), "no third one");
    client.stream.set_read_timeout(None).unwrap();
    // Room for all streams, and for the connection.
    let open = |stream: u32| [&[0, 0, 4, 8, 0][..], &stream.to_be_bytes(), &[0, 16, 0, 0]].concat();
    for stream in (0..=17).filter(|stream| *stream == 0 || stream % 2 == 1) {
        for _ in 0..if stream == 0 { 9 } else { 1 } {
            client.say(open(stream));
        }
    }
    assert_eq!(heads(&mut client, 7), 7);
}

#[test]
fn a_stream_that_waits_for_its_application_is_not_reset() {
    let server = server(&[("limits.write_idle", "100ms")]);
    block_on(async {
        let mut sender = connect(&server).await;
        let answer = sender.send_request(get("/bytes/slow/5")).await.unwrap();
        assert_eq!(text(answer).await, Ok((StatusCode::OK, b".....".to_vec())));
        assert_eq!(
            text(sender.send_request(get("/slow/300")).await.unwrap()).await,
            Ok((StatusCode::OK, b"at last".to_vec()))
        );
    });
}

/// Also those that the application has begun with: hyper only counts the others.
#[test]
fn a_client_that_cancels_what_was_begun_is_sent_away() {
    let server = server(&[("limits.http2_resets", "20")]);
    let mut client = Raw::connect(&server);
    client.say(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    let path = b"/slow/9999";
    let refused = (0..200_u32).find(|number| {
        let stream = (2 * number + 1).to_be_bytes();
        let head = [&[0, 0, 17, 1, 5][..], &stream, &[0x82, 0x86, 0x41, 1, b'x', 0x04, 10], path].concat();
        let reset = [&[0, 0, 4, 3, 0][..], &stream, &[0, 0, 0, 8]].concat();
        let sent = client.stream.write_all(&head).and_then(|()| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            client.stream.write_all(&reset)
        });
        sent.is_err()
    });
    assert!(refused.is_some_and(|number| number >= 20), "{refused:?}");
}

#[test]
fn the_checks_of_http_1_hold_here_too() {
    let server = server(&[("limits.header_fields", "20")]);
    block_on(async {
        let mut sender = connect(&server).await;
        let mut many = get("/");
        for number in 0..30 {
            many.headers_mut()
                .insert(hyper::header::HeaderName::try_from(format!("a-{number}")).unwrap(), "b".parse().unwrap());
        }
        assert_eq!(sender.send_request(many).await.unwrap().status(), 431);
        let mut other = get("/");
        other.headers_mut().insert("host", "y".parse().unwrap());
        assert_eq!(sender.send_request(other).await.unwrap().status(), 400);
        let mut two = get("/");
        two.headers_mut().append("host", "x".parse().unwrap());
        two.headers_mut().append("host", "x".parse().unwrap());
        assert_eq!(sender.send_request(two).await.unwrap().status(), 400);
        let user = Request::get("http://u:p@x/").body(Full::default()).unwrap();
        assert_eq!(sender.send_request(user).await.unwrap().status(), 400);
        assert_eq!(text(sender.send_request(get("/sender")).await.unwrap()).await.unwrap().0, 200);
    });
}

/// As nginx does, whatever the flood is made of: pings and settings would be answered for ever.
#[test]
fn a_client_that_floods_the_server_with_frames_is_sent_away() {
    let server = server(&[("limits.http2_control_frames", "200")]);
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        [&[0, 0, u8::try_from(payload.len()).unwrap(), kind, flags, 0, 0, 0, stream], payload].concat()
    };
    let (zeros, begin) = ([0; 8], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    for (what, frame) in [
        ("pings", frame(6, 0, 0, &zeros)),
        ("acknowledged pings", frame(6, 1, 0, &zeros)),
        ("settings", frame(4, 0, 0, &[0, 4, 0, 1, 0, 0])),
        ("empty settings", frame(4, 0, 0, b"")),
        ("priorities", frame(2, 0, 1, &[0, 0, 0, 0, 10])),
        ("room on the connection", frame(8, 0, 0, &[0, 0, 0, 1])),
        ("frames of no known kind", frame(0xbe, 0, 0, b"")),
        ("fragments of nothing", frame(9, 0, 1, b"")),
    ] {
        let mut client = Raw::connect(&server);
        client.say(begin);
        if what == "fragments of nothing" {
            // A name of 500 bytes in the code, of which some have come.
            client.say([0, 0, 6, 1, 1, 0, 0, 0, 1, 0x40, 0xff, 0xf5, 0x02, 0xf3, 0xe7]);
        }
        client.say(frame.repeat(500));
        // GOAWAY with ENHANCE_YOUR_CALM.
        let goaway = std::iter::repeat_with(|| read_frame(&mut client)).find(|(kind, _)| *kind == 7).unwrap();
        assert_eq!(goaway.1[4..8], [0, 0, 0, 11], "{what}");
    }
    // Requests beyond those that may run, each of which is refused.
    let mut client = Raw::connect(&server);
    client.say(begin);
    let path = b"/slow/9999";
    let request = |number: u32| {
        let stream = (2 * number + 1).to_be_bytes();
        [&[0, 0, 17, 1, 5][..], &stream, &[0x82, 0x86, 0x41, 1, b'x', 0x04, 10], path].concat()
    };
    let mut stream = client.stream.try_clone().unwrap();
    std::thread::spawn(move || (0..2000).try_for_each(|number| stream.write_all(&request(number))));
    let goaway = std::iter::repeat_with(|| read_frame(&mut client)).find(|(kind, _)| *kind == 7).unwrap();
    assert_eq!(goaway.1[4..8], [0, 0, 0, 11]);
}

#[test]
fn pieces_of_a_body_without_a_byte_count_as_the_setting_says() {
    for (limit, expected) in [("1000", (0, b"3".to_vec())), ("200", (7, vec![0, 0, 0, 1, 0, 0, 0, 11]))] {
        let server = server(&[("limits.http2_control_frames", limit)]);
        let mut client = Raw::connect(&server);
        client.say(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
        let head = [&[0, 0, 14, 1, 4, 0, 0, 0, 1, 0x83, 0x86, 0x41, 1, b'x', 0x04, 7][..], b"/length"].concat();
        client.say(head).say([0, 0, 0, 0, 0, 0, 0, 0, 1].repeat(500)).say(b"\0\0\x03\0\x01\0\0\0\x01abc");
        let last = std::iter::repeat_with(|| read_frame(&mut client)).find(|(kind, _)| matches!(kind, 0 | 7));
        assert_eq!(last.unwrap(), expected, "{limit}");
    }
}

/// What a browser and a gRPC client send beside requests.
#[test]
fn a_client_that_is_served_may_ping_and_make_room() {
    let server = server(&[("limits.http2_control_frames", "50")]);
    let mut client = Raw::connect(&server);
    client.say(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    for number in 0..300_u32 {
        let stream = (2 * number + 1).to_be_bytes();
        let request = [&[0, 0, 6, 1, 5][..], &stream, &[0x82, 0x86, 0x84, 0x41, 1, b'x']].concat();
        let priority = [&[0, 0, 5, 2, 0][..], &stream, &[0, 0, 0, 0, 10]].concat();
        let room = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 13];
        let ping = [&[0, 0, 8, 6, 0, 0, 0, 0, 0][..], &[0; 8]].concat();
        client.say([request, priority, ping, room.to_vec(), room.to_vec()].concat());
        let last = std::iter::repeat_with(|| read_frame(&mut client)).find(|(kind, _)| matches!(kind, 0 | 7));
        assert_eq!(last.unwrap(), (0, b"Hello, world!".to_vec()), "{number}");
    }
}

fn read_frame(client: &mut Raw) -> (u8, Vec<u8>) {
    let mut head = [0; 9];
    std::io::Read::read_exact(&mut client.stream, &mut head).expect("a frame before the end");
    let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
    std::io::Read::read_exact(&mut client.stream, &mut payload).unwrap();
    (head[3], payload)
}

#[test]
fn an_idle_connection_is_closed() {
    let server = server(&[("limits.keep_alive", "100ms")]);
    block_on(async {
        let (mut sender, connection) =
            http2::handshake(Local, Io(TcpStream::connect(address(&server)).await.unwrap())).await.unwrap();
        let ended = tokio::task::spawn_local(connection);
        text(sender.send_request(get("/")).await.unwrap()).await.unwrap();
        ended.await.unwrap().unwrap();
    });
}

#[test]
fn streams_beyond_the_limit_wait() {
    let server = server(&[("limits.http2_streams", "2")]);
    block_on(async {
        let mut sender = connect(&server).await;
        text(sender.send_request(get("/")).await.unwrap()).await.unwrap();
        let answers: Vec<_> = (0..6).map(|_| sender.send_request(get("/slow/20"))).collect();
        for answer in answers {
            assert_eq!(text(answer.await.unwrap()).await.unwrap().1, b"at last");
        }
    });
}
