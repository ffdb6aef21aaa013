//! A handler that keeps its thread.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{Model, PROCESSES, Stage, THREADS, case, in_time};
use crate::error::Result;
use crate::load::Load;
use crate::process::is_there;
use crate::report::Report;

const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn run(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES] {
        report.case("hang", &case(model, "hang_timeout = 3 s"));
        hang(stage, report, model)?;
    }
    Ok(())
}

fn hang(stage: &Stage<'_>, report: &mut Report, model: Model) -> Result<()> {
    let mut server = stage.start(&[model.arguments, &["--set", "hang_timeout=3s", "--set", "grace=1s"]].concat())?;
    let family = server.family();
    let mut hung = TcpStream::connect(&server.address)?;
    hung.write_all(b"GET /hang HTTP/1.1\r\nHost: x\r\n\r\n")?;
    let start = Instant::now();
    server.wait_until("it is replaced", |server| server.errors().contains("; another takes its place"))?;
    let running = Load { connections: 16, ..stage.load(&server) }.start();
    running.go_on_for(100)?;
    in_time(report, "replaced, and all are served", PATIENCE, start.elapsed());
    running.go_on_for(200 * stage.scale)?;
    report.nothing_lost(&running.stop());
    let told = server.wait_until("its stack is in the log", |server| server.errors().contains("hang_for_ever"));
    report.expect("its stack", "in the log", if told.is_ok() { "in the log" } else { "missing" }, told.is_ok());
    let gone = server.wait_until("it is gone", |_| family.iter().any(|pid| !is_there(*pid)));
    report.expect("the process that hung", "gone", if gone.is_ok() { "gone" } else { "still there" }, gone.is_ok());
    Ok(())
}
