//! Compressed responses, over the wire.

use std::io::Read;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use tokio::net::TcpStream;

use super::http2::{block_on, handshake};
use super::support::{Answer, PAGE, Raw, address, server};

fn get(method: &str, path: &str, version: &str) -> String {
    format!("{method} {path} HTTP/{version}\r\nHost: x\r\nAccept-Encoding: br;q=0.5, gzip\r\n\r\n")
}

fn unzipped(body: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(body).read_to_string(&mut text).unwrap();
    text
}

fn assert_page(answer: &Answer) {
    assert_eq!((answer.status, answer.field("content-encoding")), (200, Some("gzip")), "{}", answer.head);
    assert!(unzipped(&answer.body) == PAGE.repeat(2000));
}

#[test]
fn a_page_in_the_cache_has_a_length_and_another_is_sent_in_chunks() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    let cached = client.say(get("GET", "/page/cached", "1.1")).answer();
    assert_page(&cached);
    assert_eq!(cached.field("content-length"), Some(&*cached.body.len().to_string()));
    assert_eq!(client.say(get("GET", "/page/cached", "1.1")).answer().body, cached.body);
    let made = client.say(get("GET", "/page/made", "1.1")).answer();
    assert_page(&made);
    assert_eq!((made.field("transfer-encoding"), made.field("content-length")), (Some("chunked"), None));
}

#[test]
fn head_says_nothing_of_a_length_that_nobody_knows() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say(get("HEAD", "/page/made", "1.1") + "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut head = String::new();
    while !head.contains("Hello") {
        let mut bytes = [0; 1000];
        let count = client.stream.read(&mut bytes).unwrap();
        head.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    let (head, hello) = head.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-encoding: gzip") && !head.contains("content-length"), "{head}");
    assert!(hello.starts_with("HTTP/1.1 200 OK\r\n"), "{hello}");
}

#[test]
fn http_1_0_gets_it_until_the_end_of_the_connection() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say(get("GET", "/page/made", "1.0"));
    let mut all = Vec::new();
    client.stream.read_to_end(&mut all).unwrap();
    let end = all.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    assert!(unzipped(&all[end..]) == PAGE.repeat(2000));
}

#[test]
fn http_2_has_the_same() {
    let server = server(&[]);
    block_on(async {
        let mut client = handshake(TcpStream::connect(address(&server)).await.unwrap()).await;
        for path in ["cached", "made"] {
            let request = Request::get(format!("http://x/page/{path}")).header("accept-encoding", "gzip");
            let response = client.send_request(request.body(Full::<Bytes>::default()).unwrap()).await.unwrap();
            assert_eq!(response.headers()["content-encoding"], "gzip");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert!(unzipped(&body) == PAGE.repeat(2000), "{path}");
        }
    });
}

#[test]
fn no_codings_mean_no_compression() {
    let server = server(&[("compression.codings", "")]);
    let answer = Raw::connect(&server).say(get("GET", "/page/made", "1.1")).answer();
    assert_eq!((answer.field("content-encoding"), answer.field("vary")), (None, None));
}
