//! Many users at once, over real sockets and several processes: nobody gets what is another's, and limits are exact.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use skep::guard::{Limited, RateLimit};
use skep::prelude::*;

use super::Test;
use super::caches::Backend;
use super::server::{Server, folder};

pub(crate) const TESTS: &[Test] = &[
    ("a_limit_is_exact_over_four_processes", a_limit_is_exact_over_four_processes),
    ("a_limit_refills_exactly_over_four_processes", a_limit_refills_exactly_over_four_processes),
    ("a_flood_resets_no_limit_in_any_model", a_flood_resets_no_limit_in_any_model),
    ("machines_share_their_counts_on_redis", machines_share_their_counts_on_redis),
    ("requests_of_a_hundred_users_are_never_mixed_up", requests_of_a_hundred_users_are_never_mixed_up),
];

/// What a server of these tests can do beside the others.
pub(crate) const SERVICES: skep::Services = skep::services![Burst, Paced, Few];

/// 1000, and none for a long time after that.
pub(crate) struct Thousand;

impl RateLimit for Thousand {
    const NAME: &'static str = "thousand";
    const BURST: u32 = 1000;
    const EACH: Duration = Duration::from_hours(1);
}

/// 100, and then 100 in each second.
pub(crate) struct Steady;

impl RateLimit for Steady {
    const NAME: &'static str = "steady";
    const BURST: u32 = 100;
    const EACH: Duration = Duration::from_millis(10);
}

/// 3, and one in each hour after that.
pub(crate) struct Three;

impl RateLimit for Three {
    const NAME: &'static str = "three";
    const BURST: u32 = 3;
    const EACH: Duration = Duration::from_hours(1);
}

#[derive(Service)]
#[service(GET "/limited/few")]
pub(crate) struct Few {
    #[guard]
    _limit: Limited<Three>,
}

impl Handle for Few {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("few"))
    }
}

/// The process that admits the request.
#[derive(Service)]
#[service(GET "/limited/burst")]
pub(crate) struct Burst {
    #[guard]
    _limit: Limited<Thousand>,
}

impl Handle for Burst {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(std::process::id().to_string()))
    }
}

#[derive(Service)]
#[service(GET "/limited/paced")]
pub(crate) struct Paced {
    #[guard]
    _limit: Limited<Steady>,
}

impl Handle for Paced {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(std::process::id().to_string()))
    }
}

/// Clients at once.
const CLIENTS: usize = 8;

/// With these tiers for counts: none are the server's own table.
fn four_processes(toml: &str) -> Server {
    four_processes_with(toml, &[])
}

fn four_processes_with(toml: &str, more: &[&str]) -> Server {
    let folder = folder();
    fs::write(folder.join("skep.toml"), toml).unwrap();
    Server::start_in(folder, &[&["--mpm", "prefork", "--workers", "4", "--set", "max_workers=4"], more].concat())
}

const SHARED: &str = "[cache.skep-limits]\ntiers = [\"shared:1MiB\"]\n";

/// Status and body of the response to one request on a connection of its own.
fn ask(server: &Server, path: &str) -> (u16, String) {
    ask_with(server, path, "")
}

/// The same for a client behind a proxy.
fn ask_as(server: &Server, path: &str, address: &str) -> (u16, String) {
    ask_with(server, path, &format!("X-Forwarded-For: {address}\r\n"))
}

fn ask_with(server: &Server, path: &str, fields: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n{fields}Connection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    let (head, body) = all.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

/// Asks until `goes_on` says no: how many were admitted, and by which processes. All others are refused by the limit.
fn admitted(server: &Server, path: &str, goes_on: impl Fn() -> bool + Sync) -> (usize, HashSet<String>) {
    let client = || {
        let (mut admitted, mut processes) = (0, HashSet::new());
        while goes_on() {
            match ask(server, path) {
                (200, process) => {
                    admitted += 1;
                    processes.insert(process);
                }
                (status, body) => assert_eq!(status, 429, "{body}"),
            }
        }
        (admitted, processes)
    };
    thread::scope(|threads| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| threads.spawn(client)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).fold(
            (0, HashSet::new()),
            |mut sum, (count, processes)| {
                sum.0 += count;
                sum.1.extend(processes);
                sum
            },
        )
    })
}

fn a_limit_is_exact_over_four_processes() {
    for toml in ["", SHARED] {
        let server = four_processes(toml);
        let left = AtomicUsize::new(3000);
        let goes_on = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        let (count, processes) = admitted(&server, "/limited/burst", goes_on);
        assert_eq!((count, processes.len()), (1000, 4), "{toml}");
    }
}

/// A table of 128 counters, and 600 clients of whom each has one: those that wait are not forgotten.
fn a_flood_resets_no_limit_in_any_model() {
    let prefork = ["--mpm", "prefork", "--workers", "3", "--set", "max_workers=3"];
    let for_each_request =
        ["--mpm", "prefork", "--workers", "2", "--set", "max_workers=4", "--set", "requests_per_worker=1"];
    for model in [&["--workers", "2"][..], &prefork, &for_each_request] {
        let flags = ["--set", "limits.counters=1KiB", "--set", "proxies.trusted=127.0.0.1"];
        let server = Server::start(&[model, &flags].concat());
        let client = |address: &str| ask_as(&server, "/limited/few", address).0;
        let held = ["192.0.2.1", "192.0.2.2", "2001:db8::1"];
        for address in held {
            assert_eq!([(); 4].map(|()| client(address)), [200, 200, 200, 429], "{address}, {model:?}");
        }
        for number in 0..600 {
            client(&format!("10.0.{}.{}", number / 200, number % 200));
        }
        assert_eq!(held.map(client), [429; 3], "{model:?}");
    }
}

