//! New versions of a component, good and bad ones.

use std::fs;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use super::{STATUS, padded};
use crate::drills::Stage;
use crate::error::{Error, Result};
use crate::load::Load;
use crate::report::{Report, millis};
use crate::server::{Server, folder};

/// A server of this version.
fn start(stage: &Stage<'_>, version: &str) -> Result<Server> {
    let folder = folder()?;
    stage.subject().deploy(&folder, version)?;
    Server::start_in(stage.subject(), folder, &["--workers", "2"])
}

pub(super) fn swaps(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    let times = (4 * stage.scale()).min(20);
    for (requests, about) in [(1, "a connection for each request"), (1_000_000, "connections that are kept")] {
        report.case("swap", about);
        let server = start(stage, "0")?;
        let ours = stage.subject().is_ours();
        let pause = Duration::from_micros(500);
        let running = Load { requests, remember: ours, pause, ..stage.load(&server) }.start();
        let (mut old, mut slowest) = (0, Duration::ZERO);
        for version in 1..=times {
            running.go_on_for(20 * stage.scale())?;
            let begun = Instant::now();
            stage.subject().deploy(&server.folder, &version.to_string())?;
            wait_for(&server, &format!("swaps: {version},"))?;
            slowest = slowest.max(begun.elapsed());
            old += u64::from(ours && server.get("/")? != padded(&version.to_string()));
        }
        let tally = running.stop();
        report.expect("swaps that succeeded", times, times, true);
        report.note("slowest, from file to version", millis(slowest));
        report.nothing_lost(&tally);
        if ours {
            report.expect("old versions after a swap", 0, old, old == 0);
            // Those of one connection come in the order in which the versions did.
            let number = |body: &String| body.trim().parse::<u64>().unwrap_or(u64::MAX);
            let is_mixed = |bodies: &&Vec<String>| !bodies.iter().map(number).is_sorted();
            let mixed = tally.seen().iter().filter(is_mixed).count();
            report.expect("connections that went back to an old one", 0, mixed, mixed == 0);
        }
    }
    Ok(())
}

pub(super) fn broken(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    report.case("broken", "");
    let server = start(stage, "good")?;
    let running = Load { remember: stage.subject().is_ours(), ..stage.load(&server) }.start();
    let place = stage.subject().place(&server.folder);
    let whole = stage.subject().bytes("good 2")?;
    let files: [(&str, &[u8], &str); 4] = [
        ("cut short", &whole[..whole.len() / 2], "the file is not complete"),
        ("a text", b"<html>", "is not a component"),
        ("empty", b"", "is empty"),
        ("a core module", b"\0asm\x01\0\0\0", "is a core module"),
    ];
    for (name, bytes, why) in files {
        fs::write(&place, bytes)?;
        let status = wait_for(&server, why)?;
        let is_same = status.contains("swaps: 0\n");
        let said = if is_same { format!("not swapped: {why}") } else { status };
        report.expect(&format!("a file that is {name}"), "not swapped", said, is_same);
        running.go_on_for(50 * stage.scale())?;
    }
    // Written piece by piece, as a slow copy is: no piece of it is a version, and all of it is.
    let mut file = fs::File::create(&place)?;
    for piece in whole.chunks(whole.len().div_ceil(10)) {
        file.write_all(piece)?;
        thread::sleep(Duration::from_millis(20));
    }
    drop(file);
    let taken = wait_for(&server, "swaps: 1,");
    let said = if taken.is_ok() { "taken when it was whole" } else { "not taken" };
    report.expect("a file that is written slowly", "taken when it is whole", said, taken.is_ok());
    running.go_on_for(50)?;
    let tally = running.stop();
    report.nothing_lost(&tally);
    if stage.subject().is_ours() {
        let is_wrong = |body: &&String| !["good", "good 2"].contains(&body.trim());
        let others = tally.seen().iter().flatten().filter(is_wrong).count();
        report.expect("answers of no version", 0, others, others == 0);
    }
    Ok(())
}

/// Waits until the status says so, and gives back all that it says.
fn wait_for(server: &Server, text: &str) -> Result<String> {
    let start = Instant::now();
    loop {
        let status = server.get(STATUS)?;
        if status.contains(text) {
            return Ok(status);
        }
        if start.elapsed() > Duration::from_secs(30) {
            return Err(Error::new(format!("waited in vain until it says {text:?}: {status}")));
        }
        thread::sleep(Duration::from_millis(2));
    }
}
