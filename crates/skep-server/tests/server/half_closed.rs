//! Clients that close their sending side: those that wait for their response get it, and of those that are gone the
//! request is given up.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use skep_client::wait_until;

use super::support::{Raw, has_ended, server, start};

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

/// Sends a request whose handler never responds, after another that shows that it has arrived.
fn hold(client: &mut Raw, name: &str) {
    client.say(get("/") + &get(&format!("/held/{name}"))).answer();
}

fn wait_until_ended(name: &str) {
    wait_until(|| "the handler still runs".to_owned(), || has_ended(name));
}

#[test]
fn who_has_sent_everything_gets_the_response() {
    let server = server(&[]);
    for path in ["/slow/300", "/bytes/slow/3"] {
        let mut client = Raw::connect(&server);
        client.say(get(path)).stream.shutdown(Shutdown::Write).unwrap();
        let answer = client.answer();
        assert_eq!(answer.status, 200);
        assert!(matches!(answer.text(), "at last" | "..."), "{answer:?}");
        client.closed();
    }
}

#[test]
fn pipelined_requests_are_all_answered_and_the_connection_closes() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say(get("/slow/100") + &get("/slow/200")).stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!((client.answer().text(), client.answer().field("connection")), ("at last", Some("close")));
    client.closed();
}

#[test]
fn a_response_over_a_unix_socket_is_waited_for() {
    let path = std::env::temp_dir().join(format!("skep-half-closed-{}.sock", std::process::id()));
    let _server = start(&[("listen", &format!("unix:{}", path.display()))]);
    let mut client = UnixStream::connect(&path).unwrap();
    client.write_all(get("/slow/300").as_bytes()).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("\r\n\r\nat last"), "{answer}");
}

#[test]
fn who_resets_the_connection_has_left() {
    let server = server(&[("limits.half_closed", "1h"), ("limits.request_time", "0")]);
    let mut client = Raw::connect(&server);
    hold(&mut client, "reset");
    // It looks like one that waits, before it is reset.
    client.stream.shutdown(Shutdown::Write).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(!has_ended("reset"));
    rustix::net::sockopt::set_socket_linger(&client.stream, Some(Duration::ZERO)).unwrap();
    drop(client);
    wait_until_ended("reset");
}

#[test]
fn who_closes_a_unix_socket_has_left() {
    let path = std::env::temp_dir().join(format!("skep-left-{}.sock", std::process::id()));
    let listen = format!("unix:{}", path.display());
    let _server = start(&[("listen", &listen), ("limits.half_closed", "1h"), ("limits.request_time", "0")]);
    let mut client = UnixStream::connect(&path).unwrap();
    client.write_all((get("/") + &get("/held/unix")).as_bytes()).unwrap();
    assert!(client.read(&mut [0; 1000]).unwrap() > 0);
    drop(client);
    wait_until_ended("unix");
}

#[test]
fn who_closes_a_tcp_connection_is_waited_for_within_the_limit() {
    let server = server(&[("limits.half_closed", "100ms"), ("limits.request_time", "0")]);
    let mut client = Raw::connect(&server);
    hold(&mut client, "closed");
    drop(client);
    wait_until_ended("closed");
}

#[test]
fn a_limit_of_zero_gives_the_request_up_at_once() {
    let server = server(&[("limits.half_closed", "0"), ("limits.request_time", "0")]);
    let mut client = Raw::connect(&server);
    hold(&mut client, "zero");
    client.stream.shutdown(Shutdown::Write).unwrap();
    wait_until_ended("zero");
    client.closed();
}
