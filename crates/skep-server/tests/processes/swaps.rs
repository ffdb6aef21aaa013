//! Another version takes over, or does not.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Test;
use super::server::{Server, deploy, deploy_bytes, folder, is_stopped, is_there, kill, nothing_is_lost, title};
use skep_drill::{Load, ask};

pub(crate) const TESTS: &[Test] = &[
    ("a_swap_brings_the_version_on_disk", a_swap_brings_the_version_on_disk),
    ("a_kept_connection_learns_of_a_swap_from_an_answer", a_kept_connection_learns_of_a_swap_from_an_answer),
    (
        "a_swap_is_not_reported_while_the_old_version_may_accept",
        a_swap_is_not_reported_while_the_old_version_may_accept,
    ),
    ("a_version_that_is_not_well_changes_nothing", a_version_that_is_not_well_changes_nothing),
    ("a_dead_worker_is_replaced_by_the_version_that_served", a_dead_worker_is_replaced_by_the_version_that_served),
    ("a_file_that_is_watched_is_swapped_to", a_file_that_is_watched_is_swapped_to),
    ("the_supervisor_itself_is_upgraded", the_supervisor_itself_is_upgraded),
    ("an_upgrade_keeps_the_channel_of_the_retiring_worker", an_upgrade_keeps_the_channel_of_the_retiring_worker),
    ("prefork_swaps", prefork_swaps),
    (
        "a_migration_that_does_more_than_add_waits_to_be_allowed",
        a_migration_that_does_more_than_add_waits_to_be_allowed,
    ),
];

/// A folder with a version in it.
fn deployed(version: &str) -> PathBuf {
    let folder = folder();
    deploy(&folder.join("app"), version);
    folder
}

fn a_swap_brings_the_version_on_disk() {
    let mut server = Server::start_in(deployed("one"), &[]);
    assert_eq!(server.get("/version").unwrap(), "one");
    let before = server.status("version");
    deploy(&server.folder.join("app"), "two");
    assert_eq!(server.get("/version").unwrap(), "one");
    let (good, text) = server.control("swap");
    assert!(good && text.starts_with("swapped: version "), "{text}");
    assert_eq!(server.get("/version").unwrap(), "two");
    assert_ne!(server.status("version"), before);
    deploy(&server.folder.join("app"), "three");
    server.signal(Signal::HUP);
    server.wait_until("the new version serves", |server| server.get("/version").unwrap() == "three");
    server.wait_until("the old one is gone", |server| server.family().len() == 1);
    assert_eq!(title(server.family()[0]), "skep: worker 3, ready");
    assert_eq!(server.status("swap_succeeded"), "true");
}

fn a_kept_connection_learns_of_a_swap_from_an_answer() {
    let server = Server::start_in(deployed("one"), &[]);
    let mut kept = TcpStream::connect(&server.address).unwrap();
    kept.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert!(!ask(&mut kept, "/version", false).unwrap().closes);
    deploy(&server.folder.join("app"), "two");
    assert!(server.control("swap").0);
    let answer = ask(&mut kept, "/version", false).unwrap();
    assert!(answer.closes && answer.body == "one", "{}", answer.body);
    assert_eq!(kept.read(&mut [0; 10]).unwrap(), 0);
}

fn a_swap_is_not_reported_while_the_old_version_may_accept() {
    for model in ["thread", "prefork"] {
        let mut server = Server::start_in(deployed("one"), &["--mpm", model, "--workers", "2"]);
        deploy(&server.folder.join("app"), "two");
        // As on a machine so busy that they get no time. A parent may still have forked a process when it was stopped.
        server.wait_until("all are stopped", |server| {
            let family = server.family();
            for process in &family {
                kill(*process, Signal::STOP);
            }
            family.iter().all(|process| is_stopped(*process)) && server.family() == family
        });
        let old = server.family();
        let since = Instant::now();
        assert!(server.control("swap").0);
        let waited = since.elapsed();
        assert!(
            waited > Duration::from_secs(1),
            "{model}: reported after {waited:?}, while the old version may accept"
        );
        assert_eq!(server.get("/version").unwrap(), "two");
        for process in &old {
            kill(*process, Signal::CONT);
        }
        server.wait_until("the old version is gone", |server| {
            old.iter().all(|process| !server.family().contains(process))
        });
    }
}

