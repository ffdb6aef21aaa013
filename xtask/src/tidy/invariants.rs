//! The invariants of ARCHITECTURE.md that show in the source.

use super::Complaint;
use super::source::Source;
use super::tokens;

/// Where `unsafe` may stand: files and folders.
const UNSAFE: [&str; 9] = [
    "crates/skep-observe/src/sys.rs",
    "crates/skep-observe/src/sys/",
    "crates/skep-server/src/sys.rs",
    "crates/skep-server/src/sys/",
    "crates/skep-cache/src/shared/sys.rs",
    "crates/skep/src/features/component/sys.rs",
    "crates/skep-isolate/src/sys.rs",
    "crates/skep-isolate/src/sys/",
    // It writes the attribute that names a section of a component.
    "crates/skep-macros/src/settings.rs",
];

/// What opens a socket or starts a thread or a process. `std::net`'s addresses are values and stay allowed.
const NOT_IN_SKEP: [&[&str]; 12] = [
    &["net", "::", "*"],
    &["TcpListener"],
    &["TcpStream"],
    &["UdpSocket"],
    &["UnixListener"],
    &["UnixStream"],
    &["UnixDatagram"],
    &["thread", "::", "spawn"],
    &["thread", "::", "scope"],
    &["thread", "::", "Builder"],
    &["process", "::", "Command"],
    &["tokio", "::"],
];

/// The thread that the test client runs an application on, and the process of its browser.
const TEST_CLIENT: [&str; 2] =
    ["crates/skep/src/features/test/driver.rs", "crates/skep/src/features/test/browser/chromium.rs"];

/// `unsafe` stands where ARCHITECTURE.md allows it. The bench has peers that are unsafe by design.
pub(super) fn unsafe_code(source: &Source) -> Vec<Complaint> {
    let is_allowed = UNSAFE.iter().any(|place| source.path.starts_with(place));
    if !source.is_rust() || source.is_sample() || is_allowed || source.path.starts_with("tools/peers/") {
        return Vec::new();
    }
    let text = "`unsafe`; it stands in skep-server's, skep-observe's and skep-isolate's sys, in that of skep-cache's shared map and of components only, and in what derive(Settings) writes";
    tokens::find(tokens::all(source), &["unsafe"]).map(|line| source.complaint(line, text)).collect()
}

/// With features that are off. The driver of PostgreSQL: its connections belong to the thread of a handler. And what
/// hands blocking work to a runtime of tokio, for applications that have one.
const FEATURES: [&str; 2] = ["crates/skep-sql/src/postgres/", "crates/skep-sql/src/offload/on_tokio.rs"];

/// `skep`, `skep-http`, `skep-people` and `skep-sql` open no socket and start no thread or process; their tests may,
/// the client for tests of applications, and [`FEATURES`].
pub(super) fn sockets_and_threads(source: &Source) -> Vec<Complaint> {
    let is_exempt = source.is_test()
        || TEST_CLIENT.contains(&source.path.as_str())
        || FEATURES.iter().any(|feature| source.path.starts_with(feature));
    let held = ["crates/skep/", "crates/skep-http/", "crates/skep-people/", "crates/skep-sql/"];
    let is_held = held.iter().any(|held| source.path.starts_with(held));
    if !source.is_rust() || !is_held || is_exempt {
        return Vec::new();
    }
    let tokens = tokens::without_tests(source);
    let complain = |words: &&[&str]| {
        let text = format!(
            "`{}` in skep, skep-http, skep-people or skep-sql; sockets, threads and processes are skep-server's part",
            words.concat()
        );
        tokens::find(tokens, words).map(|line| source.complaint(line, text.clone())).collect::<Vec<_>>()
    };
    NOT_IN_SKEP.iter().flat_map(complain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn unsafe_code_has_its_places() {
        let text = "fn a() {\n    unsafe { b() }\n}";
        assert_eq!(lines(unsafe_code, "crates/skep-server/src/sys.rs", text), [0; 0]);
        assert_eq!(lines(unsafe_code, "crates/skep-server/src/sys/socket.rs", text), [0; 0]);
        assert_eq!(lines(unsafe_code, "crates/skep-server/src/system.rs", text), [2]);
        assert_eq!(lines(unsafe_code, "crates/skep-cache/src/shared/sys.rs", text), [0; 0]);
        assert_eq!(lines(unsafe_code, "crates/skep-cache/src/shared/map.rs", text), [2]);
        assert_eq!(lines(unsafe_code, "crates/skep-isolate/src/sys.rs", text), [0; 0]);
        assert_eq!(lines(unsafe_code, "crates/skep-isolate/src/disk.rs", text), [2]);
        assert_eq!(lines(unsafe_code, "crates/skep/src/a.rs", "// unsafe\nconst A: &str = \"unsafe\";"), [0; 0]);
        assert_eq!(lines(unsafe_code, "crates/skep/src/a.rs", "macro_rules! a { () => { unsafe {} } }"), [1]);
    }

    #[test]
    fn skep_opens_no_socket_and_starts_nothing() {
        let good = "use std::net::SocketAddr;\nuse std::thread::{self, Thread};\nfn a() { thread::park() }";
        assert_eq!(lines(sockets_and_threads, "crates/skep/src/a.rs", good), [0; 0]);
        let bad = "use std::net::{SocketAddr, TcpStream};\nfn a() { thread::spawn(b); }\nuse std::process::Command;";
        assert_eq!(lines(sockets_and_threads, "crates/skep/src/a.rs", bad), [1, 2, 3]);
        assert_eq!(lines(sockets_and_threads, "crates/skep/src/a.rs", "fn a() { tokio::task::yield_now() }"), [1]);
        assert_eq!(lines(sockets_and_threads, "crates/skep-server/src/a.rs", bad), [0; 0]);
        assert_eq!(lines(sockets_and_threads, TEST_CLIENT[0], bad), [0; 0]);
    }

    #[test]
    fn tests_of_skep_may_open_sockets_and_start_threads() {
        let text = "#[cfg(test)]\nmod tests { fn a() { std::thread::spawn(b); } }";
        assert_eq!(lines(sockets_and_threads, "crates/skep/src/a.rs", text), [0; 0]);
        assert_eq!(lines(sockets_and_threads, "crates/skep/tests/a.rs", "use std::net::TcpStream;"), [0; 0]);
    }
}
