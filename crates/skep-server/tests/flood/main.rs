//! 10 000 clients that send their request a byte at a time and never finish: the others do not notice, and memory is
//! bounded.
//!
//! The server is this very executable, started again, so that each side has its file descriptors and its memory to
//! itself.

#[path = "../server/support.rs"]
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};

const WANTED: u64 = 10_000;
const PART: &str = "FLOOD_TEST_SERVER";
const GOOD: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

#[test]
#[ignore = "child process: the server of the other test here"]
fn child_process() {
    let settings = [
        "--listen",
        "127.0.0.1:0",
        "--workers",
        "2",
        "--set",
        "log.access=false",
        "--set",
        "limits.header_time=10m",
        "--set",
        "limits.connections_per_address=0",
    ];
    let data = std::env::temp_dir().join("skep-server-flood");
    let code = skep_server::Server::new(support::app).fix("data", data.to_str().unwrap()).run_with(settings);
    assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
}

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["child_process", "--ignored", "--exact", "--nocapture"]).env(PART, "1").stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.by_ref().map(Result::unwrap).find(|line| line.contains("listens on")).unwrap();
        let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        // Whatever else it prints shall not stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// Resident memory of supervisor and workers in KiB.
    fn memory(&self) -> u64 {
        let pid = self.child.id();
        let children = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten().flat_map(|task| {
            let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            text.split_whitespace().map(|child| child.parse().unwrap()).collect::<Vec<u32>>()
        });
        children.chain([pid]).map(resident).sum()
    }

    /// The longest of some requests.
    fn slowest(&self) -> Duration {
        let one = |_| {
            let start = Instant::now();
            let mut stream = TcpStream::connect(&self.address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            stream.write_all(GOOD).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with("Hello, world!"), "{answer}");
            start.elapsed()
        };
        (0..100).map(one).max().unwrap()
    }
}

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ten_thousand_slow_clients_cost_little_and_stop_nobody() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let count = limit.maximum.unwrap_or(u64::MAX).saturating_sub(200).min(WANTED);
    println!("{count} of {WANTED} clients, as many as this process may open");

    let mut server = Server::start();
    server.slowest();
    let before = server.memory();
    let mut clients: Vec<TcpStream> = (0..count).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    for byte in b"GET / HTTP/1.1\r\nHost: x\r\nCookie: abcdef" {
        for client in clients.iter_mut().step_by(if *byte == b'G' { 1 } else { 7 }) {
            client.write_all(&[*byte]).unwrap();
        }
    }
    let slowest = server.slowest();
    let each = (server.memory() - before) / count;
    println!("{each} KiB for each of them, {slowest:?} for the slowest of the others");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    // Two buffers of hyper's (8 KiB each), one for the head and one for the answer, and what the connection itself is.
    assert!(each <= 24, "{each} KiB for each connection");

    // Their leaving, and the end, cost nothing either.
    kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
    drop(clients);
    assert!(server.child.wait().unwrap().success());
}
