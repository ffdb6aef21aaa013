//! What a client may cost: each limit has a status, and is kept.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use skep::prelude::*;
use skep_client::{wait_for, wait_until};

use super::support::{Raw, app, assert_page, server, start_app};

const GOOD: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn a_head_that_is_too_slow_is_a_408() {
    let server = server(&[("limits.header_time", "100ms")]);
    let mut client = Raw::connect(&server);
    assert_page(&client.say("GET / HTTP/1.1\r\nHost:").answer(), 408);
    client.closed();
    // Also the second one of a connection.
    let mut client = Raw::connect(&server);
    client.say(GOOD).answer();
    assert_page(&client.say("GET / HT").answer(), 408);
    client.closed();
}

#[test]
fn a_connection_after_a_quiet_time_has_all_its_time() {
    let server = server(&[("limits.header_time", "400ms")]);
    // The quiet time.
    std::thread::sleep(Duration::from_millis(600));
    let mut client = Raw::connect(&server);
    client.say("GET / HTTP/1.1\r\n");
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(client.say("Host: x\r\n\r\n").answer().status, 200);
}

#[test]
fn a_connection_that_never_says_anything_is_closed_without_a_word() {
    let server = server(&[("limits.header_time", "100ms")]);
    Raw::connect(&server).closed();
}

#[test]
fn a_connection_without_a_next_request_is_closed_without_a_word() {
    let server = server(&[("limits.keep_alive", "100ms")]);
    let mut client = Raw::connect(&server);
    client.say(GOOD).answer();
    client.closed();
}

#[test]
fn a_connection_in_use_stays_open() {
    let server = server(&[("limits.keep_alive", "1s")]);
    // On a machine that stops for so long, the connection may be closed: another one then.
    for _ in 0..10 {
        let (mut client, begun) = (Raw::connect(&server), Instant::now());
        let mut longest = Duration::ZERO;
        while begun.elapsed() < Duration::from_millis(1500) && longest < Duration::from_millis(500) {
            let asked = Instant::now();
            assert_eq!(client.say(GOOD).answer().status, 200, "after {:?}", begun.elapsed());
            std::thread::sleep(Duration::from_millis(10));
            longest = longest.max(asked.elapsed());
        }
        if longest < Duration::from_millis(500) {
            return;
        }
    }
    panic!("the machine is too busy");
}

#[test]
fn a_slow_answer_is_not_a_slow_head() {
    let server = server(&[("limits.header_time", "50ms"), ("limits.keep_alive", "50ms"), ("limits.body_idle", "50ms")]);
    let mut client = Raw::connect(&server);
    assert_eq!(client.say("GET /slow/300 HTTP/1.1\r\nHost: x\r\n\r\n").answer().text(), "at last");
}

#[test]
fn a_body_that_drips_is_a_408() {
    for (name, value) in [("limits.body_rate", "1MiB"), ("limits.body_time", "300ms")] {
        let server = server(&[("limits.body_idle", "200ms"), (name, value)]);
        let mut client = Raw::connect(&server);
        client.say("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
        let mut drip = client.stream.try_clone().unwrap();
        // Never silent for as long as `limits.body_idle`.
        let drips = std::thread::spawn(move || {
            use std::io::Write;
            while drip.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        assert_eq!(client.answer().status, 408, "{name}");
        drop(client);
        drop(server);
        drips.join().unwrap();
    }
}

#[test]
fn an_application_that_does_not_answer_is_a_503() {
    let server = server(&[("limits.request_time", "100ms")]);
    let mut client = Raw::connect(&server);
    assert_page(&client.say("GET /slow/60000 HTTP/1.1\r\nHost: x\r\n\r\n").answer(), 503);
    client.closed();
    let mut client = Raw::connect(&server);
    assert_eq!(
        client.say("GET /bytes/slow/3 HTTP/1.1\r\nHost: x\r\n\r\n").answer().text(),
        "...",
        "a body may take longer"
    );
    client.say("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na");
    std::thread::sleep(Duration::from_millis(250));
    assert_eq!(client.say("b").answer().text(), "2", "a body that arrives slowly is not the application's fault");
}

/// Changes the session, and never responds.
#[derive(Service)]
#[service(GET "/session-and-hang")]
pub(super) struct SessionAndHang;

impl Handle for SessionAndHang {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&skep::session::Key::new("name"), &"Ann").await?;
        std::future::pending().await
    }
}

#[test]
fn the_503_of_a_request_that_takes_too_long_has_the_cookie_of_its_session() {
    let server = start_app(
        || app().serve(services![SessionAndHang]),
        &[("listen", "127.0.0.1:0"), ("limits.request_time", "1s")],
    );
    let answer = Raw::connect(&server).say("GET /session-and-hang HTTP/1.1\r\nHost: x\r\n\r\n").answer();
    assert_eq!((answer.status, answer.field("cache-control")), (503, Some("no-store")));
    assert!(answer.field("set-cookie").unwrap().starts_with("skep-session="), "{}", answer.head);
}

#[test]
fn one_address_has_its_share_of_connections() {
    let server = server(&[("limits.connections_per_address", "3")]);
    let mut held: Vec<Raw> = (0..3).map(|_| Raw::connect(&server)).collect();
    for client in &mut held {
        assert_eq!(client.say(GOOD).answer().status, 200);
    }
    assert_page(&Raw::connect(&server).answer(), 503);
    drop(held);
    let mut tries = std::iter::repeat_with(|| Raw::connect(&server).say(GOOD).answer().status);
    assert!(tries.any(|status| status == 200));
}

#[test]
fn a_body_that_falls_silent_is_a_408() {
    let server = server(&[("limits.body_idle", "100ms")]);
    let mut client = Raw::connect(&server);
    let answer = client.say("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe").answer();
    assert_eq!((answer.status, answer.field("connection")), (408, Some("close")));
    client.closed();
}

#[test]
fn a_body_that_is_too_long_is_a_413() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say("POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for _ in 0..17 {
        client.say(format!("10000\r\n{}\r\n", "x".repeat(65_536)));
    }
    assert_eq!(client.answer().status, 413);
}

