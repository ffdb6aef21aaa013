//! One application, two models: what is shared, and what is not.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Test;
use super::server::{Server, is_there, kill, memory, title};
use skep_drill::ask;

pub(crate) const TESTS: &[Test] = &[
    ("a_static_counter_counts_up_with_threads", a_static_counter_counts_up_with_threads),
    ("a_static_counter_counts_up_for_each_process", a_static_counter_counts_up_for_each_process),
    (
        "a_static_counter_is_always_fresh_with_a_process_per_request",
        a_static_counter_is_always_fresh_with_a_process_per_request,
    ),
    (
        "initialisation_happens_once_and_nothing_random_is_shared",
        initialisation_happens_once_and_nothing_random_is_shared,
    ),
    (
        "a_process_per_request_takes_one_request_of_a_connection",
        a_process_per_request_takes_one_request_of_a_connection,
    ),
    (
        "processes_are_added_when_all_are_busy_and_let_go_when_not",
        processes_are_added_when_all_are_busy_and_let_go_when_not,
    ),
    ("clients_that_are_never_idle_keep_nobody_out", clients_that_are_never_idle_keep_nobody_out),
    ("a_process_handles_as_many_at_once_as_it_may", a_process_handles_as_many_at_once_as_it_may),
    (
        "forked_processes_end_with_their_parent_and_with_the_supervisor",
        forked_processes_end_with_their_parent_and_with_the_supervisor,
    ),
    ("a_forked_process_is_replaced_when_it_had_its_share", a_forked_process_is_replaced_when_it_had_its_share),
    ("what_one_forked_process_keeps_all_have", what_one_forked_process_keeps_all_have),
    ("prefork_finishes_what_runs", prefork_finishes_what_runs),
    ("slow_clients_do_not_occupy_processes", slow_clients_do_not_occupy_processes),
    ("an_extra_process_costs_little_memory", an_extra_process_costs_little_memory),
    ("a_process_for_one_request_turns_nobody_away_at_its_end", a_process_for_one_request_turns_nobody_away_at_its_end),
];

/// The counter, how often the application was initialised, the process.
fn count(server: &Server) -> (u64, u64, i32) {
    let text = server.get("/count").unwrap();
    let words: Vec<&str> = text.split(' ').collect();
    (words[0].parse().unwrap(), words[1].parse().unwrap(), words[2].parse().unwrap())
}

