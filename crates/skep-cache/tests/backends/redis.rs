//! The driver `redis` on real servers.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use skep_cache::driver::{Change, Claim, Header, Record, Removal, Token, When};
use skep_cache::redis::Builder;
use skep_cache::{Clock, Driver, Redis};

use crate::process::{self, Process, on_runtime, until};

/// Redis on a unix socket in its folder.
pub(crate) fn on_socket() -> Process {
    let arguments = |folder: &Path| {
        let socket = folder.join("r.sock").display().to_string();
        ["--port", "0", "--unixsocket", &socket, "--save", ""].map(str::to_owned).to_vec()
    };
    let server = Process::start("redis-server", arguments);
    process::wait_for("redis-server", || process::listens_on_path(&server.path("r.sock")));
    server
}

fn on_port(port: u16) -> Process {
    let server = Process::start("redis-server", |_| {
        ["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""].map(str::to_owned).to_vec()
    });
    process::wait_for("redis-server", || process::listens_on_port(port));
    server
}

fn at(server: &Process) -> Builder {
    Redis::builder(format!("unix://{}", server.path("r.sock").display()))
}

fn record(value: &str) -> Record {
    Record::new(&Header { version: Clock::system().version(), ..Header::default() }, &[], value.as_bytes())
}

async fn put(driver: &Redis, key: &str, value: &str) -> skep_cache::Result<bool> {
    driver.set(key.as_bytes(), &record(value), When::Always, Clock::system().now()).await
}

async fn get(driver: &Redis, key: &str) -> skep_cache::Result<Option<String>> {
    let read = |entry: skep_cache::driver::Entry<'_>| String::from_utf8_lossy(entry.value()).into_owned();
    driver.get(key.as_bytes(), Clock::system().now(), read).await
}

mod over_a_unix_socket {
    use super::*;

    fn driver() -> Redis {
        static SERVER: OnceLock<Process> = OnceLock::new();
        at(SERVER.get_or_init(on_socket)).build().unwrap()
    }

    skep_cache::suite!(driver(), on on_runtime);
}

mod sealed {
    use skep_cache::{SealKeys, Sealed};

    use super::*;

    fn driver() -> Sealed<Redis> {
        static SERVER: OnceLock<Process> = OnceLock::new();
        let redis = at(SERVER.get_or_init(on_socket)).build().unwrap();
        Sealed::new(redis, SealKeys::parse(&"5e".repeat(32)).unwrap())
    }

    skep_cache::suite!(driver(), on on_runtime);
}

#[cfg(feature = "redis-cluster")]
mod in_a_cluster_of_three {
    use std::process::Command;

    use super::*;

    struct Cluster {
        _nodes: Vec<Process>,
        ports: Vec<u16>,
    }

    fn start() -> Cluster {
        // The nodes talk to each other on ports of their own, 10 000 above, unless told otherwise.
        let ports: Vec<u16> = (0..3).map(|_| process::free_port()).collect();
        let nodes = ports.iter().map(|port| {
            Process::start("redis-server", |_| {
                let (port, bus) = (port.to_string(), process::free_port().to_string());
                [
                    "--port",
                    &port,
                    "--cluster-port",
                    &bus,
                    "--bind",
                    "127.0.0.1",
                    "--cluster-enabled",
                    "yes",
                    "--save",
                    "",
                ]
                .map(str::to_owned)
                .to_vec()
            })
        });
        let nodes: Vec<_> = nodes.collect();
        for port in &ports {
            process::wait_for("redis-server", || process::listens_on_port(*port));
        }
        let mut create = Command::new("redis-cli");
        create.args(["--cluster", "create"]).args(ports.iter().map(|port| format!("127.0.0.1:{port}")));
        let made = create.args(["--cluster-replicas", "0", "--cluster-yes"]).output().expect("there is redis-cli");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
        process::wait_for("the cluster", || {
            ports.iter().all(|port| {
                let info = Command::new("redis-cli").args(["-p", &port.to_string(), "cluster", "info"]).output();
                String::from_utf8_lossy(&info.unwrap().stdout).contains("cluster_state:ok")
            })
        });
        Cluster { _nodes: nodes, ports }
    }

    fn driver() -> Redis {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        let ports = &CLUSTER.get_or_init(start).ports;
        let patience = Duration::from_secs(5);
        let nodes = ports.iter().map(|port| format!("redis://127.0.0.1:{port}"));
        Redis::cluster(nodes).timeout(patience).connect_timeout(patience).build().unwrap()
    }

    skep_cache::suite!(driver(), on on_runtime);

    #[test]
    fn many_keys_of_all_nodes_come_in_one_call() {
        on_runtime(async {
            let driver = driver();
            let keys: Vec<_> = (0..100).map(|number| format!("all-nodes:{number}").into_bytes()).collect();
            let entries: Vec<_> = keys.iter().map(|key| (key.as_slice(), record("x"))).collect();
            driver.set_many(&entries, Clock::system().now()).await.unwrap();
            let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
            let mut places = Vec::new();
            driver.get_many(&keys, Clock::system().now(), |place, _| places.push(place)).await.unwrap();
            places.sort_unstable();
            assert_eq!(places, (0..100).collect::<Vec<_>>());
        });
    }
}

#[test]
fn many_tasks_share_a_connection_and_each_gets_its_own_answer() {
    let server = on_socket();
    let driver = at(&server).timeout(Duration::from_secs(5)).build().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..64_u32)
            .map(|task| {
                let driver = driver.clone();
                tokio::spawn(async move {
                    for round in 0..50_u32 {
                        let (key, value) = (format!("{task}:{round}"), format!("value of {task}:{round}"));
                        assert!(put(&driver, &key, &value).await.unwrap());
                        assert_eq!(get(&driver, &key).await.unwrap(), Some(value));
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// The script counts in halves of 32 bits; these are the places where that can go wrong.
#[test]
fn a_counter_counts_all_64_bits() {
    let server = on_socket();
    let driver = at(&server).build().unwrap();
    on_runtime(async {
        let now = Clock::system().now();
        let edges = [0, 1, -1, i64::from(u32::MAX), 1 << 32, -(1 << 32), i64::MAX, i64::MIN, i64::MAX - 1, 1 << 53];
        for (case, (start, by)) in edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b))).enumerate() {
            let key = format!("edge:{case}").into_bytes();
            let fresh = Record::new(&Header::default(), &[], &start.to_le_bytes());
            assert_eq!(driver.increment(&key, 0, &fresh, now).await.unwrap(), start);
            assert_eq!(
                driver.increment(&key, by, &fresh, now).await.unwrap(),
                start.saturating_add(by),
                "{start} {by}"
            );
        }
    });
}

#[test]
fn versions_are_compared_in_all_64_bits() {
    let server = on_socket();
    let driver = at(&server).build().unwrap();
    on_runtime(async {
        let now = Clock::system().now();
        let edges = [1, 255, 256, u64::from(u32::MAX), 1 << 32, (1 << 53) + 1, (1 << 53) + 2, 1 << 63, u64::MAX];
        for (case, (old, new)) in edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b))).enumerate() {
            let key = format!("edge:{case}").into_bytes();
            let of = |version| skep_cache::Version::from_u64(version);
            let removal = Removal { version: of(old), until: now.plus(Duration::from_mins(1)) };
            driver.remove(&key, removal, now).await.unwrap();
            let record = Record::new(&Header { version: of(new), ..Header::default() }, &[], b"x");
            assert_eq!(driver.set(&key, &record, When::Newer, now).await.unwrap(), new > old, "{old} {new}");
        }
    });
}