#[test]
fn an_address_that_is_too_long_is_a_414() {
    let server = server(&[("limits.url", "100B")]);
    let path = |length: usize| format!("/{}", "x".repeat(length - 1));
    let mut client = Raw::connect(&server);
    assert_eq!(client.say(format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path(100))).answer().status, 404);
    assert_page(&client.say(format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path(101))).answer(), 414);
    client.closed();
    // One that never ends is refused before its end.
    let mut client = Raw::connect(&server);
    assert_page(&client.say(format!("GET {}", path(200))).answer(), 414);
}

#[test]
fn fields_that_are_too_many_or_too_long_are_a_431() {
    let server = server(&[("limits.header_fields", "10"), ("limits.header_bytes", "8KiB")]);
    let fields = |count: usize, length: usize| format!("a: {}\r\n", "x".repeat(length)).repeat(count);
    let request = |fields: String| format!("GET / HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
    let mut client = Raw::connect(&server);
    assert_eq!(client.say(request(fields(9, 5))).answer().status, 200);
    assert_page(&client.say(request(fields(10, 5))).answer(), 431);
    client.closed();
    let mut client = Raw::connect(&server);
    assert_eq!(client.say(request(fields(1, 8000))).answer().status, 200);
    assert_page(&client.say(request(fields(1, 8200))).answer(), 431);
    client.closed();
    // A field that never ends is refused before its end, also from a client that does not listen before it has said
    // all.
    let mut client = Raw::connect(&server);
    client.say(format!("GET / HTTP/1.1\r\nHost: x\r\na: {}", "x".repeat(300_000)));
    assert_page(&client.answer(), 431);
    client.closed();
}

#[test]
fn a_connection_too_many_is_a_503_that_says_when_to_come_again() {
    let server = server(&[("limits.connections", "2")]);
    let mut first = Raw::connect(&server);
    let mut second = Raw::connect(&server);
    first.say(GOOD).answer();
    second.say(GOOD).answer();
    let mut third = Raw::connect(&server);
    let answer = third.say(GOOD).answer();
    assert_page(&answer, 503);
    assert!(answer.field("retry-after").is_some(), "{}", answer.head);
    third.closed();
    // The place of one that left is free again.
    first.stream.shutdown(Shutdown::Both).unwrap();
    let status = (0..500).map(|_| Raw::connect(&server).say(GOOD).answer().status).find(|status| *status == 200);
    assert_eq!(status, Some(200));
}

#[test]
fn a_connection_ends_with_its_last_request() {
    let server = server(&[("limits.requests_per_connection", "2")]);
    let mut client = Raw::connect(&server);
    client.say(GOOD.repeat(3));
    assert_eq!(client.answer().field("connection"), None);
    assert_eq!(client.answer().field("connection"), Some("close"));
    client.closed();
}

#[test]
fn a_client_that_does_not_read_is_let_go() {
    let server = server(&[("limits.write_idle", "100ms")]);
    let mut client = Raw::connect(&server);
    // More than the buffers of both sides can hold.
    client.say("GET /bytes/stream/100000000 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    // Only writing shows that the other side has gone, since what it sent before lies unread in between.
    while client.stream.write_all_or_gone(b"GET") {
        assert!(std::time::Instant::now() < deadline, "the server still waits");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

trait WriteAllOrGone {
    fn write_all_or_gone(&mut self, bytes: &[u8]) -> bool;
}

impl WriteAllOrGone for std::net::TcpStream {
    fn write_all_or_gone(&mut self, bytes: &[u8]) -> bool {
        use std::io::Write;
        self.write_all(bytes).is_ok()
    }
}

/// As slow as it likes, but not with so much.
#[test]
fn responses_that_nobody_takes_have_a_limit_and_are_given_up_early_when_they_are_many() {
    let server = server(&[("limits.unsent", "24MiB")]);
    let large = "GET /bytes/whole/10000000 HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut holders = [Raw::connect(&server), Raw::connect(&server)];
    for holder in &mut holders {
        holder.say(large);
    }
    let mut other = Raw::connect(&server);
    let is_refused = || {
        let answer = other.say(large).answer();
        answer.status == 503 && answer.text().contains("too many responses wait")
    };
    wait_until(|| "a response beyond the limit is not refused".to_owned(), is_refused);
    assert_eq!(other.say(GOOD).answer().status, 200, "what is small needs no room");
    // More than half of it is held, by clients that take nothing.
    let is_served = || other.say(large).answer().status == 200;
    wait_for(Duration::from_secs(20), || "served long before limits.write_idle".to_owned(), is_served);
}
