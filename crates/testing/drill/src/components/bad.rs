//! What a bad request costs: itself.

use crate::drills::Stage;
use crate::error::Result;
use crate::load::{Guilty, Load, Tally};
use crate::report::Report;

/// One request of this number is guilty.
const EVERY: u64 = 100;

/// A request may take a second and 32 MiB.
const LIMITS: [&str; 6] = ["--time", "1s", "--memory", "32MiB", "--workers", "2"];

pub(super) fn trap(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    bad(stage, report, "trap", 500)
}

pub(super) fn stack(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    bad(stage, report, "stack", 500)
}

pub(super) fn memory(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    bad(stage, report, "memory", 500)
}

pub(super) fn endless_loop(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    bad(stage, report, "loop", 504)
}

fn bad(stage: &Stage<'_>, report: &mut Report, name: &str, status: u16) -> Result<()> {
    report.case(name, "");
    let server = stage.start(&LIMITS)?;
    let guilty = Guilty { every: EVERY, path: format!("/{name}"), answer: Some(status) };
    let running = Load { connections: 16, requests: 50, guilty: Some(guilty), ..stage.load(&server) }.start();
    running.go_on_for(600 * stage.scale())?;
    let tally = running.stop();
    let [asked, guilty] = [&tally.asked, &tally.guilty].map(Tally::of);
    report.expect(&format!("guilty requests, answered with {status}"), asked, guilty, asked == guilty && asked > 0);
    report.nothing_lost(&tally);
    let children = server.children().len();
    report.expect("processes that serve", 1, children, children == 1);
    let deaths = server.errors().matches(" crashed: ").count();
    report.expect("processes that died", 0, deaths, deaths == 0);
    Ok(())
}
