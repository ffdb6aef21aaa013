//! A new version while it runs.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use skep_client::wait_until;

use super::Test;
use super::guests;
use super::server::{Folder, Server};

pub(crate) const TESTS: &[Test] = &[
    ("a_new_file_is_activated", activated),
    ("twenty_swaps_under_load_lose_nothing", twenty_under_load),
    ("a_bad_file_changes_nothing", bad_file),
    ("a_server_that_is_full_activates_a_version", under_full_load),
    ("a_version_that_had_no_time_is_tried_once_more", tried_once_more),
    ("what_runs_finishes_on_the_old_version", finishes),
];

fn start(folder: &Folder, more: &[&str]) -> (Server, std::path::PathBuf) {
    let file = folder.write("app.wasm", fs::read(guests::plain()).unwrap());
    let server = Server::start(&[&[file.to_str().unwrap(), "--status", "/-/isolate"], more].concat());
    (server, file)
}

/// As a deployment does: whole, under another name, and then in the place of the old.
fn deploy(file: &std::path::Path, version: &std::path::Path) {
    let new = file.with_extension("new");
    fs::copy(version, &new).unwrap();
    fs::rename(new, file).unwrap();
}

fn until(server: &Server, text: &str) -> Duration {
    let start = Instant::now();
    wait_until(|| format!("never {text}: {}", server.log()), || server.text("/") == text);
    start.elapsed()
}

fn activated() {
    let folder = Folder::new();
    let (server, file) = start(&folder, &[]);
    assert_eq!(server.text("/"), "one");
    deploy(&file, &guests::second());
    until(&server, "two");
    deploy(&file, &guests::plain());
    // Its code is kept.
    println!("     {} ms from file to answer, compiled before", until(&server, "one").as_millis());
    assert!(server.text("/-/isolate").contains("swaps: 2"), "{}", server.text("/-/isolate"));
    // The same content once more is no new version.
    deploy(&file, &guests::plain());
    // Nothing may happen meanwhile, here and below.
    thread::sleep(Duration::from_millis(300));
    assert!(server.text("/-/isolate").contains("swaps: 2"));
    // And without watching, no swap happens.
    let folder = Folder::new();
    let (server, file) = start(&folder, &["--watch", "false"]);
    deploy(&file, &guests::second());
    thread::sleep(Duration::from_millis(500));
    assert_eq!(server.text("/"), "one");
}

fn twenty_under_load() {
    let folder = Folder::new();
    let (server, file) = start(&folder, &[]);
    let server = Arc::new(server);
    let (stop, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let load: Vec<_> = (0..2)
        .map(|_| {
            let (server, stop, asked) = (Arc::clone(&server), Arc::clone(&stop), Arc::clone(&asked));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let answer = server.get("/");
                    assert!(answer.status == 200 && ["one", "two"].contains(&answer.text.as_str()), "{answer:?}");
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for turn in 1..=20 {
        let (version, text) = if turn % 2 == 1 { (guests::second(), "two") } else { (guests::plain(), "one") };
        deploy(&file, &version);
        until(&server, text);
    }
    stop.store(true, Ordering::Relaxed);
    for load in load {
        load.join().unwrap();
    }
    assert!(asked.load(Ordering::Relaxed) > 100);
    assert!(server.text("/-/isolate").contains("swaps: 20"), "{}", server.text("/-/isolate"));
}

fn bad_file() {
    let folder = Folder::new();
    let (server, file) = start(&folder, &["--probe", "/counts"]);
    let whole = fs::read(guests::second()).unwrap();
    for (bad, why) in [
        (&whole[..whole.len() / 2], "the file is not complete"),
        (b"<html>", "is not a component"),
        (b"", "is empty"),
        (b"\0asm\x01\0\0\0", "is a core module"),
    ] {
        fs::write(&file, bad).unwrap();
        server.wait_for(why);
        assert_eq!(server.text("/"), "one", "{why}");
        assert!(server.text("/-/isolate").contains("last file FAILED"));
    }
    fs::remove_file(&file).unwrap();
    thread::sleep(Duration::from_millis(150));
    assert_eq!(server.text("/"), "one");
    // Written piece by piece, as a slow copy is.
    {
        use std::io::Write;
        let mut writing = fs::File::create(&file).unwrap();
        for piece in whole.chunks(whole.len() / 10) {
            writing.write_all(piece).unwrap();
            writing.flush().unwrap();
            thread::sleep(Duration::from_millis(15));
        }
    }
    until(&server, "two");
    assert!(!server.text("/-/isolate").contains("FAILED"));
    // A version that fails its probe.
    let folder = Folder::new();
    let (server, file) = start(&folder, &["--probe", "/first"]);
    deploy(&file, &guests::second());
    server.wait_for("the probe /first was answered with 500");
    assert_eq!(server.text("/"), "one");
}

/// A new version is what such a server waits for.
fn under_full_load() {
    let folder = Folder::new();
    let data = format!("{}::/data", folder.0.display());
    let (server, file) = start(&folder, &["--instances", "1", "--time", "5m", "--dir", &data]);
    let server = Arc::new(server);
    let slow = {
        let server = Arc::clone(&server);
        thread::spawn(move || server.text("/until?/data/there"))
    };
    server.wait_until_busy(1);
    assert_eq!(server.get("/").status, 503);
    deploy(&file, &guests::second());
    server.wait_for("swapped");
    assert!(!slow.is_finished(), "it was taken up beside the request that has the only instance");
    assert_eq!(server.text("/"), "two");
    folder.write("there", "");
    assert_eq!(slow.join().unwrap(), "there");
}

/// Its probe waits for something that is not there yet.
fn tried_once_more() {
    let folder = Folder::new();
    let awaited = folder.write("awaited", "");
    let data = format!("{}::/data", folder.0.display());
    let more = ["--dir", &data, "--time", "500ms", "--probe", "/until?/data/awaited"];
    let (server, file) = start(&folder, &more);
    fs::remove_file(&awaited).unwrap();
    deploy(&file, &guests::second());
    server.wait_for("took longer than 500ms");
    assert!(server.text("/-/isolate").contains("last file FAILED"), "{}", server.text("/-/isolate"));
    assert_eq!(server.text("/"), "one");
    fs::write(&awaited, "").unwrap();
    until(&server, "two");
    assert!(!server.text("/-/isolate").contains("FAILED"));
}

fn finishes() {
    let folder = Folder::new();
    let data = format!("{}::/data", folder.0.display());
    let (server, file) = start(&folder, &["--dir", &data]);
    let server = Arc::new(server);
    let slow = {
        let server = Arc::clone(&server);
        thread::spawn(move || server.text("/until?/data/there"))
    };
    server.wait_until_busy(1);
    deploy(&file, &guests::second());
    until(&server, "two");
    folder.write("there", "");
    assert_eq!(slow.join().unwrap(), "there");
}
