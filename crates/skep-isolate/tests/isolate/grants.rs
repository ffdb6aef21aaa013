//! What a guest is given: nothing, unless somebody says otherwise. And what it sees of a request.

use std::io::Write;
use std::net::TcpListener;
use std::thread;

use skep_client::wait_until;

use super::Test;
use super::guests;
use super::server::{Answer, Folder, Server};

pub(crate) const TESTS: &[Test] = &[
    ("a_guest_sees_the_request_as_it_came", sees_the_request),
    ("a_guest_has_no_environment_but_what_it_was_given", environment),
    ("a_guest_sees_no_file_but_what_it_was_given", files),
    ("a_guest_reaches_no_server_but_what_it_was_allowed", network),
    ("an_application_fetches_within_its_time_what_it_was_allowed", fetches),
    ("what_a_guest_prints_goes_to_the_log", prints),
];

fn sees_the_request() {
    let server = Server::start(&[guests::plain().to_str().unwrap()]);
    let text = server.text("/request?a=b");
    assert!(text.starts_with("GET Some(false) x /request?a=b\n"), "{text}");
    let echoed = server.ask("POST", "/echo", "x", &"bees ".repeat(20_000)).unwrap();
    assert_eq!((echoed.status, echoed.text.len(), echoed.is_whole), (200, 100_000, true));
    let head = server.ask("HEAD", "/", "x", "").unwrap();
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    assert!(head.head.contains("content-length: 3"), "{}", head.head);
    assert_eq!(server.get("/nowhere").status, 404);
}

fn environment() {
    let guest = guests::plain();
    let server = Server::start(&[guest.to_str().unwrap(), "--env", "COLOUR=green", "--env", "PATH"]);
    assert_eq!(server.text("/env?COLOUR"), "Ok(\"green\")");
    assert_eq!(server.text("/env?PATH"), format!("Ok({:?})", std::env::var("PATH").unwrap()));
    assert_eq!(server.text("/env?HOME"), "Err(NotPresent)");
}

fn files() {
    let folder = Folder::new();
    folder.write("note.txt", "a note");
    let place = folder.0.to_str().unwrap().to_owned();
    let guest = guests::plain();
    let server = Server::start(&[guest.to_str().unwrap(), "--dir", &format!("{place}::/data")]);
    assert_eq!(server.text("/read?/data/note.txt"), "a note");
    assert!(server.text("/write?/data/new.txt").starts_with("Err"));
    assert_ne!(server.text("/read?/etc/hostname"), std::fs::read_to_string("/etc/hostname").unwrap_or_default());
    assert!(!server.text("/read?/data/../../../../etc/passwd").contains("root:"));
    let server = Server::start(&[guest.to_str().unwrap(), "--dir", &format!("{place}::/data::rw")]);
    assert_eq!(server.text("/write?/data/new.txt"), "Ok(())");
    assert!(folder.0.join("new.txt").exists());
}

fn network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            use std::io::{Read, Write};
            let mut stream = stream;
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 203 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    let guest = guests::plain();
    let server = Server::start(&[guest.to_str().unwrap()]);
    assert!(server.text(&format!("/fetch?{address}")).contains("HttpRequestDenied"));
    server.wait_for("--allow-out would allow it");
    let server = Server::start(&[guest.to_str().unwrap(), "--allow-out", &address]);
    assert_eq!(server.text(&format!("/fetch?{address}")), "status 203");
    assert!(server.text("/fetch?127.0.0.1:1").contains("HttpRequestDenied"));
    reaches(&guest, &address);
}

