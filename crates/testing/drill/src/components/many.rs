//! Many instances at once, and answers that never end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::drills::Stage;
use crate::error::Result;
use crate::process::memory;
use crate::report::{Report, millis};
use crate::server::Server;

/// What one answer that nobody reads may hold: buffers on both sides, and its instance.
const KIB_EACH: u64 = 4096;

pub(super) fn output(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    report.case("output", "10 answers without an end that nobody reads");
    let server = stage.start(&["--time", "2s", "--workers", "2"])?;
    let running = stage.load(&server).start();
    running.go_on_for(100)?;
    let before = held(&server);
    let mut unread = begin(&server, 10)?;
    running.go_on_for(300 * stage.scale())?;
    let each = held(&server).saturating_sub(before) / 10;
    report.expect("KiB for each of them", format_args!("at most {KIB_EACH}"), each, each <= KIB_EACH);
    report.nothing_lost(&running.stop());
    // One that is read now, slowly, ends all the same.
    let (start, mut bytes) = (Instant::now(), vec![0; 64 << 10]);
    let slow = &mut unread[0];
    while slow.read(&mut bytes).is_ok_and(|read| read > 0) && start.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(5));
    }
    let took = start.elapsed();
    report.expect("until one that is read slowly ends", "at most 20 s", millis(took), took < Duration::from_secs(20));
    Ok(())
}

pub(super) fn instances(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    let count = 400 * stage.scale();
    report.case("instances", &format!("{count} at once"));
    let most = (count + 100).to_string();
    let server = stage.start(&["--time", "30s", "--workers", "2", "--instances", &most])?;
    server.get("/")?;
    let before = held(&server);
    let waiting = begin(&server, count)?;
    let running = stage.load(&server).start();
    running.go_on_for(200 * stage.scale())?;
    let tally = running.stop();
    let status = server.get(super::STATUS)?;
    let at_work = status.split("instances: ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or(0);
    report.expect("instances at work", format_args!("at least {count}"), at_work, at_work >= count);
    report.note("KiB for each, its connection included", held(&server).saturating_sub(before) / count);
    report.nothing_lost(&tally);
    drop(waiting);
    Ok(())
}

/// What its processes hold, in KiB.
fn held(server: &Server) -> u64 {
    server.family().into_iter().map(memory).sum()
}

/// Begins `count` requests whose responses never end and are not read.
fn begin(server: &Server, count: u64) -> Result<Vec<TcpStream>> {
    let begin = |_| {
        let mut stream = TcpStream::connect(&server.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.write_all(b"GET /output HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
        Ok(stream)
    };
    (0..count).map(begin).collect()
}
