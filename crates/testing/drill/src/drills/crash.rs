//! A handler that ends its process.

use std::time::Instant;

use super::{Model, SINGLE, SOON, Stage, THREADS, case, in_time};
use crate::error::Result;
use crate::load::{Guilty, Load, Tally};
use crate::report::Report;

const CONNECTIONS: usize = 32;

/// One request of this number is guilty.
const EVERY: u64 = 250;

pub(super) fn run(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [SINGLE, THREADS] {
        for how in ["segv", "abort", "exit"] {
            report.case("crash", &case(model, how));
            crash(stage, report, model, &format!("/crash/{how}"))?;
        }
    }
    Ok(())
}

fn crash(stage: &Stage<'_>, report: &mut Report, model: Model, path: &str) -> Result<()> {
    let server = stage.start(model.arguments)?;
    let guilty = Guilty { every: EVERY, path: path.into(), answer: None };
    let running = Load { connections: CONNECTIONS, guilty: Some(guilty), ..stage.load(&server) }.start();
    running.go_on_for(900 * stage.scale)?;
    let tally = running.stop();
    let [asked, guilty] = [&tally.asked, &tally.guilty].map(Tally::of);
    report.expect("guilty requests without an answer", asked, guilty, asked == guilty && guilty > 0);
    // With threads, what that process had in its hands: one of its connections was guilty.
    report.little_lost(&tally, if model.in_hand == 1 { 0 } else { guilty * (CONNECTIONS as u64 - 1) });
    let _ = server.get(path);
    let start = Instant::now();
    server.get("/")?;
    in_time(report, "next request after a crash", SOON, start.elapsed());
    Ok(())
}