/// What it is called, how it is put there, and what is said of it.
type Broken<'b> = (&'static str, Box<dyn Fn() + 'b>, &'static str);

fn a_version_that_is_not_well_changes_nothing() {
    let mut server = Server::start_in(deployed("one"), &["--set", "start_timeout=2s", "--set", "probe=/"]);
    let app = server.folder.join("app");
    let good = fs::read(&app).unwrap();
    let mut foreign = good.clone();
    foreign[18] ^= 0xff;
    let broken: [Broken<'_>; 7] = [
        ("truncated", Box::new(|| deploy_bytes(&app, &good[..good.len() / 2])), "not complete"),
        ("foreign", Box::new(|| deploy_bytes(&app, &foreign)), "another kind of machine"),
        ("a script", Box::new(|| deploy_bytes(&app, &b"#!/bin/sh\nexit 0\n".repeat(20))), "not an ELF executable"),
        ("dies", Box::new(|| deploy(&app, "dies")), "exited before it was ready: signal 6 (ABRT"),
        ("refuses", Box::new(|| deploy(&app, "refuses")), "this version does not want to start"),
        ("never ready", Box::new(|| deploy(&app, "waits")), "was not ready within 2s"),
        ("unwell", Box::new(|| deploy(&app, "unwell")), "the probe / failed with 500"),
    ];
    for (name, deploy, reason) in &broken {
        deploy();
        let (good, text) = server.control("swap");
        assert!(!good && text.contains("not swapped: ") && text.contains(reason), "{name}: {text}");
        assert_eq!(server.get("/version").unwrap(), "one", "{name}");
        assert!(server.control("status").1.contains("last swap: FAILED"), "{name}");
    }
    fs::remove_file(&app).unwrap();
    deploy(&app, "two");
    assert!(server.control("swap").0);
    assert_eq!(server.get("/version").unwrap(), "two");
    server.wait_until("nothing is left of them", |server| server.family().len() == 1);
}

fn a_dead_worker_is_replaced_by_the_version_that_served() {
    let server = Server::start_in(deployed("one"), &[]);
    deploy(&server.folder.join("app"), "two");
    assert!(server.get("/crash/abort").is_err());
    assert_eq!(server.get("/version").unwrap(), "one");
}

fn a_file_that_is_watched_is_swapped_to() {
    let mut server = Server::start_in(deployed("one"), &["--set", "swap.watch=true"]);
    deploy(&server.folder.join("app"), "two");
    server.wait_until("the new version serves", |server| server.get("/version").unwrap() == "two");
    // Half a file is not a version, and what is written in place is seen when it is whole.
    let app = server.folder.join("app");
    let whole = fs::read(&app).unwrap();
    fs::remove_file(&app).unwrap();
    deploy_bytes(&app, &whole[..whole.len() - 100_000]);
    server.wait_until("the log says so", |server| server.errors().contains("not complete"));
    let file = fs::File::options().write(true).open(&app).unwrap();
    let mut rest = whole.clone();
    let mark = whole.len() - skep_drill::MARK;
    rest[mark..].copy_from_slice(format!("\nversion {:<23}", "three").as_bytes());
    file.write_all_at(&rest, 0).unwrap();
    drop(file);
    server.wait_until("the whole one serves", |server| server.get("/version").unwrap() == "three");
}

