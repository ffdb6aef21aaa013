//! Files leave without being copied, and nobody sees a difference.

use std::io::Read;
use std::os::unix::net::UnixStream;

use super::support::{Raw, pattern, server, start};

#[test]
fn a_file_is_sent_whole_in_pieces_and_to_a_slow_reader() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    let count = 20_000_000;
    client.say(format!("GET /bytes/file/{count} HTTP/1.1\r\nHost: x\r\n\r\n"));
    // Let it fill all buffers before anything is read.
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(client.answer().body == pattern(count));
    assert_eq!(client.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer().text(), "Hello, world!");
}

#[test]
fn large_bodies_that_were_asked_for_together_arrive_one_after_another() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    let counts = [3_000_000, 2_000_000, 20, 1_000_000, 3_000_000];
    let kinds = ["file", "memory", "file", "file", "memory"];
    for (kind, count) in kinds.iter().zip(counts) {
        client.say(format!("GET /bytes/{kind}/{count} HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    // Let it fill all buffers before anything is read.
    std::thread::sleep(std::time::Duration::from_millis(50));
    for count in counts {
        assert!(client.answer().body == pattern(count), "{count} bytes");
    }
}

#[test]
fn head_and_file_have_the_same_length_and_head_sends_none() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client
        .say("HEAD /bytes/file/5000 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let mut all = String::new();
    client.stream.read_to_string(&mut all).unwrap();
    assert!(all.contains("content-length: 5000\r\n"), "{all}");
    assert_eq!(all.matches("\r\n\r\n").count(), 2, "{all}");
    assert!(all.ends_with("Hello, world!"), "{all}");
}

#[test]
fn unix_sockets_serve_the_same() {
    let path = std::env::temp_dir().join(format!("skep-server-files-{}.sock", std::process::id()));
    let server = start(&[("listen", &format!("unix:{}", path.display()))]);
    assert_eq!(server.urls(), [format!("unix:{}", path.display())]);
    let mut stream = UnixStream::connect(&path).unwrap();
    std::io::Write::write_all(&mut stream, b"GET /bytes/file/3000000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    assert!(all.ends_with(&pattern(3_000_000)));
    server.stop();
    assert!(!path.exists(), "the socket's file is removed");
}