/// What a list reaches of a server on this machine, by each of its names.
fn reaches(guest: &std::path::Path, address: &str) {
    let port = address.rsplit(':').next().unwrap();
    let numeric = format!("127.0.0.1:{port}");
    let names = ["127.0.0.1", "localhost", "LOCALHOST", "2130706433", "127.1", "[::ffff:127.0.0.1]"];
    for (list, allowed) in [
        (&["*"][..], &[][..]),
        (&["localhost"], &[]),
        (&["*", "127.0.0.1:1"], &[]),
        (&["*", &numeric], &names[..]),
        (&["localhost", &numeric], &["127.0.0.1", "localhost", "LOCALHOST", "[::ffff:127.0.0.1]"]),
        (&["*", "private"], &names),
        (&["LocalHost", "private"], &["localhost", "LOCALHOST"]),
    ] {
        let flags: Vec<&str> = list.iter().flat_map(|element| ["--allow-out", *element]).collect();
        let server = Server::start(&[&[guest.to_str().unwrap()], &flags[..]].concat());
        for name in names {
            let text = server.text(&format!("/fetch?{name}:{port}"));
            let refused = text.contains("HttpRequestDenied") || text.contains("DestinationIpProhibited");
            assert_eq!(text == "status 203", allowed.contains(&name), "{list:?} {name}: {text}");
            assert_eq!(refused, !allowed.contains(&name), "{list:?} {name}: {text}");
        }
        for other in ["169.254.169.254:80", "10.0.0.1:80", "[::1]:1"] {
            let is_private = list.contains(&"private") && list.contains(&"*");
            let text = if is_private { String::new() } else { server.text(&format!("/fetch?{other}")) };
            assert!(is_private || !text.contains("status"), "{list:?} {other}: {text}");
        }
        let user = server.text(&format!("/fetch?somebody@127.0.0.1:{port}"));
        assert!(user.contains("HttpRequestDenied"), "{list:?}: {user}");
    }
}

fn fetches() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || respond_with_length(stream));
        }
    });
    let app = guests::application("skep-isolate-app");
    let fetched = |server: &Server, path: &str, time: u32| {
        server.text(&format!("/fetched?url=http%3A%2F%2F{}{path}&milliseconds={time}", address.replace(':', "%3A")))
    };
    let server = Server::start(&[app.to_str().unwrap()]);
    let refused = fetched(&server, "/", 5000);
    assert!(refused.starts_with("timeout false") && refused.contains("--allow-out would allow"), "{refused}");
    let server = Server::start(&[app.to_str().unwrap(), "--allow-out", &address]);
    assert_eq!(fetched(&server, "/", 5000), "201 100002 bytes came");
    let late = fetched(&server, "/late", 200);
    assert!(late.starts_with("timeout true"), "{late}");
}

/// Says how many bytes a body had; to `/late` nothing.
fn respond_with_length(stream: std::net::TcpStream) {
    use std::io::{BufRead, BufReader, Read};
    let mut stream = BufReader::new(stream);
    let (mut length, mut is_late) = (0, false);
    for line in stream.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
        is_late |= line.contains(" /late ");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    if is_late {
        thread::sleep(std::time::Duration::from_secs(3));
    }
    let text = format!("{length} bytes came");
    let head = format!("HTTP/1.1 201 Created\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len());
    let _ = stream.get_mut().write_all(head.as_bytes());
}

fn prints() {
    let server = Server::start(&[guests::plain().to_str().unwrap()]);
    server.text("/print");
    server.wait_for("INFO skep::guest: printed to standard output app=guest");
    server.wait_for("WARN skep::guest: printed to standard error app=guest");
    // With the trace of its request, as all lines of a request.
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
    let head = format!("Host: x\r\ntraceparent: 00-{trace}-00f067aa0ba902b7-01\r\nConnection: close");
    write!(stream, "GET /print HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
    assert_eq!(Answer::read(stream).unwrap().status, 200);
    let is_of_it = |line: &&str| line.contains("skep::guest") && line.contains(trace);
    wait_until(|| server.log(), || server.log().lines().filter(is_of_it).count() >= 2);
    let log = server.log();
    assert!(log.lines().filter(is_of_it).all(|line| line.matches("request=").count() == 1), "{log}");
}
