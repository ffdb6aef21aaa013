//! What a bad request costs: itself.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use skep_client::wait_for;

use super::Test;
use super::guests;
use super::server::{Answer, STRICT, Server};

pub(crate) const TESTS: &[Test] = &[
    ("each_failure_is_a_status_and_an_id_and_nothing_else", each_failure),
    ("an_endless_loop_leaves_the_thread_to_others", endless_loop),
    ("a_length_without_a_body_is_an_answer", length_without_body),
    ("the_log_holds_a_part_of_what_a_flooding_request_prints", floods_the_log),
    ("an_answer_that_broke_off_does_not_look_complete", broke_off),
    ("endless_output_waits_for_its_reader_and_ends_with_its_time", endless_output),
    ("more_instances_than_allowed_are_a_503", more_than_allowed),
    ("hundreds_of_instances_wait_at_once", many_at_once),
    ("ten_thousand_instances_wait_at_once", ten_thousand),
    ("fuel_ends_what_computes_too_much", fuel),
    ("a_guest_that_sleeps_too_long_is_a_504", sleeps),
];

fn strict(more: &[&str]) -> Server {
    Server::start(&[&[guests::plain().to_str().unwrap()], STRICT, more].concat())
}

fn each_failure() {
    let server = strict(&[]);
    let cases = [
        ("/panic", 500, "wasm trap: wasm `unreachable` instruction executed"),
        ("/unreachable", 500, ", in "),
        // The stack of a Rust program lies at the beginning of its memory, and before that there is nothing.
        ("/overflow", 500, "wasm trap: out of bounds memory access, in "),
        ("/memory", 500, "it asked for more memory than the 32768 KiB it may have"),
        ("/exit", 500, "it called exit("),
        ("/silent", 500, "returned without a response"),
        ("/unfinished", 500, "did not finish its response"),
        ("/error", 500, "returned an error"),
        ("/loop", 504, "took longer than 1s"),
    ];
    server.each_fails(&cases, "one");
}

/// With one thread: if the loop kept it, nobody else would be answered.
fn endless_loop() {
    let server = strict(&["--time", "1h"]);
    let _looping = begin(&server.address, "/loop");
    for _ in 0..20 {
        assert_eq!(server.text("/"), "one");
    }
}

fn begin(address: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    stream
}

/// The length of what would have come.
fn length_without_body() {
    let server = strict(&[]);
    let head = server.ask("HEAD", "/length?200", "x", "").unwrap();
    assert_eq!(head.status, 200, "{}", server.log());
    assert!(head.head.to_ascii_lowercase().contains("content-length: 5"), "{}", head.head);
    assert_eq!(server.get("/length?304").status, 304);
    assert_eq!(server.get("/length?200").status, 500, "its body is missing");
}

fn floods_the_log() {
    let server = strict(&[]);
    assert_eq!(server.get("/shout").status, 500);
    server.wait_for("and 2000 more lines of this request");
    assert_eq!(server.log().matches("shouted").count(), 1000);
}

fn broke_off() {
    let server = strict(&[]);
    let answer = server.get("/stream?300");
    assert_eq!((answer.status, answer.text.len(), answer.is_whole), (200, 300 << 10, true));
    // Small enough to be gathered: nothing of it was sent, and the page of the error is; unless the guest had to give
    // way to others meanwhile.
    assert!((0..10).any(|_| server.get("/stream-then-trap?3").status == 500));
    let answer = server.get("/stream-then-trap?300");
    assert_eq!((answer.status, answer.is_whole), (200, false));
    server.wait_for("a response broke off: 500");
    assert_eq!(server.text("/"), "one");
}

