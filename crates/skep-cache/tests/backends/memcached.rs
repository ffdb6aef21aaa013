//! The driver `memcached` on real servers.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use skep_cache::driver::{Claim, Header, Record, Token, When};
use skep_cache::memcached::{Builder, Failover};
use skep_cache::{Clock, Driver, Memcached};

use crate::process::{self, Process, on_runtime, until};

/// memcached on a unix socket in its folder.
fn on_socket() -> Process {
    let arguments = |folder: &Path| vec!["-s".to_owned(), folder.join("m.sock").display().to_string()];
    let server = start(arguments, &[]);
    process::wait_for("memcached", || process::listens_on_path(&server.path("m.sock")));
    server
}

fn on_port(port: u16, more: &[&str]) -> Process {
    let server = start(|_| vec!["-l".to_owned(), "127.0.0.1".to_owned(), "-p".to_owned(), port.to_string()], more);
    process::wait_for("memcached", || process::listens_on_port(port));
    server
}

fn start(arguments: impl FnOnce(&Path) -> Vec<String>, more: &[&str]) -> Process {
    Process::start("memcached", |folder| {
        let mut all = arguments(folder);
        all.extend(["-u", "root", "-t", "1", "-U", "0"].map(str::to_owned));
        all.extend(more.iter().map(|word| (*word).to_owned()));
        all
    })
}

fn at(server: &Process) -> Builder {
    Memcached::builder().server(server.path("m.sock").display().to_string(), 1)
}

fn record(clock: &Clock, value: &[u8]) -> Record {
    Record::new(&Header { version: clock.version(), ..Header::default() }, &[], value)
}

async fn put(driver: &Memcached, key: &str, value: &str) -> skep_cache::Result<bool> {
    let clock = Clock::system();
    driver.set(key.as_bytes(), &record(&clock, value.as_bytes()), When::Always, clock.now()).await
}

async fn get(driver: &Memcached, key: &str) -> skep_cache::Result<Option<String>> {
    let read = |entry: skep_cache::driver::Entry<'_>| String::from_utf8_lossy(entry.value()).into_owned();
    driver.get(key.as_bytes(), Clock::system().now(), read).await
}

mod over_a_unix_socket {
    use super::*;

    fn driver() -> Memcached {
        static SERVER: OnceLock<Process> = OnceLock::new();
        at(SERVER.get_or_init(on_socket)).build().unwrap()
    }

    skep_cache::suite!(driver(), on on_runtime);
}

mod sealed {
    use skep_cache::{SealKeys, Sealed};

    use super::*;

    fn driver() -> Sealed<Memcached> {
        static SERVER: OnceLock<Process> = OnceLock::new();
        let memcached = at(SERVER.get_or_init(on_socket)).build().unwrap();
        Sealed::new(memcached, SealKeys::parse(&"5e".repeat(32)).unwrap())
    }

    skep_cache::suite!(driver(), on on_runtime);
}

mod over_tcp_on_three_servers {
    use super::*;

    fn driver() -> Memcached {
        static SERVERS: OnceLock<[(Process, u16); 3]> = OnceLock::new();
        let servers = SERVERS.get_or_init(|| {
            std::array::from_fn(|_| {
                let port = process::free_port();
                (on_port(port, &[]), port)
            })
        });
        let add = |builder: Builder, (_, port): &(Process, u16)| builder.server(format!("127.0.0.1:{port}"), 1);
        servers.iter().fold(Memcached::builder(), add).connections(2).build().unwrap()
    }

    skep_cache::suite!(driver(), on on_runtime);
}

