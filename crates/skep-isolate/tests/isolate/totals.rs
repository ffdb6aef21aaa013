//! What all instances of a server have together, and instances that can serve once only.

use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use skep_client::wait_until;

use super::Test;
use super::guests;
use super::server::{Answer, Folder, Server};

pub(crate) const TESTS: &[Test] = &[
    ("all_instances_together_have_a_limit_of_memory", total_memory),
    ("memory_of_instances_that_wait_is_for_requests_that_run", idle_memory),
    ("memory_of_a_burst_is_given_back", given_back),
    ("a_program_for_one_request_per_instance_is_not_kept", once_by_the_probe),
    ("a_program_that_falls_silent_later_is_not_kept_from_then_on", once_by_a_request),
    ("a_deleted_file_is_a_line_of_the_log", deleted),
];

fn serve(more: &[&str]) -> Server {
    let guest = guests::plain();
    Server::start(&[&[guest.to_str().unwrap(), "--set", "workers=1", "--status", "/-/isolate"], more].concat())
}

fn begin(server: &Server, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    stream
}

/// Waits for something, but not for ever.
fn wait(what: &str, server: &Server, is_so: impl Fn() -> bool) {
    wait_until(|| format!("never {what}: {} KiB, {}", server.memory(), server.log()), is_so);
}

/// Eight requests want 60 MiB each of 300 MiB: four get them.
fn total_memory() {
    let folder = Folder::new();
    let dir = format!("{}::/data", folder.0.display());
    let server = serve(&["--dir", &dir, "--total-memory", "300MiB"]);
    let hoarding: Vec<TcpStream> = (0..8).map(|_| begin(&server, "/hoard?60:/data/go")).collect();
    wait("four are refused", &server, || {
        server.log().matches("have no more than 300 MiB of memory (--total-memory)").count() == 4
    });
    folder.write("go", "");
    let answers: Vec<Answer> = hoarding.into_iter().map(|stream| Answer::read(stream).unwrap()).collect();
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(200), count(503)), (4, 4), "{}", server.log());
    let refused = answers.iter().find(|answer| answer.status == 503).unwrap();
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    // What ended has given back what it had.
    for _ in 0..10 {
        assert_eq!(server.text("/hoard?60:/data/go"), (60 << 20).to_string());
    }
    // Where not even an instance finds room, its request is refused.
    let tiny = serve(&["--dir", &dir, "--total-memory", "8MiB"]);
    assert_eq!(tiny.text("/"), "one");
    assert_eq!(tiny.get("/hoard?60:/data/go").status, 503);
    assert_eq!(tiny.text("/"), "one");
}

/// An application has an instance of 60 MiB that waits for its next request, and then the other one has it.
fn idle_memory() {
    let folder = Folder::new();
    folder.write("go", "");
    let app = |name: &str, file: &Path, more: &str| {
        let (file, dir) = (file.display(), folder.0.display());
        format!("[component.{name}]\nfile = \"{file}\"\ndir = [\"{dir}::/data\"]\n{more}")
    };
    for cache in ["cached", "snapshot"] {
        let more = format!("module_cache = \"{cache}\"\n");
        let both = [
            app("one", &guests::plain(), &more),
            app("two", &guests::second(), &format!("host = \"two.org\"\n{more}")),
        ];
        let both = format!("workers = 1\n[component]\ntotal_memory = \"100MiB\"\n{}", both.concat());
        let server = Server::start(&["--config", folder.write("skep.toml", both).to_str().unwrap()]);
        for host in ["x", "two.org", "x", "x", "two.org"] {
            let answer = server.ask("GET", "/hoard?60:/data/go", host, "").unwrap();
            assert_eq!((answer.status, answer.text), (200, (60 << 20).to_string()), "{cache} {host}: {}", server.log());
        }
        assert!(!server.log().contains("have no more than 100 MiB"), "{}", server.log());
    }
}

/// Each slot keeps up to two mebibytes, until nobody needs it for a while.
fn given_back() {
    let folder = Folder::new();
    let server = serve(&["--dir", &format!("{}::/data", folder.0.display())]);
    server.text("/");
    let before = server.memory();
    let hoarding: Vec<TcpStream> = (0..100).map(|_| begin(&server, "/hoard?3:/data/go")).collect();
    wait("all hold what they want", &server, || server.memory() > before + (300 << 10));
    folder.write("go", "");
    for stream in hoarding {
        assert_eq!(Answer::read(stream).unwrap().status, 200, "{}", server.log());
    }
    // Sixteen slots stay warm.
    wait("it is given back", &server, || server.memory() < before + (60 << 10));
    for _ in 0..100 {
        assert_eq!(server.text("/counts"), "static 1 local 1", "what was emptied serves on");
    }
}

const ONCE: &str = "the program handles one request per instance";

fn once_by_the_probe() {
    for reuse in ["1", "1000"] {
        let server = serve(&["--module-cache", "cached", "--probe", "/once", "--reuse-requests", reuse]);
        for _ in 0..20 {
            assert_eq!(server.text("/once"), "once");
        }
        let expected = usize::from(reuse != "1" || server.log().contains(ONCE));
        assert_eq!(server.log().matches(ONCE).count(), expected, "{}", server.log());
    }
    // One that can serve again is kept, and the second probe does not count.
    let server = serve(&["--module-cache", "cached", "--probe", "/env", "--reuse-requests", "3"]);
    let counts: Vec<String> = (0..5).map(|_| server.text("/counts")).collect();
    let number = |count: &String| count.split(' ').nth(1).unwrap().to_owned();
    assert_eq!(counts.iter().map(number).collect::<String>(), "12123");
    assert!(!server.log().contains(ONCE));
}

/// One request fails; a program is kept if it has answered again before, or if new instances fall silent at that path,
/// too.
fn once_by_a_request() {
    // By the instance of the probe, which no other request has used again.
    let server = serve(&["--module-cache", "cached"]);
    assert_eq!(server.get("/silent").status, 500);
    for _ in 0..20 {
        assert_eq!(server.text("/once"), "once");
    }
    assert_eq!(server.log().matches(ONCE).count(), 1, "{}", server.log());
    // One request of which nothing comes, after an instance has served others.
    let server = serve(&["--module-cache", "cached"]);
    assert_eq!([(); 3].map(|()| server.text("/counts"))[2], "static 3 local 1");
    assert_eq!(server.get("/silent").status, 500);
    assert_eq!([(); 3].map(|()| server.text("/counts"))[2], "static 3 local 1", "{}", server.log());
    assert_eq!(server.log().matches(ONCE).count(), 0, "{}", server.log());
    let server = serve(&["--module-cache", "cached"]);
    server.text("/counts");
    for _ in 0..3 {
        assert_eq!(server.get("/silent").status, 500);
    }
    assert_eq!(server.text("/counts"), "static 1 local 1");
    assert_eq!(server.text("/counts"), "static 2 local 1", "{}", server.log());
}

fn deleted() {
    let folder = Folder::new();
    let file = folder.write("app.wasm", std::fs::read(guests::plain()).unwrap());
    let server = Server::start(&[file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    server.wait_for("the file is gone; its last version goes on serving");
    assert_eq!(server.text("/"), "one");
    folder.write("app.wasm", std::fs::read(guests::second()).unwrap());
    server.wait_for("swapped");
    assert_eq!(server.text("/"), "two");
    assert_eq!(server.log().matches("the file is gone").count(), 1);
}
