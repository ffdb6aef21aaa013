//! Three machines, which are processes with data directories of their own, on one PostgreSQL and one Redis:
//! `cargo xtask test external`.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use skep_cluster::Cluster;
use skep_drill::{Server, Subject, folder, kill, wait_for, wait_until};

use crate::disasters::{number, start};
use crate::servers::{exchange, send};

pub(crate) const TESTS: &[crate::Test] = &[
    ("three_machines_are_one_application", three_machines_are_one_application),
    ("what_would_be_of_one_machine_is_refused_by_check", what_would_be_of_one_machine_is_refused_by_check),
];

const KEY: &str = "secret_keys=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// A Redis on a port; it ends with this.
struct Redis {
    child: Child,
    port: u16,
}

impl Redis {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("redis-server");
        command.args(["--save", "", "--bind", "127.0.0.1", "--port", &port.to_string()]).stdout(Stdio::null());
        let child = command.spawn().expect("it is installed: `cargo xtask setup` does so");
        wait_until(|| "Redis listens".to_owned(), || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { child, port }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn settings(cluster: &Cluster, redis: &Redis) -> Vec<String> {
    let (data, shared) =
        (format!("cluster.data={}", cluster.address()), format!("cluster.shared=redis://127.0.0.1:{}", redis.port));
    ["--set", &data, "--set", &shared, "--set", KEY].map(str::to_owned).to_vec()
}

fn request(address: &str, method: &str, path: &str, cookie: &str) -> String {
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: same-origin\r\nConnection: close");
    exchange(address, &format!("{head}\r\nContent-Length: 0\r\n{cookie}\r\n"))
}

/// Events of a server, from now on.
fn hear(address: &str) -> impl FnMut() -> String + use<> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(format!("GET /hear HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut next = move |start: &str| lines.by_ref().map(Result::unwrap).find(|line| line.starts_with(start)).unwrap();
    // It is subscribed.
    next("id: ");
    move || next("data: ")
}

fn three_machines_are_one_application() {
    let (cluster, redis, subject) = (Cluster::start(), Redis::start(), Subject::ours().unwrap());
    let settings = settings(&cluster, &redis);
    let mut machines: Vec<Server> = (0..3).map(|_| start(&subject, folder().unwrap(), &settings, None)).collect();
    let address = |machine: usize| machines[machine].address.clone();

    let signed_in = request(&address(0), "POST", "/name/Ada", "");
    let cookie = signed_in.lines().find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next()).unwrap();
    let cookie = format!("Cookie: {cookie}\r\n");
    assert!(request(&address(1), "GET", "/name", &cookie).ends_with("Ada"));

    let mut hearers = [hear(&address(1)), hear(&address(2))];
    send(&address(0), "/say/hello");
    for hear in &mut hearers {
        assert_eq!(hear(), "data: \"hello\"");
    }

    for _ in 0..10 {
        send(&address(0), "/ordered/20");
    }
    machines[1].family().into_iter().chain([machines[1].pid()]).for_each(|pid| kill(pid, Signal::KILL));
    assert!(request(&address(2), "GET", "/name", &cookie).ends_with("Ada"));
    let is_done = || number(&address(2), "count(*) from skep_job where kind <> 'minute'") == Some(0);
    wait_for(Duration::from_mins(1), || machines[2].errors(), is_done);
    assert_eq!(
        number(&address(2), "count(*) from effect where note = 'many'"),
        number(&address(2), "sum(jobs) from asked")
    );
    // Three machines have one schedule: each second.
    wait_for(
        Duration::from_mins(1),
        || machines[2].errors(),
        || number(&address(2), "count(*) from minute") >= Some(5),
    );
    let (all, different) =
        (number(&address(2), "count(*) from minute"), number(&address(2), "count(distinct at) from minute"));
    assert_eq!(all, different);
    machines.clear();
}

fn what_would_be_of_one_machine_is_refused_by_check() {
    let (subject, folder) = (Subject::ours().unwrap(), folder().unwrap());
    let tiers = "cache.pages.tiers=memory:1MiB";
    let settings = [
        "--check",
        "--set",
        "cluster.data=postgres://db/shop",
        "--set",
        "cluster.shared=redis://cache1",
        "--set",
        tiers,
    ];
    let output = subject.command(&folder, &settings).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(text.contains("cache.pages.tiers is of one machine") && text.contains("the setting secret"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}
