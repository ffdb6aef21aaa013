//! A handler that forgets memory.

use std::thread;
use std::time::{Duration, Instant};

use super::{Model, PROCESSES, Stage, THREADS};
use crate::error::Result;
use crate::load::{Load, Tally};
use crate::process::memory;
use crate::report::Report;

/// It is looked at twice a second, and goes on while its successor starts: at 200 MiB a second that is this much.
const MOST: u64 = 450;

/// MiB to forget, several times what a process may have. On a busy machine that takes a while.
const ENOUGH: u64 = 300;

pub(super) fn run(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES] {
        report.case("leak", &super::case(model, "max_memory = 100 MiB"));
        leak(stage, report, model)?;
    }
    Ok(())
}

fn leak(stage: &Stage<'_>, report: &mut Report, model: Model) -> Result<()> {
    let server = stage.start(&[model.arguments, &["--set", "max_memory=100MiB"]].concat())?;
    let load = Load { path: "/leak".into(), connections: 4, pause: Duration::from_millis(10), ..stage.load(&server) };
    let running = load.start();
    let start = Instant::now();
    let (enough, long) = (ENOUGH * stage.scale, Duration::from_secs(30 * stage.scale));
    let mut most = 0;
    while Tally::of(&running.tally.good) < enough && start.elapsed() < long {
        let each = server.family().into_iter().map(memory);
        most = most.max(each.max().unwrap_or_default() >> 10);
        thread::sleep(Duration::from_millis(20));
    }
    let tally = running.stop();
    let forgotten = Tally::of(&tally.good);
    report.expect("MiB forgotten", format_args!("at least {enough}"), forgotten, forgotten >= enough);
    report.expect("MiB in the largest process", format_args!("at most {MOST}"), most, most <= MOST);
    report.nothing_lost(&tally);
    Ok(())
}
