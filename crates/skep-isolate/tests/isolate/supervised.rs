//! Components in a worker that a supervisor keeps alive.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::Test;
use super::guests;
use super::server::{Answer, Server};

pub(crate) const TESTS: &[Test] =
    &[("a_worker_that_was_killed_has_a_successor", killed), ("what_is_asked_is_answered_before_the_server_ends", ends)];

/// The process of the worker, as the server says.
fn worker(server: &Server, component: &str) -> i32 {
    let status = server.control(component, "status");
    let line = status.lines().find(|line| line.starts_with("worker ")).unwrap_or_else(|| panic!("{status}"));
    line.split("process ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap()
}

fn killed() {
    let component = guests::with_init();
    let component = component.to_str().unwrap();
    let server = Server::start_supervised(&[component, "--status", "/-/isolate"]);
    assert_eq!(server.text("/table?7"), "ready value 7");
    let first = worker(&server, component);
    kill_process(Pid::from_raw(first).unwrap(), Signal::KILL).unwrap();
    let begun = Instant::now();
    let status = loop {
        let status = server.control(component, "status");
        if status.contains("deaths: 1") && status.contains(", ready for ") {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{status}");
        thread::sleep(Duration::from_millis(20));
    };
    assert_ne!(worker(&server, component), first, "{status}");
    assert_eq!(server.text("/table?7"), "ready value 7");
    let counts = (server.text("/counts"), server.text("/counts"));
    assert_eq!(counts, ("static 1 local 1".into(), "static 1 local 1".into()));
    assert!(server.text("/-/isolate").contains("start-up code in its image"));
}

fn ends() {
    let component = guests::plain();
    let mut server = Server::start_supervised(&[component.to_str().unwrap()]);
    assert_eq!(server.text("/"), "one");
    let mut slow = TcpStream::connect(&server.address).unwrap();
    slow.write_all(b"GET /sleep?1500 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    thread::sleep(Duration::from_millis(300));
    assert!(server.end(), "{}", server.log());
    assert_eq!(Answer::read(slow).unwrap().text, "slept");
}