#[test]
fn many_tasks_share_a_connection_and_each_gets_its_own_answer() {
    let server = on_socket();
    let driver = Arc::new(at(&server).build().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..64_u32)
            .map(|task| {
                let driver = Arc::clone(&driver);
                tokio::spawn(async move {
                    for round in 0..50_u32 {
                        let key = format!("{task}:{round}");
                        let value = format!("{key}:{}", "v".repeat((task * round) as usize));
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

#[test]
fn a_caller_who_gives_up_leaves_the_others_their_answers() {
    let server = on_socket();
    let driver = at(&server).build().unwrap();
    on_runtime(async {
        put(&driver, "a", "for a").await.unwrap();
        put(&driver, "b", "for b").await.unwrap();
        for _ in 0..100 {
            let mut gives_up = Box::pin(get(&driver, "a"));
            // Sent, and dropped before its answer comes.
            let sent = std::future::poll_fn(|cx| Poll::Ready(gives_up.as_mut().poll(cx).is_pending())).await;
            assert!(sent);
            drop(gives_up);
            assert_eq!(get(&driver, "b").await.unwrap().as_deref(), Some("for b"));
        }
    });
}

#[test]
fn large_values_pass_and_too_large_ones_remove_what_they_should_replace() {
    let server = on_socket();
    let driver = at(&server).timeout(Duration::from_secs(5)).build().unwrap();
    let generous = at(&server).max_value(8 << 20).build().unwrap();
    on_runtime(async {
        let clock = Clock::system();
        let large = vec![b'x'; 1_000_000];
        assert!(driver.set(b"a", &record(&clock, &large), When::Always, clock.now()).await.unwrap());
        let length = driver.get(b"a", clock.now(), |entry| entry.value().len()).await.unwrap();
        assert_eq!(length, Some(1_000_000));
        for driver in [&driver, &generous] {
            put(driver, "a", "small").await.unwrap();
            let huge = vec![b'x'; 2 << 20];
            let error = driver.set(b"a", &record(&clock, &huge), When::Always, clock.now()).await.unwrap_err();
            assert!(error.is_too_large(), "{error}");
            assert_eq!(get(driver, "a").await.unwrap(), None);
        }
    });
}

#[test]
fn what_is_not_ours_is_an_error_once() {
    let server = on_socket();
    let driver = at(&server).build().unwrap();
    on_runtime(async {
        let mut raw = std::os::unix::net::UnixStream::connect(server.path("m.sock")).unwrap();
        raw.write_all(b"set a 0 0 7\r\nforeign\r\n").unwrap();
        raw.read_exact(&mut [0; 8]).unwrap();
        assert!(get(&driver, "a").await.unwrap_err().is_corrupt());
        assert_eq!(get(&driver, "a").await.unwrap(), None);
    });
}

#[test]
fn one_of_many_computes_across_connections() {
    let server = on_socket();
    let won: usize = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..8_u64)
            .map(|racer| {
                let server = &server;
                scope.spawn(move || {
                    let driver = at(server).build().unwrap();
                    on_runtime(async {
                        let (now, mut won) = (Clock::system().now(), 0);
                        for key in 0..50 {
                            let claim =
                                Claim { token: Token(racer * 1000 + key), until: now.plus(Duration::from_mins(1)) };
                            let lease = driver.lease(format!("{key}").as_bytes(), claim, now).await.unwrap();
                            won += usize::from(lease.is_some());
                        }
                        won
                    })
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).sum()
    });
    assert_eq!(won, 50);
}

#[test]
fn a_counter_loses_nothing_across_connections() {
    let server = on_socket();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let driver = at(&server).build().unwrap();
                on_runtime(async {
                    let clock = Clock::system();
                    let fresh = Record::new(&Header::default(), &[], &0_i64.to_le_bytes());
                    for _ in 0..50 {
                        driver.increment(b"n", 1, &fresh, clock.now()).await.unwrap();
                    }
                });
            });
        }
    });
    let driver = at(&server).build().unwrap();
    let fresh = Record::new(&Header::default(), &[], &0_i64.to_le_bytes());
    let sum = on_runtime(driver.increment(b"n", 0, &fresh, Clock::system().now())).unwrap();
    assert_eq!(sum, 200);
}

/// Time-outs that a test can wait for.
fn impatient(builder: Builder) -> Builder {
    let pause = Duration::from_millis(50);
    builder.timeout(Duration::from_millis(200)).connect_timeout(Duration::from_millis(200)).backoff(pause, pause)
}

#[test]
fn a_server_that_is_killed_fails_at_once_and_works_again_when_it_is_back() {
    let port = process::free_port();
    let server = on_port(port, &[]);
    let driver = impatient(Memcached::builder().server(format!("127.0.0.1:{port}"), 1)).build().unwrap();
    on_runtime(async {
        put(&driver, "a", "x").await.unwrap();
        drop(server);
        assert!(get(&driver, "a").await.unwrap_err().is_unreachable());
        assert_eq!(driver.unreachable_servers(), [format!("127.0.0.1:{port}")]);
        let error = get(&driver, "a").await.unwrap_err().to_string();
        assert!(error.contains("not tried again yet"), "{error}");
        let _server = on_port(port, &[]);
        until("the server that is there again", async || get(&driver, "a").await.is_ok()).await;
        assert_eq!(get(&driver, "a").await.unwrap(), None);
        put(&driver, "a", "y").await.unwrap();
        assert_eq!(get(&driver, "a").await.unwrap().as_deref(), Some("y"));
        assert!(driver.unreachable_servers().is_empty());
    });
}

#[test]
fn a_server_that_hangs_costs_the_time_limit_and_no_more() {
    let server = on_socket();
    let driver = Arc::new(impatient(at(&server)).build().unwrap());
    on_runtime(async {
        put(&driver, "a", "x").await.unwrap();
        server.signal("STOP");
        let waiting: Vec<_> = (0..20)
            .map(|_| {
                let driver = Arc::clone(&driver);
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
fn a_server_that_is_full_says_so() {
    let port = process::free_port();
    // It needs a dozen for itself.
    let _server = on_port(port, &["-c", "16"]);
    let drivers: Vec<_> = (0..16)
        .map(|_| impatient(Memcached::builder().server(format!("127.0.0.1:{port}"), 1)).build().unwrap())
        .collect();
    on_runtime(async {
        let mut refused = 0;
        for driver in &drivers {
            match get(driver, "a").await {
                Ok(_) => {}
                Err(error) => {
                    assert!(error.is_unreachable(), "{error}");
                    assert!(error.to_string().contains("Too many open connections"), "{error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 0, "16 connections to a server that takes fewer");
    });
}

/// Two servers, of which the second is then killed; keys, and whether each belonged to it.
fn one_of_two_dies(failover: Failover, then: impl AsyncFn(&Memcached, Vec<(String, bool)>)) {
    let ports = [process::free_port(), process::free_port()];
    let _first = on_port(ports[0], &[]);
    let second = on_port(ports[1], &[]);
    let name = |port: u16| format!("127.0.0.1:{port}");
    let both = Memcached::builder().server(name(ports[0]), 1).server(name(ports[1]), 1).failover(failover);
    let driver = impatient(both).build().unwrap();
    let only_first = Memcached::builder().server(name(ports[0]), 1).build().unwrap();
    on_runtime(async {
        let mut keys = Vec::new();
        for number in 0..40 {
            let key = format!("key:{number}");
            put(&driver, &key, "x").await.unwrap();
            let on_second = get(&only_first, &key).await.unwrap().is_none();
            keys.push((key, on_second));
        }
        let lost = keys.iter().filter(|(_, on_second)| *on_second).count();
        assert!((5..35).contains(&lost), "{lost} of 40 keys are on the second of two servers");
        drop(second);
        then(&driver, keys).await;
    });
}

#[test]
fn keys_of_a_dead_server_are_unreachable_and_the_others_are_not() {
    one_of_two_dies(Failover::Miss, async |driver, keys| {
        for (key, lost) in &keys {
            match get(driver, key).await {
                Ok(value) => assert!(!lost && value.is_some(), "{key}"),
                Err(error) => assert!(*lost && error.is_unreachable(), "{key}: {error}"),
            }
        }
        let all: Vec<_> = keys.iter().map(|(key, _)| key.as_bytes()).collect();
        let mut shown = Vec::new();
        let result = driver.get_many(&all, Clock::system().now(), |place, _| shown.push(place)).await;
        assert!(result.unwrap_err().is_unreachable());
        assert_eq!(shown.len(), keys.iter().filter(|(_, lost)| !lost).count(), "what is in reach is shown");
    });
}

#[test]
fn keys_of_a_dead_server_move_if_that_is_wanted() {
    one_of_two_dies(Failover::Move, async |driver, keys| {
        for (key, lost) in &keys {
            assert_eq!(get(driver, key).await.unwrap().is_none(), *lost, "{key}");
            put(driver, key, "again").await.unwrap();
            assert_eq!(get(driver, key).await.unwrap().as_deref(), Some("again"));
        }
    });
}

#[test]
fn a_stopped_runtime_takes_only_its_own_connections_along() {
    let server = on_socket();
    let driver = at(&server).build().unwrap();
    for round in 0..3 {
        on_runtime(async {
            put(&driver, "a", &round.to_string()).await.unwrap();
            assert_eq!(get(&driver, "a").await.unwrap(), Some(round.to_string()));
        });
    }
}

#[test]
fn without_a_runtime_the_error_says_so() {
    let driver = Memcached::builder().server("127.0.0.1:1", 1).build().unwrap();
    let error = skep_cache::driver::block_on(get(&driver, "a")).unwrap_err().to_string();
    assert_eq!(error, "the memcached driver needs a tokio runtime with I/O and time enabled");
}
