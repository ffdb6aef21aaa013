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
    let mut hung = TcpStream::connect(&server.address)?;
    hung.write_all(b"GET /hang HTTP/1.1\r\nHost: x\r\n\r\n")?;
    let start = Instant::now();
    let mut victim = None;
    server.wait_until("it is replaced", |server| {
        victim = replaced(&server.errors());
        victim.is_some()
    })?;
    let named = server.errors().contains("hangs while it serves GET /hang for 127.0.0.1:");
    report.expect("what it served", "in the log", if named { "in the log" } else { "missing" }, named);
    let running = Load { connections: 16, ..stage.load(&server) }.start();
    running.go_on_for(100)?;
    in_time(report, "replaced, and all are served", PATIENCE, start.elapsed());
    running.go_on_for(200 * stage.scale)?;
    report.nothing_lost(&running.stop());
    let told = server.wait_until("its stack is in the log", |server| server.errors().contains("hang_for_ever"));
    report.expect("its stack", "in the log", if told.is_ok() { "in the log" } else { "missing" }, told.is_ok());
    let gone = server.wait_until("it is gone", |_| victim.is_some_and(|pid| !is_there(pid)));
    report.expect("the process that hung", "gone", if gone.is_ok() { "gone" } else { "still there" }, gone.is_ok());
    Ok(())
}

/// The process that the log says is replaced. Which one took the request nobody knows before: with `prefork` it may
/// have been forked after the server was ready.
fn replaced(log: &str) -> Option<i32> {
    let line = log.lines().find(|line| line.contains("replacing "))?;
    let (_, rest) = line.split_once("process ")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn the_log_names_the_process_of_either_model() {
        let thread = "INFO replacing worker 1 (process 17, version 0ab1): thread 18 hangs (S)";
        let child = "INFO skep: ready\nINFO replacing process 19 of worker 1: it hangs (S)\n";
        assert_eq!(
            (replaced(thread), replaced(child), replaced("INFO process 3 is ready")),
            (Some(17), Some(19), None)
        );
    }
}