/// Neither those that say nothing, nor those that send half a request.
fn slow_clients_do_not_occupy_processes() {
    let few = ["--mpm", "prefork", "--workers", "2", "--set", "max_workers=2", "--set", "limits.header_time=1h"];
    let server = Server::start(&few);
    for beginning in ["", "GET / HT"] {
        let mut held: Vec<TcpStream> = (0..10).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
        for client in &mut held {
            client.write_all(beginning.as_bytes()).unwrap();
        }
        assert_eq!(server.get("/").unwrap(), "Hello, world!", "{beginning:?}");
        // None of them has lost its turn.
        let mut last = held.pop().unwrap();
        last.write_all(&b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"[beginning.len()..]).unwrap();
        let mut text = String::new();
        last.read_to_string(&mut text).unwrap();
        assert!(text.ends_with("Hello, world!"), "{text}");
    }
}

fn a_static_counter_counts_up_with_threads() {
    let server = Server::start(&["--workers", "2"]);
    let counts: Vec<u64> = (0..20).map(|_| count(&server).0).collect();
    assert_eq!(counts, (1..=20).collect::<Vec<_>>());
}

fn a_static_counter_counts_up_for_each_process() {
    let server = Server::start(&["--mpm", "prefork", "--workers", "2"]);
    let mut counts = std::collections::HashMap::<i32, u64>::new();
    for _ in 0..40 {
        let (count, _, process) = count(&server);
        let known = counts.entry(process).or_default();
        *known += 1;
        assert_eq!(count, *known, "process {process}");
    }
    assert!(counts.len() <= 3, "{counts:?}");
}

fn a_static_counter_is_always_fresh_with_a_process_per_request() {
    let mut server = Server::start(&["--mpm", "prefork", "--set", "requests_per_worker=1"]);
    let seen: Vec<_> = (0..40).map(|_| count(&server)).collect();
    assert!(seen.iter().all(|(count, started, _)| (*count, *started) == (1, 1)), "{seen:?}");
    assert_eq!(seen.iter().map(|(_, _, process)| process).collect::<HashSet<_>>().len(), 40);
    // Those that have ended are counted: by it the supervisor knows that their parent was of use.
    server.wait_until("all are counted", |server| server.status("requests") == "40");
}

fn what_one_forked_process_keeps_all_have() {
    for each in ["0", "1"] {
        let requests = format!("requests_per_worker={each}");
        let server = Server::start(&["--mpm", "prefork", "--workers", "3", "--set", &requests]);
        let made: HashSet<String> = (0..30).map(|_| server.get("/kept").unwrap()).collect();
        assert_eq!(made.len(), 1, "{requests}: {made:?}");
        let asked: HashSet<i32> = (0..30).map(|_| count(&server).2).collect();
        assert!(each == "0" || asked.len() == 30, "{asked:?}");
    }
}

fn initialisation_happens_once_and_nothing_random_is_shared() {
    let server = Server::start(&["--mpm", "prefork", "--set", "requests_per_worker=1"]);
    let ids: HashSet<String> = (0..30).map(|_| server.get("/random").unwrap()).collect();
    assert_eq!(ids.len(), 30, "{ids:?}");
}

fn a_process_per_request_takes_one_request_of_a_connection() {
    let server = Server::start(&["--mpm", "prefork", "--set", "requests_per_worker=1"]);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    // Two at once: the second is not answered by the process that had the first.
    stream.write_all("GET /count HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2).as_bytes()).unwrap();
    let mut all = String::new();
    let _ = stream.read_to_string(&mut all);
    assert_eq!(all.matches("HTTP/1.1 200").count(), 1, "{all}");
    assert!(all.to_ascii_lowercase().contains("connection: close"), "{all}");
}

fn processes_are_added_when_all_are_busy_and_let_go_when_not() {
    let settings = ["--mpm", "prefork", "--workers", "1", "--set", "max_workers=6", "--set", "max_spare=2"];
    let mut server = Server::start(&settings);
    let busy: Vec<TcpStream> = (0..6)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.address).unwrap();
            stream.write_all(b"GET /slow/3000 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            stream
        })
        .collect();
    // All six at the same time, each in a process of its own: the parent, and those.
    server.wait_until("there are as many as there may be", |server| server.family().len() == 7);
    server.wait_until("all handle one", |server| busy_slots(server) == 6);
    for mut stream in busy {
        let mut buffer = [0; 1000];
        assert!(stream.read(&mut buffer).unwrap() > 0);
    }
    server.wait_until("those that are not needed are gone", |server| server.family().len() <= 3);
    let (good, _) = server.control("add");
    assert!(good);
}

fn busy_slots(server: &Server) -> usize {
    server.control("status json").1.matches("\"busy\":true").count()
}

/// One process has them first, and a request of theirs waits whenever one ends. There is to be another process for
/// those who come later.
fn clients_that_are_never_idle_keep_nobody_out() {
    let server = Server::start(&["--mpm", "prefork", "--workers", "1", "--set", "max_workers=4"]);
    let (clients, reached) = (8, AtomicUsize::new(0));
    // Nobody leaves before all are reached.
    let client = || {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        let (start, mut responses) = (Instant::now(), 0);
        while reached.load(Ordering::Relaxed) < clients && start.elapsed() < Duration::from_secs(15) {
            stream.write_all(b"GET /slow/5 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            if stream.read(&mut [0; 1024]).is_err() {
                break;
            }
            responses += 1;
            reached.fetch_add(usize::from(responses == 20), Ordering::Relaxed);
        }
    };
    std::thread::scope(|threads| (0..clients).for_each(|_| _ = threads.spawn(client)));
    assert_eq!(reached.into_inner(), clients);
}

