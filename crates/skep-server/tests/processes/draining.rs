//! One worker, or one of its processes, is drained on request.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::Test;
use super::server::{Server, is_there, nothing_is_lost};
use skep_drill::Load;

pub(crate) const TESTS: &[Test] = &[
    ("a_worker_is_drained_under_load_and_replaced", a_worker_is_drained_under_load_and_replaced),
    ("a_forked_process_is_drained_and_replaced", a_forked_process_is_drained_and_replaced),
    ("a_process_for_one_request_is_drained_and_replaced", a_process_for_one_request_is_drained_and_replaced),
    ("a_drain_that_is_not_possible_says_what_would_be", a_drain_that_is_not_possible_says_what_would_be),
];

/// A request that is in progress.
fn begin(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(&*server.address).unwrap();
    stream.write_all(b"GET /slow/1500 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    stream
}

/// Its response, up to the end of the connection: a server that drains closes it.
fn finish(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The names and ids of processes that the status has: `1.2` and 4242.
fn processes(server: &Server) -> Vec<(String, i32)> {
    let (_, text) = server.control("status");
    let lines = text.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(": process "));
    let id = |rest: &str| rest.split(' ').next().unwrap().parse().unwrap();
    lines.filter(|(_, rest)| !rest.ends_with("retiring")).map(|(name, rest)| (name.to_owned(), id(rest))).collect()
}

fn busy_process(server: &mut Server) -> String {
    let mut name = None;
    server.wait_until("the request is in progress", |server| {
        let (_, text) = server.control("status");
        let busy = text.lines().find(|line| line.starts_with("  ") && line.ends_with(", busy"));
        name = busy.map(|line| line.trim().split_once(':').unwrap().0.to_owned());
        name.is_some()
    });
    name.unwrap()
}

fn a_worker_is_drained_under_load_and_replaced() {
    for model in [&["--workers", "2"][..], &["--mpm", "prefork", "--workers", "2"]] {
        let mut server = Server::start(model);
        let old = server.worker();
        let load = Load::new(&server.address).start();
        let slow = begin(&server);
        // The status shows processes that are busy with the load as well, so nothing says when this one has begun.
        std::thread::sleep(std::time::Duration::from_millis(100));
        let (good, text) = server.control("drain 1");
        assert!(good, "{text}");
        assert_eq!(text, "draining worker 1: worker 2 takes over as soon as it is ready\n");
        server.wait_until("the successor serves", |server| server.status("number") == "2");
        assert!(is_there(old), "{model:?}: it finishes its request");
        let response = finish(slow);
        assert!(response.ends_with("at last"), "{model:?}");
        assert!(response.contains("\r\nconnection: close\r\n"), "{model:?}: {response}");
        nothing_is_lost(load);
        server.wait_until("the old worker is gone", |_| !is_there(old));
        assert_eq!((server.status("replaced"), server.status("crashes")), ("1".to_owned(), "0".to_owned()));
    }
}

fn a_forked_process_is_drained_and_replaced() {
    let settings = ["--mpm", "prefork", "--workers", "3", "--set", "max_workers=3"];
    let mut server = Server::start(&settings);
    server.wait_until("all are there", |server| processes(server).len() == 3);
    let slow = begin(&server);
    let name = busy_process(&mut server);
    let before = processes(&server);
    let (good, text) = server.control(&format!("drain {name}"));
    assert!(good && text.starts_with(&format!("draining process {name}: ")), "{text}");
    let drained = before.iter().find(|(known, _)| *known == name).unwrap().1;
    let others: Vec<_> = before.into_iter().filter(|(_, process)| *process != drained).collect();
    let response = finish(slow);
    assert!(response.ends_with("at last") && response.contains("\r\nconnection: close\r\n"), "{response}");
    server.wait_until("it is replaced", |server| {
        let now = processes(server);
        !is_there(drained) && now.len() == 3 && others.iter().all(|other| now.contains(other))
    });
    assert_eq!(server.status("replaced"), "0", "the worker stays");
    assert!(!server.errors().contains("crashed"), "{}", server.errors());
}

fn a_process_for_one_request_is_drained_and_replaced() {
    let settings = ["--mpm", "prefork", "--workers", "2", "--set", "requests_per_worker=1"];
    let mut server = Server::start(&settings);
    server.wait_until("some are there", |server| processes(server).len() >= 2);
    let (name, process) = processes(&server).swap_remove(0);
    let (good, text) = server.control(&format!("drain {name}"));
    assert!(good, "{text}");
    server.wait_until("it is replaced", |server| !is_there(process) && processes(server).len() >= 2);
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
}

fn a_drain_that_is_not_possible_says_what_would_be() {
    let server = Server::start(&["--workers", "2"]);
    let refused = |word: &str, expected: &str| {
        let (good, text) = server.control(word);
        assert!(!good && text.contains(expected), "{word}: {text}");
    };
    refused("drain 7", "not drained: there is no worker 7: worker 1 serves");
    refused("drain 1.1", "not drained: with mpm = thread, a worker drains as a whole: drain 1");
    refused("drain", "expected drain WORKER, such as drain 3: status lists the workers");
    refused("drain one", "invalid worker \"one\": expected its number in the status, such as 3");
    let server = Server::start(&["--mpm", "prefork", "--workers", "2"]);
    let (good, text) = server.control("drain 1.99");
    assert!(!good && text.contains("worker 1 has no process 1.99: it has 1.1, 1.2"), "{text}");
}