#[test]
fn what_is_not_ours_is_an_error_once() {
    let server = on_socket();
    let driver = at(&server).build().unwrap();
    let cli = |words: &[&str]| {
        let mut cli = std::process::Command::new("redis-cli");
        assert!(cli.arg("-s").arg(server.path("r.sock")).args(words).output().unwrap().status.success());
    };
    on_runtime(async {
        cli(&["set", "a", "foreign"]);
        assert!(get(&driver, "a").await.unwrap_err().is_corrupt());
        assert_eq!(get(&driver, "a").await.unwrap(), None);
        cli(&["lpush", "list", "foreign"]);
        let error = get(&driver, "list").await.unwrap_err();
        assert!(error.to_string().contains("WRONGTYPE"), "{error}");
    });
}

#[test]
fn one_of_many_computes_across_connections() {
    let server = on_socket();
    let won: usize = std::thread::scope(|scope| {
        let racer = |racer: u64| {
            let driver = at(&server).build().unwrap();
            on_runtime(async {
                let (now, mut won) = (Clock::system().now(), 0);
                for key in 0..50 {
                    let claim = Claim { token: Token(racer * 1000 + key), until: now.plus(Duration::from_mins(1)) };
                    let lease = driver.lease(format!("{key}").as_bytes(), claim, now).await.unwrap();
                    won += usize::from(lease.is_some());
                }
                won
            })
        };
        let racers: Vec<_> = (0..8).map(|number| scope.spawn(move || racer(number))).collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).sum()
    });
    assert_eq!(won, 50);
}

