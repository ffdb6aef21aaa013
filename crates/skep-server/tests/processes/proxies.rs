//! Who a request is from, in each model: the parent of `prefork` holds a connection until its request begins, and
//! another process reads what a proxy says of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use skep::prelude::*;

use super::Test;
use super::server::Server;

pub(crate) const TESTS: &[Test] = &[
    ("fields_of_a_proxy_are_believed_in_each_model", fields_of_a_proxy_are_believed_in_each_model),
    ("a_proxy_header_names_the_client_in_each_model", a_proxy_header_names_the_client_in_each_model),
];

pub(crate) const SERVICES: skep::Services = skep::services![Sender];

/// The peer, the origin that links have, and the fields of proxies that are left.
#[derive(Service)]
#[service(GET "/sender")]
pub(crate) struct Sender;

impl Handle for Sender {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let peer = cx.peer().address.map(|address| address.to_string()).unwrap_or_default();
        let names = cx.request_headers().keys().map(skep::HeaderName::as_str);
        let seen: Vec<_> = names.filter(|name| name.contains("forwarded")).collect();
        Ok(Response::text(format!("{peer} {} {}", cx.shared().origin(), seen.join("+"))))
    }
}

const MODELS: [&[&str]; 3] = [
    &["--workers", "2"],
    &["--mpm", "prefork", "--workers", "2"],
    &["--mpm", "prefork", "--set", "requests_per_worker=1"],
];

const FORWARDED: &str = "X-Forwarded-For: 6.6.6.6, 192.0.2.1, 10.1.1.1\r\nX-Forwarded-Proto: https\r\n\
                         X-Forwarded-Host: b.example\r\nForwarded: for=192.0.2.2;host=c.example\r\n";

fn request(fields: &str) -> Vec<u8> {
    format!("GET /sender HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n{fields}\r\n").into_bytes()
}

/// The body of what comes back, if something does, for pieces that are sent one after the other.
fn sent(server: &Server, pieces: &[&[u8]]) -> Option<String> {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_nodelay(true).unwrap();
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            // So that the pieces arrive one by one.
            thread::sleep(Duration::from_millis(30));
        }
        let _ = stream.write_all(piece);
    }
    let mut answer = String::new();
    // With unread input, the close may arrive as a reset.
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200 "), "{answer}");
    Some(body.to_owned())
}

fn fields_of_a_proxy_are_believed_in_each_model() {
    for model in MODELS {
        for (settings, expected) in [
            (
                &["proxies.trusted=127.0.0.1; 10.0.0.0/8"][..],
                "192.0.2.1:0 https://a.example x-forwarded-for+x-forwarded-proto",
            ),
            (&["proxies.trusted=127.0.0.1", "proxies.fields=forwarded"], "192.0.2.2:0 http://c.example forwarded"),
            (&["proxies.trusted=127.0.0.1", "proxies.fields="], "127.0.0.1 http://a.example "),
            (&["proxies.trusted=10.0.0.0/8"], "127.0.0.1 http://a.example "),
            (&[], "127.0.0.1 http://a.example "),
        ] {
            let settings = settings.iter().flat_map(|setting| ["--set", setting]);
            let server = Server::start(&model.iter().copied().chain(settings).collect::<Vec<_>>());
            let request = request(FORWARDED);
            let (half, rest) = request.split_at(60);
            for pieces in [&[&request[..]][..], &[half, rest]] {
                let text = sent(&server, pieces).unwrap();
                let (peer, seen) = text.split_once(' ').unwrap();
                let peer = if peer.starts_with("127.0.0.1:") { "127.0.0.1" } else { peer };
                assert_eq!(format!("{peer} {seen}"), expected, "{model:?}");
            }
        }
    }
}

fn a_proxy_header_names_the_client_in_each_model() {
    const BINARY: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x02\x7f\0\0\x01\0\x07\0P";
    const TEXT: &[u8] = b"PROXY TCP4 192.0.2.1 127.0.0.1 4711 80\r\n";
    for model in MODELS {
        let settings = ["--set", "proxies.trusted=127.0.0.1", "--set", "proxies.protocol=true"];
        let server = Server::start(&[model, &settings].concat());
        // Behind a header, fields are the client's.
        let request = request(FORWARDED);
        for (header, expected) in [(TEXT, "192.0.2.1:4711"), (BINARY, "192.0.2.2:7")] {
            let whole = [header, &request].concat();
            let cut = |place: usize| [&whole[..place], &whole[place..]];
            let behind = header.len();
            let expected = Some(format!("{expected} http://a.example "));
            assert_eq!(sent(&server, &[&whole]), expected, "{model:?}");
            for place in [1, 10, behind - 1, behind, behind + 1, behind + 30, whole.len() - 1] {
                assert_eq!(sent(&server, &cut(place)), expected, "{model:?} {place}");
            }
        }
        let local = sent(&server, &[b"PROXY UNKNOWN\r\n", &request]).unwrap();
        assert!(local.starts_with("127.0.0.1:") && local.ends_with(" http://a.example "), "{model:?} {local}");
        for wrong in [&b""[..], b"PROXY TCP4 192.0.2.1\r\n", b"PROXY TCP4 1.2.3.4 5.6.7.8 1 99999\r\n", b"\r\n"] {
            assert_eq!(sent(&server, &[&[wrong, &request].concat()]), None, "{model:?} {wrong:?}");
        }
        // Another connection is as good as before.
        assert!(sent(&server, &[TEXT, &request]).is_some(), "{model:?}");
    }
}
