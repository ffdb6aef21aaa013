//! More connections than anybody needs, and the end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Stage, THREADS, in_time};
use crate::error::Result;
use crate::process::{may_open, memory};
use crate::report::{Report, millis};

/// `grace`, as nobody says otherwise, and a little more.
const DRAINED: Duration = Duration::from_secs(14);

/// Two buffers of hyper's (8 KiB each), one for the head and one for the answer, and what the connection itself is.
const KIB_EACH: u64 = 24;

/// File descriptors for all else.
const SPARE: u64 = 300;

pub(super) fn run(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    report.case("flood", THREADS.name);
    let wanted = 2000 * stage.scale;
    let count = may_open().saturating_sub(SPARE).min(wanted);
    let arguments = ["--set", "limits.header_time=10m", "--set", "limits.connections_per_address=0"];
    let mut server = stage.start(&[THREADS.arguments, &arguments].concat())?;
    let before: u64 = server.family().into_iter().map(memory).sum();
    let mut clients = Vec::new();
    for number in 0..count {
        let mut client = TcpStream::connect(&server.address)?;
        if number % 2 == 0 {
            client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n")?;
        }
        clients.push(client);
    }
    report.expect("connections", format_args!("{wanted}, as far as this process may open"), count, count > 0);
    let start = Instant::now();
    server.get(stage.subject.asked())?;
    in_time(report, "a request beside them", Duration::from_secs(2), start.elapsed());
    let memory: u64 = server.family().into_iter().map(memory).sum();
    let each = memory.saturating_sub(before) / count.max(1);
    report.expect("KiB for each of them", format_args!("at most {KIB_EACH}"), each, each <= KIB_EACH);
    let start = Instant::now();
    server.signal(Signal::TERM);
    let code = server.wait()?.code();
    report.expect("exit code", 0, code.map_or("none".into(), |code| code.to_string()), code == Some(0));
    in_time(report, "time to drain", DRAINED, start.elapsed());
    let open = clients.iter_mut().filter_map(|client| client.read(&mut [0; 16]).ok()).filter(|read| *read > 0).count();
    report.note("connections that got a word", open);
    report.note("drained in", millis(start.elapsed()));
    Ok(())
}
