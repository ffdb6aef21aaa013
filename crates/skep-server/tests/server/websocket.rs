//! Upgrades and WebSockets, with a client that is not ours (tungstenite).

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::Request;
use hyper::ext::Protocol;
use skep::prelude::*;
use skep::sql::{Migration, Migrations, query};
use skep_server::Running;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tower::util::MapResponseLayer;
use tower_http::trace::TraceLayer;
use tungstenite::client::IntoClientRequest;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::protocol::frame::{Frame, coding::CloseCode};
use tungstenite::{Error, Message, WebSocket};

use super::http2::{Io, block_on};
use super::support::{Raw, address, app, server, start_app};

fn request(server: &Running, origin: Option<&str>) -> tungstenite::handshake::client::Request {
    let mut request = format!("ws://{}/echo", address(server)).into_client_request().unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    request
}

fn connect(server: &Running) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(address(server)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    tungstenite::client(request(server, None), stream).unwrap().0
}

/// The code with which the server closes, and that it then ends the connection.
fn closing(client: &mut WebSocket<TcpStream>) -> u16 {
    let code = loop {
        if let Message::Close(frame) = client.read().unwrap() {
            break frame.map_or(1005, |frame| frame.code.into());
        }
    };
    assert!(matches!(client.read(), Err(Error::ConnectionClosed)), "the server ends the connection");
    code
}

const MIGRATIONS: Migrations =
    Migrations::new(&[Migration::new(1, "0001_word.sql", "create table word (text text not null) strict")]);

/// Writes each word that comes, and sends how many there are.
#[derive(Service)]
#[service(GET "/echo")]
pub(super) struct Words;

impl Handle for Words {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (db, sent) = (cx.db().clone(), Rc::new(Cell::new(0)));
        cx.websocket(async move |socket: &mut skep::websocket::WebSocket| {
            while let Some(skep::websocket::Message::Text(word)) = socket.receive().await? {
                db.execute(query("insert into word (text) values (?)", &word)).await?;
                sent.set(sent.get() + 1);
                let words = db.one::<i64>("select count(*) from word").await?.unwrap_or_default();
                socket.send(format!("{words} words, {} here", sent.get())).await?;
            }
            Ok(())
        })
    }
}

#[test]
fn a_websocket_owns_a_handle_of_the_database() {
    let app = || App::new().database(MIGRATIONS).serve(services![Words]);
    let data = std::env::temp_dir().join(format!("skep-server-test-words-{}", std::process::id()));
    let server = start_app(app, &[("data", data.to_str().unwrap()), ("workers", "1")]);
    let (mut one, mut other) = (connect(&server), connect(&server));
    let mut say = |client: usize, word: &str| {
        let client = if client == 0 { &mut one } else { &mut other };
        client.send(Message::text(word)).unwrap();
        client.read().unwrap().into_text().unwrap().to_string()
    };
    assert_eq!(say(0, "bee"), "1 words, 1 here");
    assert_eq!(say(1, "hive"), "2 words, 1 here");
    assert_eq!(say(0, "skep"), "3 words, 2 here");
    drop(server);
    std::fs::remove_dir_all(data).unwrap();
}

#[test]
fn messages_are_received_and_sent_whatever_their_kind_and_size() {
    let server = server(&[]);
    let mut client = connect(&server);
    for size in [0, 1, 125, 126, 65_535, 65_536, 1 << 20] {
        for message in [Message::text("x".repeat(size)), Message::binary(vec![7; size])] {
            client.send(message.clone()).unwrap();
            assert!(client.read().unwrap() == message, "{size}");
        }
    }
    client.close(None).unwrap();
    assert_eq!(closing(&mut client), 1000);
}