fn the_supervisor_itself_is_upgraded() {
    let mut server = Server::start_in(deployed("one"), &["--set", "pid_file=pid", "--listen", "unix:socket"]);
    let load = Load::new(&server.address).start();
    load.go_on_for(50).unwrap();
    deploy(&server.folder.join("app"), "two");
    let (good, text) = server.control("upgrade");
    assert!(good, "{text}");
    server.wait_until("it says so", |server| server.errors().contains("the supervisor runs version"));
    assert_eq!(server.get("/version").unwrap(), "two");
    let exe = fs::read(format!("/proc/{}/exe", server.pid())).unwrap();
    assert!(exe.ends_with(format!("\nversion {:<23}", "two").as_bytes()), "the supervisor runs the new file");
    assert!(server.folder.join("pid").exists());
    // It still is a supervisor: of a worker that another program has started.
    let worker = server.worker();
    super::server::kill(worker, Signal::TERM);
    server.wait_until("a worker is replaced", |server| server.worker() != worker);
    load.go_on_for(50).unwrap();
    nothing_is_lost(load);
    let family = server.family();
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0));
    assert!(!family.iter().any(|pid| is_there(*pid)));
    assert!(!server.folder.join("socket").exists(), "what the former program has bound is removed, too");
}

/// Without its channel, the retiring worker would close idle connections at once, without `Connection: close`.
fn an_upgrade_keeps_the_channel_of_the_retiring_worker() {
    let learns_of_upgrade = || {
        let mut server = Server::start_in(deployed("one"), &[]);
        let mut kept = TcpStream::connect(&server.address).unwrap();
        assert!(!ask(&mut kept, "/version", false).unwrap().closes);
        // An unfinished request keeps the old worker alive.
        let mut busy = TcpStream::connect(&server.address).unwrap();
        busy.write_all(b"GET /version HTTP/1.1\r\n").unwrap();
        deploy(&server.folder.join("app"), "two");
        let (good, text) = server.control("upgrade");
        assert!(good, "{text}");
        let response = ask(&mut kept, "/version", false);
        server.wait_until("the supervisor has been upgraded", |server| {
            server.errors().contains("the supervisor runs version")
        });
        let knows_it = server.control("status json").1.contains("\"state\":\"retiring\"");
        busy.write_all(b"Host: x\r\n\r\n").unwrap();
        let mut text = String::new();
        busy.read_to_string(&mut text).unwrap();
        knows_it && text.ends_with("one") && response.is_ok_and(|response| response.closes && response.body == "one")
    };
    // A retiring worker closes idle connections after a second, and ends a head after ten, which may pass on a busy
    // machine.
    assert!((0..5).any(|_| learns_of_upgrade()));
}

fn prefork_swaps() {
    let mut server = Server::start_in(deployed("one"), &["--mpm", "prefork", "--set", "requests_per_worker=1"]);
    let load = Load::new(&server.address).start();
    load.go_on_for(50).unwrap();
    deploy(&server.folder.join("app"), "two");
    assert!(server.control("swap").0);
    assert_eq!(server.get("/version").unwrap(), "two");
    load.go_on_for(50).unwrap();
    deploy(&server.folder.join("app"), "dies");
    let (good, text) = server.control("swap");
    assert!(!good, "{text}");
    load.go_on_for(50).unwrap();
    assert_eq!(server.get("/version").unwrap(), "two");
    nothing_is_lost(load);
    server.wait_until("the old parent is gone", |server| {
        server.control("status json").1.matches("\"slots\":").count() == 1
    });
}

fn a_migration_that_does_more_than_add_waits_to_be_allowed() {
    for model in ["thread", "prefork"] {
        let server = Server::start_in(deployed("db one"), &["--mpm", model]);
        deploy(&server.folder.join("app"), "db two");
        let (good, text) = server.control("swap");
        assert!(good, "{text}");
        deploy(&server.folder.join("app"), "db three");
        let (good, text) = server.control("swap");
        let reason = "migration 0003_drop.sql, line 2 (alter table post drop column title;) does more than add";
        assert!(!good && text.contains(reason), "{text}");
        assert_eq!(server.get("/version").unwrap(), "db two");
        let (good, text) = server.control_with("swap", &["--allow-breaking-migration"]);
        assert!(good, "{text}");
        assert_eq!(server.get("/version").unwrap(), "db three");
    }
}