/// Time-outs that a test can wait for.
fn impatient(builder: Builder) -> Builder {
    let pause = Duration::from_millis(50);
    builder.timeout(Duration::from_millis(200)).connect_timeout(Duration::from_millis(200)).backoff(pause, pause)
}

#[test]
fn a_server_that_is_killed_fails_at_once_and_works_again_when_it_is_back() {
    let port = process::free_port();
    let server = on_port(port);
    let driver = impatient(Redis::builder(format!("redis://127.0.0.1:{port}"))).build().unwrap();
    on_runtime(async {
        put(&driver, "a", "x").await.unwrap();
        drop(server);
        while !driver.is_unreachable() {
            let error = get(&driver, "a").await.unwrap_err();
            assert!(error.is_unreachable(), "{error}");
        }
        let error = get(&driver, "a").await.unwrap_err().to_string();
        assert!(error.contains("not tried again yet"), "{error}");
        let _server = on_port(port);
        until("the server that is there again", async || put(&driver, "a", "y").await.is_ok()).await;
        assert_eq!(get(&driver, "a").await.unwrap().as_deref(), Some("y"));
    });
}

#[test]
fn a_server_that_hangs_costs_the_time_limit_and_no_more() {
    let server = on_socket();
    let driver = impatient(at(&server)).build().unwrap();
    on_runtime(async {
        put(&driver, "a", "x").await.unwrap();
        server.signal("STOP");
        let waiting: Vec<_> = (0..20)
            .map(|_| {
                let driver = driver.clone();
                tokio::spawn(async move { get(&driver, "a").await })
            })
            .collect();
        for waiting in waiting {
            let error = waiting.await.unwrap().unwrap_err();
            assert!(error.is_unreachable(), "{error}");
        }
        server.signal("CONT");
        until("the server that goes on", async || get(&driver, "a").await.is_ok()).await;
        assert_eq!(get(&driver, "a").await.unwrap().as_deref(), Some("x"));
    });
}

#[test]
fn garbage_ends_with_the_time_limit_or_before() {
    use std::io::{Read, Write};
    for garbage in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"$100\r\nhalf", b""] {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(garbage).unwrap();
            // Until the client closes.
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let driver = impatient(Redis::builder(format!("redis://127.0.0.1:{port}"))).build().unwrap();
        let error = on_runtime(get(&driver, "a")).unwrap_err();
        assert!(error.is_unreachable(), "{error}");
    }
}

#[test]
fn what_others_change_is_heard_and_so_is_silence() {
    let server = on_socket();
    let heard = Arc::new(Mutex::new(Vec::new()));
    on_runtime(async {
        let (driver, other) = (at(&server).build().unwrap(), at(&server).build().unwrap());
        let writes = Arc::clone(&heard);
        let listening = driver.watch(Arc::new(move |change: Change<'_>| {
            writes.lock().unwrap().push(match change {
                Change::Key(key) => String::from_utf8_lossy(key).into_owned(),
                _ => "everything".to_owned(),
            });
        }));
        assert!(listening);
        let wait_for = async |what: &str| {
            let start = Instant::now();
            loop {
                if std::mem::take(&mut *heard.lock().unwrap()).iter().any(|heard| heard == what) {
                    return;
                }
                assert!(start.elapsed() < Duration::from_secs(10), "{what} is not heard");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        wait_for("everything").await;
        put(&other, "set", "x").await.unwrap();
        wait_for("set").await;
        let now = Clock::system().now();
        other
            .remove(
                b"removed",
                Removal { version: Clock::system().version(), until: now.plus(Duration::from_secs(9)) },
                now,
            )
            .await
            .unwrap();
        wait_for("removed").await;
        server.signal("KILL");
        wait_for("everything").await;
    });
}

#[test]
fn without_a_runtime_the_error_says_so() {
    let driver = Redis::builder("redis://127.0.0.1:1").build().unwrap();
    let error = skep_cache::driver::block_on(get(&driver, "a")).unwrap_err().to_string();
    assert_eq!(error, "the redis driver needs a tokio runtime with I/O and time enabled");
}
