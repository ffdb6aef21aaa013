//! An application that dies at its start.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Model, PROCESSES, Stage, THREADS, case};
use crate::error::Result;
use crate::process::{is_there, kill};
use crate::report::{Report, millis};
use crate::server::folder;

pub(super) fn run(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES] {
        report.case("restart", &case(model, "never ready"));
        never_ready(stage, report, model)?;
    }
    report.case("restart", &case(THREADS, "ready once, then killed six times"));
    ready_once(stage, report)
}

/// It gives up, and says why.
fn never_ready(stage: &Stage<'_>, report: &mut Report, model: Model) -> Result<()> {
    let folder = folder()?;
    stage.subject.deploy(&folder, "dies")?;
    let mut command = stage.subject.command(&folder, &[&["--listen", "127.0.0.1:0"], model.arguments].concat());
    let start = Instant::now();
    let output = command.output()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code();
    report.expect("exit code", "70", code.map_or("none".into(), |code| code.to_string()), code == Some(70));
    let says = errors.lines().find(|line| line.contains("exited before it was ready: signal 6 (ABRT"));
    report.expect("what it says", "of what it died", says.unwrap_or(&errors), says.is_some());
    let tries = errors.matches("a worker did not start").count() + 1;
    report.expect("starts", "at most 5", tries, tries <= 5);
    let took = start.elapsed();
    report.expect("until it gave up", "100 ms or more", millis(took), took >= Duration::from_millis(100));
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// It goes on trying, ever more slowly.
fn ready_once(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    let mut server = stage.start(&[])?;
    let mut last = server.pid();
    let start = Instant::now();
    for _ in 0..6 {
        server.wait_until("there is another", |server| {
            server.family().iter().any(|pid| *pid != last && is_there(*pid))
        })?;
        last = server.family().first().copied().unwrap_or(last);
        kill(last, Signal::KILL);
    }
    report.expect(
        "six deaths",
        "300 ms or more",
        millis(start.elapsed()),
        start.elapsed() >= Duration::from_millis(300),
    );
    let named =
        server.wait_until("it is named", |server| server.errors().contains("crash loop: 5 workers exited early"));
    report.expect("the log", "names a crash loop", if named.is_ok() { "names it" } else { "does not" }, named.is_ok());
    let status = server.status("crash_loop")?;
    report.expect("crash_loop in the status", "true", &status, status == "true");
    report.expect("it serves in the end", "yes", "yes", server.get("/").is_ok());
    Ok(())
}