fn machines_share_their_counts_on_redis() {
    let redis = Backend::redis();
    let folder = folder();
    // Counts belong to a site: machines that share them agree in the folder for data.
    let data = format!("data={}", folder.join("data").display());
    let machine = |number: u32| {
        let tiers = format!("[cache.skep-limits]\ntiers = [\"redis:unix:{}\"]\n", redis.socket.display());
        four_processes_with(&format!("control = \"control{number}\"\n{tiers}"), &["--set", &data])
    };
    let (one, other) = (machine(1), machine(2));
    let left = AtomicUsize::new(1500);
    let goes_on = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
    let count: usize = thread::scope(|threads| {
        let servers = [&one, &other].map(|server| threads.spawn(|| admitted(server, "/limited/burst", goes_on).0));
        servers.into_iter().map(|server| server.join().unwrap()).sum()
    });
    assert_eq!(count, 1000);
    drop((one, other));
    fs::remove_dir_all(folder).unwrap();
}

fn a_limit_refills_exactly_over_four_processes() {
    let server = four_processes("");
    let (begun, lasts) = (Instant::now(), Duration::from_secs(3));
    let (count, processes) = admitted(&server, "/limited/paced", || begun.elapsed() < lasts);
    // Those that were on their way when the time was up are among them.
    let expected = 100.0 + begun.elapsed().as_secs_f64() * 100.0;
    let (least, most) = ((100.0 + lasts.as_secs_f64() * 100.0) * 0.99, expected * 1.01);
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let count = count as f64;
    assert!((least..=most).contains(&count) && processes.len() == 4, "{count} of {expected}, {processes:?}");
}

/// A user of [`requests_of_a_hundred_users_are_never_mixed_up`].
struct User {
    name: String,
    cookie: String,
    visits: AtomicUsize,
}

/// A connection that carries requests of all users in turn.
struct Shared<'s> {
    server: &'s Server,
    stream: BufReader<TcpStream>,
}

impl<'s> Shared<'s> {
    fn new(server: &'s Server) -> Self {
        let stream = TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { server, stream: BufReader::new(stream) }
    }

    /// The cookie that is set, if one is, and the body.
    fn ask(&mut self, method: &str, path: &str, cookie: &str) -> (Option<String>, String) {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n");
        let head = format!("{head}Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n\r\n");
        self.stream.get_mut().write_all(head.as_bytes()).unwrap();
        let (mut set, mut length, mut closes, mut status) = (None, 0, false, String::new());
        self.stream.read_line(&mut status).unwrap();
        assert!(status.starts_with("HTTP/1.1 200"), "{method} {path}: {status}");
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "set-cookie" => set = value.split(';').next().map(str::to_owned),
                "content-length" => length = value.parse().unwrap(),
                "connection" => closes = value == "close",
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        if closes {
            *self = Self::new(self.server);
        }
        (set, String::from_utf8(body).unwrap())
    }
}

fn requests_of_a_hundred_users_are_never_mixed_up() {
    for model in [
        &["--workers", "4"][..],
        &["--mpm", "prefork", "--workers", "4", "--set", "max_workers=8", "--set", "concurrency=8"],
    ] {
        let server = Server::start(model);
        let mut first = Shared::new(&server);
        let sign_in = |number| {
            let name = format!("user-{number}");
            let (cookie, _) = first.ask("POST", &format!("/session/log-in/{name}"), "none=0");
            User { name, cookie: cookie.expect("a session"), visits: AtomicUsize::new(0) }
        };
        let users: Vec<User> = (0..100).map(sign_in).collect();
        let cookies: HashSet<&str> = users.iter().map(|user| &*user.cookie).collect();
        assert_eq!(cookies.len(), users.len());
        let client = |number: usize| {
            let mut connection = Shared::new(&server);
            for round in 0..1250 {
                // Each client takes the users in another order.
                let user = &users[(round * (2 * number + 1) + number) % users.len()];
                if round % 20 == number {
                    connection.ask("POST", "/session/visit", &user.cookie);
                    user.visits.fetch_add(1, Ordering::Relaxed);
                } else {
                    let (_, who) = connection.ask("GET", "/session/who", &user.cookie);
                    assert_eq!(who.split(' ').next().unwrap(), user.name, "{model:?}");
                }
            }
        };
        let client = &client;
        thread::scope(|threads| {
            for number in 0..CLIENTS {
                threads.spawn(move || client(number));
            }
        });
        for user in &users {
            let (_, who) = first.ask("GET", "/session/who", &user.cookie);
            assert_eq!(who, format!("{} {}", user.name, user.visits.load(Ordering::Relaxed)), "{model:?}");
        }
    }
}