#[test]
fn messages_are_compressed_for_clients_that_offer_it() {
    let server = server(&[("websocket.compress", "20")]);
    let shake = |offer: &str| {
        let mut stream = TcpStream::connect(address(&server)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = format!(
            "GET /echo HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{offer}\r\n",
            address(&server)
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        (stream, String::from_utf8(answer).unwrap().to_lowercase())
    };
    let offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n";
    let (mut stream, answer) = shake(offer);
    let accepted = "permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n";
    assert!(answer.contains(&format!("sec-websocket-extensions: {accepted}")), "{answer}");
    // "Hello", compressed and with a mask of zeros; it is too short to be compressed for the way back.
    stream.write_all(&[0xc1, 0x87, 0, 0, 0, 0, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]).unwrap();
    let mut back = [0; 7];
    stream.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"\x81\x05Hello");
    // 100 times `x` (0x64, with a mask of zeros), not compressed, come back compressed.
    stream.write_all(&[&[0x81, 0xe4, 0, 0, 0, 0], &[b'x'; 100][..]].concat()).unwrap();
    let mut head = [0; 2];
    stream.read_exact(&mut head).unwrap();
    assert!(head[0] == 0xc1 && head[1] < 20, "{head:?}");
    let mut payload = vec![0; head[1].into()];
    stream.read_exact(&mut payload).unwrap();
    payload.extend([0, 0, 0xff, 0xff]);
    let mut plain = [0; 100];
    flate2::read::DeflateDecoder::new(&payload[..]).read_exact(&mut plain).unwrap();
    assert_eq!(plain, [b'x'; 100]);
    assert!(!shake("").1.contains("extensions"), "a client that offers nothing");
}

#[test]
fn fragments_are_one_message_and_a_ping_between_them_is_answered() {
    let server = server(&[]);
    let mut client = connect(&server);
    let frame = |text: &'static str, kind, is_last| Message::Frame(Frame::message(text, OpCode::Data(kind), is_last));
    client.send(frame("one ", Data::Text, false)).unwrap();
    client.send(Message::Ping("now".into())).unwrap();
    client.send(frame("two ", Data::Continue, false)).unwrap();
    client.send(frame("three", Data::Continue, true)).unwrap();
    assert_eq!(client.read().unwrap(), Message::Pong("now".into()));
    assert_eq!(client.read().unwrap(), Message::text("one two three"));
}

#[test]
fn a_handler_that_ends_fails_or_panics_closes_with_its_code() {
    let server = server(&[]);
    for (said, code) in [("bye", 1000), ("fail", 1011), ("panic", 1011)] {
        let mut client = connect(&server);
        client.send(Message::text(said)).unwrap();
        assert_eq!(closing(&mut client), code, "{said}");
    }
    assert_eq!(Raw::connect(&server).say("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer().status, 200);
}

#[test]
fn a_layer_of_tower_takes_no_websocket_away_and_makes_none() {
    let server = start_app(|| app().layer(TraceLayer::new_for_http()), &[("listen", "127.0.0.1:0")]);
    let mut client = connect(&server);
    client.send(Message::text("through the layer")).unwrap();
    assert_eq!(client.read().unwrap(), Message::text("through the layer"));
    // Without a byte stream behind it, what follows would still be requests, while a proxy has ceased to look at them.
    let switch = |mut response: http::Response<skep::Body>| {
        *response.status_mut() = http::StatusCode::SWITCHING_PROTOCOLS;
        response.headers_mut().insert("upgrade", http::HeaderValue::from_static("x"));
        response
    };
    let layer = MapResponseLayer::new(switch);
    let server = start_app(move || app().layer(layer.clone()), &[("listen", "127.0.0.1:0")]);
    let answer = Raw::connect(&server).say("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer();
    assert_eq!(answer.status, 500, "{answer:?}");
    assert!(answer.head.contains("close"), "{answer:?}");
}

#[test]
fn a_peer_that_trickles_after_the_close_frame_is_given_up() {
    let server = server(&[]);
    let mut client = connect(&server);
    client.send(Message::text("bye")).unwrap();
    while !matches!(client.read().unwrap(), Message::Close(_)) {}
    let (mut stream, start) = (client.into_inner(), Instant::now());
    // An empty frame every second, and no close frame.
    while stream.write_all(&[0x82, 0x80, 0, 0, 0, 0]).is_ok() {
        assert!(start.elapsed() < Duration::from_secs(30), "the connection is still open");
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn the_close_frame_says_why_a_message_is_refused() {
    let server = server(&[("websocket.message", "1000")]);
    let mut client = connect(&server);
    client.send(Message::binary(vec![1; 1001])).unwrap();
    assert_eq!(closing(&mut client), u16::from(CloseCode::Size));
    let mut client = connect(&server);
    client.send(Message::Frame(Frame::message(vec![0xff], OpCode::Data(Data::Text), true))).unwrap();
    assert_eq!(closing(&mut client), u16::from(CloseCode::Invalid));
}

#[test]
fn a_silent_peer_is_pinged_and_then_given_up() {
    let server = server(&[("websocket.ping", "100ms")]);
    let mut client = connect(&server);
    assert_eq!(client.read().unwrap(), Message::Ping(Bytes::new()));
    // It answers this one, and no other.
    client.flush().unwrap();
    let mut stream = client.into_inner();
    let (mut rest, mut buffer) = (Vec::new(), [0; 100]);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        rest.extend_from_slice(&buffer[..count]);
    }
    assert!(rest.starts_with(&[0x89, 0]), "another ping, and then the end: {rest:?}");
}

#[test]
fn a_server_that_stops_says_that_it_goes_away() {
    let server = server(&[("workers", "1")]);
    let mut client = connect(&server);
    client.send(Message::text("there")).unwrap();
    assert_eq!(client.read().unwrap(), Message::text("there"));
    let stopping = std::thread::spawn(move || server.stop());
    assert_eq!(closing(&mut client), u16::from(CloseCode::Away));
    stopping.join().unwrap();
}

#[test]
fn a_page_of_another_site_cannot_open_one() {
    let server = server(&[]);
    let status = |origin: &str| {
        let stream = TcpStream::connect(address(&server)).unwrap();
        match tungstenite::client(request(&server, Some(origin)), stream) {
            Ok((_, response)) => response.status().as_u16(),
            Err(tungstenite::HandshakeError::Failure(Error::Http(response))) => response.status().as_u16(),
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(status("https://evil.example"), 403);
    assert_eq!(status("null"), 403);
    assert_eq!(status(&format!("http://{}", address(&server))), 101);
}

#[test]
fn a_subprotocol_is_the_first_of_ours_that_the_client_offers() {
    let server = server(&[]);
    for (offered, spoken) in [(Some("v1, v2"), "v2"), (Some("v0,v1"), "v1"), (None, "none")] {
        let mut request = format!("ws://{}/spoken", address(&server)).into_client_request().unwrap();
        if let Some(offered) = offered {
            request.headers_mut().insert("sec-websocket-protocol", offered.parse().unwrap());
        }
        let (mut client, response) =
            tungstenite::client(request, TcpStream::connect(address(&server)).unwrap()).unwrap();
        let header = response.headers().get("sec-websocket-protocol").map(|value| value.to_str().unwrap());
        assert_eq!(header, Some(spoken).filter(|spoken| *spoken != "none"));
        assert_eq!(client.read().unwrap(), Message::text(spoken));
        assert_eq!(closing(&mut client), 1000);
    }
}

const ASKS: &str = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n";
const VERSION: &str = "Sec-WebSocket-Version: 13\r\n";
const KEY: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[test]
fn a_request_that_does_not_ask_rightly_learns_what_is_missing() {
    let server = server(&[]);
    let answer = |line: &str, fields: &[&str]| {
        let mut client = Raw::connect(&server);
        client.say(format!("{line}\r\nHost: x\r\n{}\r\n", fields.concat())).answer()
    };
    let get = "GET /echo HTTP/1.1";
    for (line, fields, status) in [
        (get, &[][..], 426),
        (get, &[VERSION, KEY, "Connection: upgrade\r\n"], 426),
        (get, &[VERSION, KEY, "Connection: upgrade\r\nUpgrade: h2c\r\n"], 426),
        (get, &[VERSION, KEY, "Upgrade: websocket\r\n"], 400),
        (get, &[VERSION, KEY, "Upgrade: websocket\r\nConnection: keep-alive\r\n"], 400),
        (get, &[ASKS, VERSION, KEY, "Content-Length: 2\r\n\r\nhi"], 400),
        (get, &[ASKS, VERSION, KEY, "Transfer-Encoding: chunked\r\n\r\n0\r\n"], 400),
        (get, &[ASKS, VERSION], 400),
        (get, &[ASKS, VERSION, KEY, KEY], 400),
        (get, &[ASKS, VERSION, KEY, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"], 400),
        (get, &[ASKS, VERSION, "Sec-WebSocket-Key: short\r\n"], 400),
        (get, &[ASKS, VERSION, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ\r\n"], 400),
        (get, &[ASKS, VERSION, "Sec-WebSocket-Key: \u{e4}\r\n"], 400),
        (get, &[ASKS, KEY], 400),
        (get, &[ASKS, KEY, VERSION, VERSION], 400),
        (get, &[ASKS, KEY, "Sec-WebSocket-Version: 8\r\n"], 426),
        (get, &[ASKS, KEY, "Sec-WebSocket-Version: 14\r\n"], 426),
        (get, &[ASKS, KEY, "Sec-WebSocket-Version: 13, 8\r\n"], 426),
        (get, &[ASKS, KEY, "Sec-WebSocket-Version: x\r\n"], 426),
        ("GET /echo HTTP/1.0", &[ASKS, VERSION, KEY], 400),
        ("GET /shout HTTP/1.1", &[], 426),
        ("GET /shout HTTP/1.1", &["Upgrade: shout\r\n"], 400),
        ("GET /shout HTTP/1.0", &["Connection: upgrade\r\nUpgrade: shout\r\n"], 400),
        ("GET /shout HTTP/1.1", &["Connection: upgrade\r\nUpgrade: shout\r\nContent-Length: 1\r\n\r\nx"], 400),
    ] {
        let answer = answer(line, fields);
        assert_eq!(answer.status, status, "{line} {fields:?}");
        let protocol = if line.contains("shout") { "shout" } else { "websocket" };
        let asks = Some(protocol).filter(|_| status == 426);
        assert_eq!(answer.field("upgrade"), asks, "{line} {fields:?}");
        assert!(asks.is_none() || answer.field("connection") == Some("upgrade"), "{}", answer.head);
        let is_of_version = answer.text().contains("version of WebSockets");
        assert_eq!(answer.field("sec-websocket-version"), is_of_version.then_some("13"), "{line} {fields:?}");
    }
}

#[test]
fn a_request_that_asks_rightly_is_accepted_however_it_spells_its_lists() {
    let server = server(&[]);
    for fields in [
        ASKS,
        "Connection: Upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket\r\n",
        "Connection: Upgrade\r\nUpgrade: h2c, WebSocket\r\n",
        "Connection: keep-alive\r\nConnection: UPGRADE\r\nUpgrade:websocket\r\n",
        "Connection: ,upgrade,\r\nUpgrade: ,websocket\r\nContent-Length: 0\r\n",
    ] {
        let mut client = Raw::connect(&server);
        client.say(format!("GET /echo HTTP/1.1\r\nHost: x\r\n{fields}{VERSION}{KEY}\r\n"));
        let mut head = [0; 12];
        client.stream.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 101", "{fields}");
    }
}

#[test]
fn a_connection_becomes_a_byte_stream_with_what_came_early() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say("GET /shout HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: shout\r\n\r\nearly");
    let mut seen = String::new();
    let mut buffer = [0; 1000];
    while !seen.ends_with("EARLY") {
        let count = client.stream.read(&mut buffer).unwrap();
        assert!(count > 0, "{seen}");
        seen.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    assert!(
        seen.starts_with("HTTP/1.1 101 Switching Protocols\r\n") && seen.contains("\r\nupgrade: shout\r\n"),
        "{seen}"
    );
    assert!(seen.contains("\r\nconnection: upgrade\r\n") && !seen.contains("content-length"), "{seen}");
    client.say("late");
    client.stream.read_exact(&mut buffer[..4]).unwrap();
    assert_eq!(&buffer[..4], b"LATE");
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    client.closed();
}

/// A masked frame of a client.
fn masked(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | opcode, 0x80 | u8::try_from(payload.len()).unwrap(), 1, 2, 3, 4];
    frame.extend(payload.iter().zip([1, 2, 3, 4].into_iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

#[test]
fn http_2_has_websockets_beside_other_streams() {
    let server = server(&[]);
    block_on(async {
        let stream = tokio::net::TcpStream::connect(address(&server)).await.unwrap();
        let (mut client, connection) =
            hyper::client::conn::http2::handshake::<_, _, Empty<Bytes>>(super::http2::Local, Io(stream)).await.unwrap();
        tokio::task::spawn_local(connection);
        // The server's settings, which allow it, come with its first response.
        let plain = client.send_request(Request::get("http://x/").body(Empty::new()).unwrap()).await.unwrap();
        assert_eq!(plain.status(), 200);
        let mut request =
            Request::connect("http://x/echo").header("sec-websocket-version", "13").body(Empty::new()).unwrap();
        request.extensions_mut().insert(Protocol::from_static("websocket"));
        let response = client.send_request(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert!(!response.headers().contains_key("upgrade"));
        let upgraded = hyper::upgrade::on(response).await.unwrap();
        let mut stream = hyper_util::rt::TokioIo::new(upgraded);
        stream.write_all(&masked(1, b"over HTTP/2")).await.unwrap();
        let mut echo = [0; 13];
        stream.read_exact(&mut echo).await.unwrap();
        assert_eq!(&echo, b"\x81\x0bover HTTP/2");
        let plain = client.send_request(Request::get("http://x/").body(Empty::new()).unwrap()).await.unwrap();
        assert_eq!(plain.status(), 200);
        stream.write_all(&masked(8, &1000_u16.to_be_bytes())).await.unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"\x88\x02\x03\xe8", "the close frame, and the end of the stream");
        for (versions, status) in
            [(&[][..], 400), (&["8"], 426), (&["14"], 426), (&["13", "13"], 400), (&["13, 8"], 426), (&["13"], 200)]
        {
            let request = versions.iter().fold(Request::connect("http://x/echo"), |request, version| {
                request.header("sec-websocket-version", *version)
            });
            let mut request = request.body(Empty::new()).unwrap();
            request.extensions_mut().insert(Protocol::from_static("websocket"));
            let answer = client.send_request(request).await.unwrap();
            assert_eq!(answer.status(), status, "{versions:?}");
            assert_eq!(
                answer.headers().contains_key("sec-websocket-version"),
                !versions.contains(&"13") || status == 426
            );
        }
        // What makes no byte stream is no success.
        let mut request = Request::connect("http://x/").body(Empty::new()).unwrap();
        request.extensions_mut().insert(Protocol::from_static("websocket"));
        assert_eq!(client.send_request(request).await.unwrap().status(), 501);
    });
}
