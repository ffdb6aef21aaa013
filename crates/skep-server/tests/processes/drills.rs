//! Disasters under load. Each prints what was lost, and holds what the documentation promises (`docs/processes.md`).
//!
//! As tests they are short; `cargo xtask drill` gives them more load.

use std::io::Read;
use std::net::TcpStream;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Signal, getrlimit, setrlimit};

use super::Test;
use super::load::{Load, Tally};
use super::server::{Server, command, deploy, deploy_bytes, folder, is_there, kill, memory};

pub(crate) const TESTS: &[Test] = &[
    ("drill_crash_with_a_process_per_request", drill_crash_with_a_process_per_request),
    ("drill_crash_with_threads", drill_crash_with_threads),
    ("drill_kill_workers", drill_kill_workers),
    ("drill_kill_the_supervisor", drill_kill_the_supervisor),
    ("drill_swap_under_load", drill_swap_under_load),
    ("drill_swap_to_broken_files", drill_swap_to_broken_files),
    ("drill_leak", drill_leak),
    ("drill_hang", drill_hang),
    ("drill_flood_then_term", drill_flood_then_term),
    ("drill_restart_bomb", drill_restart_bomb),
];

/// Set by `cargo xtask drill`: so many times the load of a test.
pub(crate) fn scale() -> u64 {
    std::env::var("DRILL_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

const HOW: [&str; 3] = ["/crash/segv", "/crash/abort", "/crash/exit"];

fn drill_crash_with_a_process_per_request() {
    for how in HOW {
        let server = Server::start(&["--mpm", "prefork", "--set", "requests_per_worker=1"]);
        let mut load = Load::new(&server.address);
        (load.connections, load.guilty) = (32, Some((1000, how)));
        let running = load.start();
        running.go_on_for(2500 * scale());
        let tally = running.stop();
        // Exactly the guilty requests fail.
        tally.assert_nothing_lost();
        assert!(Tally::of(&tally.guilty) >= 2, "{}", tally.text());
    }
}

fn drill_crash_with_threads() {
    for how in HOW {
        let server = Server::start(&["--workers", "2"]);
        let mut load = Load::new(&server.address);
        (load.connections, load.guilty) = (32, Some((1000, how)));
        let running = load.start();
        running.go_on_for(4000 * scale());
        let tally = running.stop();
        let guilty = Tally::of(&tally.guilty);
        assert!(guilty >= 3, "{}", tally.text());
        // Only what that process had in its hands: 32 connections at the most, one of which was guilty.
        assert!(Tally::of(&tally.cut) <= guilty * 31, "{}", tally.text());
        assert_eq!((Tally::of(&tally.refused), Tally::of(&tally.bad)), (0, 0), "{}", tally.text());
        let start = Instant::now();
        assert!(server.get(how).is_err());
        let guilty = start.elapsed();
        assert_eq!(server.get("/").unwrap(), "Hello, world!");
        println!("  the next request was served {:?} after the crash", start.elapsed().saturating_sub(guilty));
        assert!(cfg!(debug_assertions) || start.elapsed() < guilty + Duration::from_millis(50));
    }
}

fn drill_kill_workers() {
    const SINGLE: &[&str] = &["--mpm", "prefork", "--set", "requests_per_worker=1"];
    for arguments in [&["--workers", "2"][..], &["--mpm", "prefork", "--workers", "4"], SINGLE] {
        let mut server = Server::start(arguments);
        let running = Load::new(&server.address).start();
        for _ in 0..3 {
            running.go_on_for(200);
            let family = server.family();
            for pid in &family {
                kill(*pid, Signal::KILL);
            }
            server.wait_until("others are there", |server| {
                let now = server.family();
                !now.is_empty() && !now.iter().any(|pid| family.contains(pid))
            });
        }
        running.go_on_for(200);
        let tally = running.stop();
        assert_eq!((Tally::of(&tally.refused), Tally::of(&tally.bad)), (0, 0), "{}", tally.text());
        // Eight connections, three times.
        assert!(Tally::of(&tally.cut) <= 24, "{}", tally.text());
    }
}

fn drill_kill_the_supervisor() {
    for arguments in [&["--workers", "2"][..], &["--mpm", "prefork", "--workers", "4"]] {
        let mut server = Server::start(arguments);
        let mut load = Load::new(&server.address);
        (load.path, load.connections) = ("/slow/50", 8);
        let running = load.start();
        running.go_on_for(40);
        let family = server.family();
        server.signal(Signal::KILL);
        server.wait_until("nothing is orphaned", |_| !family.iter().any(|pid| is_there(*pid)));
        let again = Server::start(&[arguments, &["--listen", &server.address]].concat());
        running.go_on_for(40);
        let tally = running.stop();
        // What had begun was finished: at worst, those that the kernel had in its queue are reset.
        println!("  {} of them while nobody listened", Tally::of(&tally.refused));
        assert!(Tally::of(&tally.cut) <= 8, "{}", tally.text());
        drop(again);
    }
}

fn drill_swap_under_load() {
    for (model, requests) in [("thread", 1), ("thread", 1_000_000), ("prefork", 1), ("prefork", 1_000_000)] {
        let folder = folder();
        deploy(&folder.join("app"), "0");
        let server = Server::start_in(folder, &["--mpm", model, "--workers", "2"]);
        let mut load = Load::new(&server.address);
        (load.path, load.connections, load.requests, load.remember) = ("/version", 8, requests, true);
        load.pause = Duration::from_micros(500);
        let running = load.start();
        for version in 1..=(4 * scale()).min(20) {
            running.go_on_for(20);
            deploy(&server.folder.join("app"), &version.to_string());
            let (good, text) = server.control("swap");
            assert!(good, "{text}");
            // Whoever comes now, comes after the swap.
            assert_eq!(server.get("/version").unwrap(), version.to_string());
        }
        let tally = running.stop();
        tally.assert_nothing_lost();
        let mut mixed = 0;
        for bodies in tally.seen.lock().unwrap().iter() {
            mixed += bodies.windows(2).filter(|pair| pair[0] != pair[1]).count();
        }
        assert_eq!(mixed, 0, "one connection saw two versions");
    }
}

fn drill_swap_to_broken_files() {
    for model in ["thread", "prefork"] {
        let folder = folder();
        deploy(&folder.join("app"), "good");
        let server = Server::start_in(folder, &["--mpm", model, "--set", "start_timeout=1s"]);
        let app = server.folder.join("app");
        let bytes = std::fs::read(&app).unwrap();
        let mut load = Load::new(&server.address);
        (load.path, load.remember) = ("/version", true);
        let running = load.start();
        let mut foreign = bytes.clone();
        foreign[18] ^= 0xff;
        let ways: [Box<dyn Fn()>; 4] = [
            Box::new(|| deploy_bytes(&app, &bytes[..bytes.len() / 3])),
            Box::new(|| deploy_bytes(&app, &foreign)),
            Box::new(|| deploy(&app, "dies")),
            Box::new(|| deploy(&app, "waits")),
        ];
        for way in &ways {
            way();
            assert!(!server.control("swap").0);
            running.go_on_for(100);
        }
        let tally = running.stop();
        tally.assert_nothing_lost();
        assert!(tally.seen.lock().unwrap().iter().flatten().all(|version| version == "good"));
    }
}

fn drill_leak() {
    for arguments in [&["--workers", "2"][..], &["--mpm", "prefork", "--workers", "2"]] {
        let server = Server::start(&[arguments, &["--set", "max_memory=100MiB"]].concat());
        let mut load = Load::new(&server.address);
        // About 200 MB a second.
        (load.path, load.connections, load.pause) = ("/leak", 4, Duration::from_millis(10));
        let running = load.start();
        let start = Instant::now();
        let mut most = 0;
        while start.elapsed() < Duration::from_secs(3 * scale().min(5)) {
            let each = server.family().into_iter().map(memory);
            most = most.max(each.max().unwrap_or_default());
            thread::sleep(Duration::from_millis(20));
        }
        let tally = running.stop();
        println!("  {} MiB forgotten, {} MiB in the largest process", Tally::of(&tally.good), most >> 10);
        tally.assert_nothing_lost();
        assert!(Tally::of(&tally.good) > 250, "{}", tally.text());
        // It is looked at twice a second, and goes on while its successor starts.
        assert!(most >> 10 < 450, "{} MiB", most >> 10);
    }
}

fn drill_hang() {
    for arguments in [&["--workers", "2"][..], &["--mpm", "prefork", "--workers", "2"]] {
        let mut server = Server::start(&[arguments, &["--set", "hang_timeout=3s", "--set", "grace=1s"]].concat());
        let family = server.family();
        let _hung = TcpStream::connect(&server.address).map(|mut stream| {
            std::io::Write::write_all(&mut stream, b"GET /hang HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            stream
        });
        let start = Instant::now();
        server.wait_until("it is replaced", |server| server.errors().contains("; another takes its place"));
        let server_address = server.address.clone();
        let mut load = Load::new(&server_address);
        load.connections = 16;
        let running = load.start();
        running.go_on_for(100);
        println!("  replaced and serving all again {:?} after it hung", start.elapsed());
        assert!(start.elapsed() <= Duration::from_secs(3), "{:?}", start.elapsed());
        running.stop().assert_nothing_lost();
        server.wait_until("its stack is in the log", |server| server.errors().contains("hang_for_ever"));
        assert!(server.errors().contains("hangs"), "{}", server.errors());
        server.wait_until("one of the old is gone", |_| family.iter().any(|pid| !is_there(*pid)));
    }
}

fn drill_flood_then_term() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let count = limit.maximum.unwrap_or(u64::MAX).saturating_sub(300).min(2000 * scale().min(5));
    let mut server = Server::start(&["--workers", "2", "--set", "limits.header_time=10m"]);
    let mut clients: Vec<TcpStream> = (0..count).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    for client in clients.iter_mut().step_by(2) {
        std::io::Write::write_all(client, b"GET / HTTP/1.1\r\nHost: x\r\n").unwrap();
    }
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    let memory: u64 = server.family().into_iter().map(memory).sum();
    let start = Instant::now();
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0), "{}", server.errors());
    println!("  {count} connections, {memory} KiB; drained in {:?}", start.elapsed());
    assert!(memory < 24 * count + 30_000, "{memory} KiB");
    assert!(start.elapsed() < Duration::from_secs(14), "{:?}", start.elapsed());
    assert!(clients.iter_mut().all(|client| matches!(client.read(&mut [0; 16]), Ok(0) | Err(_))));
}

fn drill_restart_bomb() {
    for model in ["thread", "prefork"] {
        let folder = folder();
        deploy(&folder.join("app"), "dies");
        let mut command = command(&folder, &["--listen", "127.0.0.1:0", "--mpm", model]);
        let start = Instant::now();
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        println!("  gave up after {:?} with {:?}", start.elapsed(), output.status.code());
        assert_eq!(output.status.code(), Some(70), "{errors}");
        assert!(errors.contains("died before it was ready: signal 6 (ABRT"), "{errors}");
        assert!(start.elapsed() >= Duration::from_millis(100), "no busy loop");
        assert!(errors.matches("a worker did not start").count() <= 5, "{errors}");
    }
    // One that was ready once is tried again and again, ever more slowly.
    let mut server = Server::start(&[]);
    let mut last = server.pid();
    for _ in 0..6 {
        server
            .wait_until("there is another", |server| server.family().iter().any(|pid| *pid != last && is_there(*pid)));
        last = server.family()[0];
        kill(last, Signal::KILL);
    }
    server.wait_until("it is named", |server| server.errors().contains("crash loop: 5 workers died young"));
    assert_eq!(server.status("crash_loop"), "true");
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
}
