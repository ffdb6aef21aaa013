//! A whole connection finds the requests that the parts of its parser find (`skep_server::fuzz`, which is compared with
//! other servers), in however many pieces they arrive.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use skep::prelude::*;
use skep_server::fuzz::{self, MessagesEnd};
use skep_server::{Running, Server};

use super::support;

/// Says what it was asked, and how long the body was.
#[derive(Service)]
#[service(GET "/{*rest}")]
pub(super) struct Get {
    #[allow(dead_code, reason = "the request's own target is said")]
    rest: String,
}

#[derive(Service)]
#[service(POST "/{*rest}", cross_origin = "tests have no origin")]
pub(super) struct Post {
    #[allow(dead_code, reason = "the request's own target is said")]
    rest: String,
}

impl Handle for Get {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        said(cx).await
    }
}

impl Handle for Post {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        said(cx).await
    }
}

async fn said(cx: &mut Cx<'_>) -> Result {
    let length = cx.read_body().await?.len();
    Ok(Response::text(format!("[{} {} {length}]", cx.method(), cx.uri())))
}

pub(super) const SERVICES: skep::Services = skep::services![Get, Post];

fn app() -> App {
    App::new().serve(SERVICES)
}

/// Requests, and what follows them; most are whole.
const REQUESTS: [&str; 14] = [
    "GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /b?c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
    "POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
    "POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n",
    "POST /e HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n",
    "POST /f HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\nGET /not HTTP/1.1\r\nHost: x\r\n\r\n0123456789",
    "GET /g HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "\r\nGET http://x/h HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /i HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab",
    "POST /j HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n000A\r\n0123456789\r\n0\r\n\r\n",
    "GET /k HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET /l HTTP/1.0\r\n\r\n",
    "POST /m HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabc",
    "GET /n HTTP/1.1\r\nHost: x\r\nX: ",
];

/// Some requests, and now and then a byte that is wrong.
fn connection(random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.usize(1..5) {
        bytes.extend_from_slice(REQUESTS[random.usize(0..REQUESTS.len())].as_bytes());
    }
    if random.bool() {
        let at = random.usize(0..bytes.len());
        match random.u8(0..3) {
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, b"\r\n :0;a"[random.usize(0..7)]),
            _ => bytes[at] = random.u8(..),
        }
    }
    bytes
}

/// What the server says to bytes that arrive in these pieces.
fn response(server: &Running, pieces: &[&[u8]]) -> String {
    let mut stream = TcpStream::connect(support::address(server)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    for piece in pieces {
        // It may have closed the connection.
        let _ = stream.write_all(piece);
        if pieces.len() > 1 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    String::from_utf8(said).unwrap()
}

/// The statuses, without interim ones. Error pages have no header of theirs in them, but the name of the protocol.
fn statuses(said: &str) -> Vec<&str> {
    let statuses = said.match_indices("HTTP/1.").filter_map(|(at, _)| said.get(at + 9..at + 12));
    statuses.filter(|status| status.bytes().all(|byte| byte.is_ascii_digit()) && *status != "100").collect()
}

fn check(server: &Running, bytes: &[u8], pieces: &[&[u8]]) {
    let (messages, end) = fuzz::messages(bytes);
    let said = response(server, pieces);
    let statuses = statuses(&said);
    let context = format!("{end:?} after {} of {}: {said}", messages.len(), bytes.escape_ascii());
    let mut rest = &*said;
    for (message, status) in messages.iter().zip(&statuses) {
        if *status == "200" {
            // An authority in the target is the handler's `Host`.
            let target = message.parts.uri.path_and_query().map_or("", |target| target.as_str());
            let expected = format!("[{} {target} {}]", message.parts.method, message.body.len());
            let at = rest.find(&expected).unwrap_or_else(|| panic!("no {expected} in order: {context}"));
            rest = &rest[at + expected.len()..];
        }
    }
    // The connection may end with a response to a request whose body nobody has read (RFC 9112, 9.3).
    let ends_early = statuses.len() <= messages.len() && statuses.last().is_some_and(|status| *status != "200");
    let more = statuses.len().saturating_sub(messages.len());
    match end {
        _ if ends_early => {}
        MessagesEnd::Closed => assert_eq!(statuses.len(), messages.len(), "{context}"),
        MessagesEnd::Rejected => {
            assert_eq!(more, 1, "{context}");
            assert!(statuses.last().is_some_and(|status| *status >= "400"), "{context}");
        }
        // A body that ends too early may be the fault of a request that has begun.
        MessagesEnd::Incomplete => {
            assert!(more <= 1 && statuses.len() >= messages.len(), "{context}");
            assert!(more == 0 || statuses.last().is_some_and(|status| *status >= "400"), "{context}");
        }
    }
}

#[test]
fn a_connection_has_the_same_requests_however_they_arrive() {
    let data = std::env::temp_dir().join(format!("skep-server-framing-{}", std::process::id()));
    let settings =
        [("listen", "127.0.0.1:0"), ("log.access", "false"), ("log.level", "error"), ("data", data.to_str().unwrap())];
    let server = settings.iter().fold(Server::new(app), |server, (name, value)| server.fix(*name, *value));
    let server = server.start().unwrap();
    let mut random = fastrand::Rng::with_seed(41);
    for _ in 0..500 {
        let bytes = connection(&mut random);
        check(&server, &bytes, &[&bytes]);
        let (one, two) = bytes.split_at(random.usize(0..=bytes.len()));
        check(&server, &bytes, &[one, two]);
    }
    let bytes = REQUESTS[..11].concat().into_bytes();
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    check(&server, &bytes, &single);
    drop(server);
    let _ = std::fs::remove_dir_all(data);
}
