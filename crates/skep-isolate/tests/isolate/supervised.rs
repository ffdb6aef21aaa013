//! Components in a worker that a supervisor keeps alive.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use skep_client::wait_until;

use super::Test;
use super::guests;
use super::server::{Answer, Folder, Server};

pub(crate) const TESTS: &[Test] = &[
    ("a_worker_that_was_killed_has_a_successor", killed),
    ("what_is_asked_is_answered_before_the_server_ends", ends),
    ("the_supervisor_reports_the_status_of_the_applications", status),
    ("requests_to_components_are_spans_for_an_otlp_receiver", traced),
];

/// The process of the worker, as the server says.
fn worker(server: &Server) -> i32 {
    let status = server.control("status");
    let line = status.lines().find(|line| line.starts_with("worker ")).unwrap_or_else(|| panic!("{status}"));
    line.split("process ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap()
}

fn killed() {
    let component = guests::with_init();
    let component = component.to_str().unwrap();
    let server = Server::start_supervised(&[component, "--status", "/-/isolate"]);
    assert_eq!(server.text("/table?7"), "ready value 7");
    let first = worker(&server);
    kill_process(Pid::from_raw(first).unwrap(), Signal::KILL).unwrap();
    let mut status = String::new();
    let is_back = || {
        status = server.control("status");
        status.contains("crashes: 1") && status.contains(", ready for ")
    };
    wait_until(|| server.control("status"), is_back);
    assert_ne!(worker(&server), first, "{status}");
    assert_eq!(server.text("/table?7"), "ready value 7");
    let counts = (server.text("/counts"), server.text("/counts"));
    assert_eq!(counts, ("static 1 local 1".into(), "static 1 local 1".into()));
    assert!(server.text("/-/isolate").contains("start-up code in its image"));
}

/// What the page says, without a page that strangers could ask for.
fn status() {
    let folder = Folder::new();
    let component = folder.0.join("shop.wasm");
    let component = component.to_str().unwrap();
    std::fs::copy(guests::plain(), component).unwrap();
    let limits = ["--module-cache", "cached", "--time", "1s", "--instances", "50", "--set", "workers=1"];
    let server = Server::start_supervised(&[&[component], &limits[..]].concat());
    assert_eq!((server.text("/"), server.text("/counts")), ("one".into(), "static 1 local 1".into()));
    assert_eq!((server.get("/panic").status, server.get("/loop").status), (500, 504));
    let status = server.control("status");
    let told = [
        &format!("\nshop\n  {component} at every host, /\n  version ")[..],
        ", module cache cached\n  WARNING: instances keep state between requests",
        "\n  instances: 0 busy of 50, ",
        "\n  requests: 2 succeeded, 2 failed; of those 1 ran out of time or fuel, 0 found no free instance\n",
        "\n  swaps: 0\n",
    ];
    for line in told {
        assert!(status.contains(line), "{line} in {status}");
    }
    std::fs::copy(guests::second(), folder.0.join("new")).unwrap();
    std::fs::rename(folder.0.join("new"), component).unwrap();
    server.wait_for("swapped");
    let json = server.control("status json");
    let shop = json.split_once("{\"name\":\"shop\",").and_then(|(_, rest)| rest.split_once('}'));
    let shop = shop.unwrap_or_else(|| panic!("{json}")).0;
    let told = [
        "\"file\":",
        "\"module_cache\":\"cached\"",
        "\"keeps_state\":true",
        "\"running\":0",
        "\"limit\":50",
        "\"answered\":0",
        "\"failed\":0",
        "\"killed\":0",
        "\"swaps\":1",
        "\"swapped_ago\":",
    ];
    for value in told {
        assert!(shop.contains(value), "{value} in {shop}");
    }
}

/// The receiver decodes nothing: names are text in protobuf, too.
fn traced() {
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("otlp.endpoint=http://{}", receiver.local_addr().unwrap());
    let component = guests::plain();
    let server = Server::start_supervised(&[component.to_str().unwrap(), "--set", &endpoint]);
    assert_eq!(server.text("/"), "one");
    // Metrics may come first.
    let spans =
        receiver.incoming().map(|stream| received(stream.unwrap())).find(|(head, _)| head.contains("/v1/traces"));
    let (_, body) = spans.unwrap();
    let body = String::from_utf8_lossy(&body);
    assert!(body.contains("http.response.status_code") && body.contains("GET"), "{body}");
}

/// The header section and the body of the one request of a connection.
fn received(stream: TcpStream) -> (String, Vec<u8>) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let length = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    (head, body)
}

fn ends() {
    let component = guests::plain();
    let mut server = Server::start_supervised(&[component.to_str().unwrap(), "--status", "/-/isolate"]);
    assert_eq!(server.text("/"), "one");
    let mut slow = TcpStream::connect(&server.address).unwrap();
    slow.write_all(b"GET /sleep?1500 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    server.wait_until_busy(1);
    assert!(server.end(), "{}", server.log());
    assert_eq!(Answer::read(slow).unwrap().text, "slept");
}
