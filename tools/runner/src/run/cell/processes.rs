//! What a family of processes holds, and how fast it replaces one that died.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use skep_bench::server::{Watched, lives};

use super::{Cell, Entrant, Sample};
use crate::Result;
use crate::experiment::Whose;
use crate::load::{self, DEATHS, MORE};
use crate::measure::{Measure, float};
use crate::program::{Mpm, Program};
use crate::server::Server;

/// Between two signals of the same number: two that wait are one.
const BETWEEN: Duration = Duration::from_millis(50);

/// Requests before a death: one that had none of them is part of a crash loop, and is replaced later.
const USEFUL: Duration = Duration::from_millis(300);

/// How long a successor may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// After load: the supervisor's share, that of all, and what one more process adds.
pub(super) fn memory(cell: &Cell<'_>, entrant: &Entrant) -> Result<Sample> {
    let server = cell.start(entrant)?;
    let mut few = cell.filled(entrant, &server)?;
    if matches!(entrant.variant.program, Program::SkepProcesses { mpm: Mpm::Prefork { .. }, .. }) {
        for _ in 0..MORE {
            kill_process(pid(server.pid())?, Signal::USR2)?;
            thread::sleep(BETWEEN);
        }
        let many = cell.filled(entrant, &server)?;
        let more = |measure: Measure| many[&measure] - few[&measure];
        let count = more(Measure::Processes);
        // Under the first load there may have been some that came to help, and went.
        if count < float(MORE.into()) / 2.0 {
            return Err(format!("{} has {count} processes more where {MORE} were asked for", entrant.name).into());
        }
        few.insert(Measure::OneMore, more(Measure::Memory) / count);
    }
    Ok(few)
}

/// Kills, and asks until there is an answer.
pub(super) fn deaths(cell: &Cell<'_>, entrant: &Entrant, whose: Whose) -> Result<Sample> {
    let server = cell.start(entrant)?;
    let mut times = Vec::new();
    for _ in 0..DEATHS {
        load::run(cell.load, server.port, entrant.variant.path, USEFUL)?;
        times.push(death(&server, entrant.variant.path, whose)?);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(Sample::from([(Measure::Succession, times[DEATHS / 2]), (Measure::SlowestSuccession, times[DEATHS - 1])]))
}

/// Milliseconds from the signal to the answer of another process.
fn death(server: &Server, path: &str, whose: Whose) -> Result<f64> {
    let victims = victims(server.pid(), whose)?;
    let begun = Instant::now();
    for victim in &victims {
        kill_process(pid(*victim)?, Signal::KILL)?;
    }
    // What it still answers would count as its successor's.
    while victims.iter().any(|victim| lives(*victim)) {}
    while !load::ask(server.port, path).is_ok_and(|answer| answer.status == 200) {
        if begun.elapsed() > PATIENCE {
            return Err(format!("nobody has answered for {PATIENCE:?} after a death").into());
        }
    }
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// All processes that serve, or the one that forks them. With `thread` that is the same.
fn victims(root: u32, whose: Whose) -> Result<Vec<u32>> {
    let parents = Watched::leader(root).children()?;
    let mut serving = Vec::new();
    for parent in &parents {
        serving.extend(Watched::leader(*parent).children()?);
    }
    Ok(if whose == Whose::Parent || serving.is_empty() { parents } else { serving })
}

fn pid(number: u32) -> Result<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw).ok_or_else(|| format!("{number} is no process").into())
}
