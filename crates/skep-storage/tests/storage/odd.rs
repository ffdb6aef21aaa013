//! An S3 server that gives the responses of a test, for what the real one does not do when it is asked to.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use skep::test::Client;

use crate::application::app;

/// A client whose S3 server gives this response to a request with this first line, one to a connection.
pub(crate) fn client(response: fn(&str) -> String) -> Client {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = format!("s3://shop?endpoint=http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || answer(&mut stream, response));
        }
    });
    let settings = [
        ("storage.at", &*at),
        ("storage.access_key", "key"),
        ("storage.secret_key", "secret"),
        ("storage.timeout", "200ms"),
    ];
    Client::with_settings(app(), &settings)
}

fn answer(stream: &mut TcpStream, response: fn(&str) -> String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
    std::io::copy(&mut stream.take(length), &mut std::io::sink()).unwrap();
    let _ = stream.write_all(response(head.lines().next().unwrap()).as_bytes());
    // The client hangs up; a client that waits for more would wait in vain.
    let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
    let _ = stream.read(&mut [0]);
}

/// A whole response, after which the connection ends.
pub(crate) fn whole(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nETag: \"1\"\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
