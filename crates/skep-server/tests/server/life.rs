//! How a server ends: in order.

use std::thread;
use std::time::{Duration, Instant};

use super::support::{Raw, server};

const GOOD: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn what_runs_is_finished_and_nothing_else_is_waited_for() {
    // On one thread, so that all connections hear of it at once.
    let server = server(&[("workers", "1")]);
    let mut idle = Raw::connect(&server);
    idle.say(GOOD).answer();
    let mut silent = Raw::connect(&server);
    let mut busy = Raw::connect(&server);
    // The first answer shows that the second request is in the server's hands. It runs until its body is complete.
    busy.say(format!("{GOOD}POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe"));
    assert_eq!(busy.answer().text(), "Hello, world!");
    let start = Instant::now();
    let stopping = thread::spawn(move || server.stop());
    idle.closed();
    silent.closed();
    let answer = busy.say("llo").answer();
    assert_eq!((answer.text(), answer.field("connection")), ("5", Some("close")));
    busy.closed();
    stopping.join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_stream_of_events_ends_at_once_and_in_order() {
    let server = server(&[("grace", "10m")]);
    let mut page = Raw::connect(&server);
    page.say("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    page.read_until("retry: 1000\n\n");
    let start = Instant::now();
    server.stop();
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
    page.read_until("0\r\n\r\n");
    page.closed();
}

#[test]
fn what_is_not_done_in_time_is_cut() {
    let server = server(&[("grace", "100ms")]);
    let mut busy = Raw::connect(&server);
    busy.say(format!("{GOOD}GET /slow/600000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_eq!(busy.answer().text(), "Hello, world!");
    let start = Instant::now();
    server.stop();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_port_is_free_again_as_soon_as_its_server_has_stopped() {
    let first = server(&[]);
    let address = super::support::address(&first);
    Raw::connect(&first).say(GOOD).answer();
    first.stop();
    let second = server(&[("listen", &address)]);
    assert_eq!(Raw::connect(&second).say(GOOD).answer().text(), "Hello, world!");
}