fn endless_output() {
    let server = strict(&[]);
    server.text("/");
    let before = server.memory();
    // Ten that nobody reads.
    let unread: Vec<TcpStream> = (0..10).map(|_| begin(&server.address, "/endless")).collect();
    // Their memory may not grow meanwhile.
    thread::sleep(Duration::from_millis(400));
    let grown = server.memory().saturating_sub(before);
    assert!(grown < 40 << 10, "{grown} KiB for ten answers that nobody reads");
    assert_eq!(server.text("/"), "one");
    server.wait_for("took longer than 1s");
    drop(unread);
    // One that is read slowly still ends.
    let mut slow = begin(&server.address, "/endless");
    let (start, mut bytes) = (Instant::now(), vec![0; 64 << 10]);
    while slow.read(&mut bytes).is_ok_and(|read| read > 0) {
        thread::sleep(Duration::from_millis(5));
        assert!(start.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(server.text("/"), "one");
}

fn more_than_allowed() {
    let server = strict(&["--instances", "2"]);
    let busy: Vec<TcpStream> = (0..2).map(|_| begin(&server.address, "/sleep?700")).collect();
    server.wait_until_busy(2);
    let answer = server.get("/");
    assert_eq!(answer.status, 503);
    assert!(answer.head.contains("retry-after: 1"), "{}", answer.head);
    server.wait_for("all 2 instances are busy");
    assert!(busy.into_iter().all(|stream| Answer::read(stream).unwrap().text == "slept"));
    assert_eq!(server.text("/"), "one");
}

fn many_at_once() {
    let server = strict(&["--time", "20s"]);
    server.text("/");
    let before = server.memory();
    let waiting: Vec<TcpStream> = (0..400).map(|_| begin(&server.address, "/sleep?3000")).collect();
    server.wait_until_busy(400);
    let each = server.memory().saturating_sub(before) / 400;
    println!("     {each} KiB for each instance at work, its connection included");
    assert!(each < 400, "{each} KiB for each");
    assert!(waiting.into_iter().all(|stream| Answer::read(stream).unwrap().text == "slept"));
}

/// As many as a process has room for. A machine with little memory tries fewer.
fn ten_thousand() {
    let unlimited = "limits.connections_per_address=0";
    // The first ones wait for the last ones, a minute or more on a busy machine.
    let patient = "limits.request_time=600s";
    // Addresses, of which each takes a thirtieth in use.
    let total = ["--total-memory", "64GiB"];
    let server = strict(
        &[&["--time", "600s", "--instances", "10000", "--set", unlimited, "--set", patient][..], &total].concat(),
    );
    server.text("/");
    let (before, count) = (server.memory(), 10_000.min(available() / 1024));
    let until = |count: usize| {
        let status = || server.text("/-/isolate");
        let is_so = || status().contains(&format!("instances: {count} busy"));
        wait_for(Duration::from_mins(8), || format!("never {count}: {}", status()), is_so);
    };
    let waiting: Vec<TcpStream> = (0..count).map(|_| begin(&server.address, "/sleep?590000")).collect();
    until(count);
    let each = server.memory().saturating_sub(before) / count as u64;
    println!("     {count} at work, {each} KiB for each, its connection included");
    assert!(each < 400, "{each} KiB for each");
    assert_eq!(server.get("/").status, if count == 10_000 { 503 } else { 200 });
    // Their clients go away, and they with them.
    drop(waiting);
    until(0);
    assert_eq!(server.text("/"), "one");
}

/// Memory that the machine has to give, in KiB.
fn available() -> usize {
    let about = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = about.lines().find(|line| line.starts_with("MemAvailable:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn fuel() {
    let server = strict(&["--fuel", "20_000_000", "--time", "20s"]);
    assert_eq!(server.get("/work?1000").status, 200);
    let answer = server.get("/work?1000000000");
    assert_eq!(answer.status, 504);
    server.wait_for("used up its fuel of 20000000");
}

fn sleeps() {
    let server = strict(&[]);
    assert_eq!(server.text("/sleep?10"), "slept");
    assert_eq!(server.get("/sleep?5000").status, 504);
}