fn a_process_handles_as_many_at_once_as_it_may() {
    let settings = ["--mpm", "prefork", "--workers", "1", "--set", "max_workers=1", "--set", "concurrency=3"];
    let mut server = Server::start(&settings);
    let start = std::time::Instant::now();
    let mut streams: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    for stream in &mut streams {
        stream.write_all(b"GET /slow/1000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    }
    // Three run; the fourth waits until one of them is finished.
    server.wait_until("three run", |server| server.status("requests") == "3" && busy_slots(server) == 1);
    for mut stream in streams {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.ends_with("at last"), "{text}");
    }
    assert!(start.elapsed() >= Duration::from_secs(2), "the fourth did not wait");
}

fn forked_processes_end_with_their_parent_and_with_the_supervisor() {
    let mut server = Server::start(&["--mpm", "prefork", "--workers", "3"]);
    let (parent, family) = (server.worker(), server.family());
    assert_eq!(title(parent), "skep: parent 1, ready");
    server.wait_until("all are there", |server| server.family().len() == 4);
    let child = *server.family().iter().find(|pid| **pid != parent).unwrap();
    assert!(title(child).starts_with("skep: worker 1."), "{}", title(child));
    kill(child, Signal::KILL);
    server.wait_until("it is replaced", |server| server.family().len() == 4 && !server.family().contains(&child));
    assert_eq!(server.worker(), parent);
    kill(parent, Signal::KILL);
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    server.wait_until("the old ones are gone", |_| !family.iter().any(|pid| is_there(*pid)));
    let family = server.family();
    server.signal(Signal::KILL);
    server.wait_until("all are gone", |_| !family.iter().any(|pid| is_there(*pid)));
}

fn a_forked_process_is_replaced_when_it_had_its_share() {
    let server = Server::start(&["--mpm", "prefork", "--workers", "2", "--set", "requests_per_worker=10"]);
    let mut processes = HashSet::new();
    for _ in 0..100 {
        let (count, _, process) = count(&server);
        assert!(count <= 11, "{count}");
        processes.insert(process);
    }
    assert!(processes.len() >= 9, "{processes:?}");
    assert!(!server.errors().contains("crashed"), "{}", server.errors());
}

fn prefork_finishes_what_runs() {
    let mut server = Server::start(&["--mpm", "prefork"]);
    let mut kept = TcpStream::connect(&server.address).unwrap();
    assert_eq!(ask(&mut kept, "/", false).unwrap().body, "Hello, world!");
    let mut busy = TcpStream::connect(&server.address).unwrap();
    busy.write_all(b"GET /slow/2000 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    server.wait_until("it has the request", |server| busy_slots(server) == 1);
    let family = server.family();
    server.signal(Signal::TERM);
    let mut answer = String::new();
    busy.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("at last"), "{answer}");
    assert_eq!(kept.read(&mut [0; 10]).unwrap(), 0, "a connection that is idle ends in order");
    assert_eq!(server.wait().code(), Some(0), "{}", server.errors());
    assert!(!family.iter().any(|pid| is_there(*pid)));
}

fn an_extra_process_costs_little_memory() {
    let mut server = Server::start(&["--mpm", "prefork", "--workers", "8"]);
    server.wait_until("all are there", |server| server.family().len() == 9);
    (0..50).for_each(|_| assert_eq!(server.get("/").unwrap(), "Hello, world!"));
    let family = server.family();
    let total: u64 = family.iter().map(|pid| memory(*pid)).sum();
    println!("  {} KiB for each of 9 processes", total / 9);
    if !cfg!(debug_assertions) {
        assert!(total / 9 < 1024, "{} KiB", total / 9);
    }
}

fn a_process_for_one_request_turns_nobody_away_at_its_end() {
    let mut server = Server::start(&["--mpm", "prefork", "--set", "requests_per_worker=1"]);
    server.get("/").unwrap();
    let family = server.family();
    // More wait than there are processes, when all of these learn that their parent is gone.
    for pid in &family {
        kill(*pid, Signal::STOP);
    }
    let mut waiting: Vec<TcpStream> = (0..30).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    for stream in &mut waiting {
        stream.write_all(b"GET /slow/50 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    }
    kill(family[0], Signal::KILL);
    server.wait_until("the parent is gone", |_| !is_there(family[0]));
    for pid in &family[1..] {
        kill(*pid, Signal::CONT);
    }
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
