//! What a family of processes holds, and how fast it replaces one that died.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Cell, Entrant, SETTLE, Sample, label};
use crate::Result;
use crate::experiment::Whose;
use crate::http;
use crate::load;
use crate::measure::Measure;
use crate::proc::{self, Tree, float};
use crate::program::{Model, Program};
use crate::server::Server;

/// Processes that are added.
const MORE: u32 = 8;

/// Between two signals of the same number: two that wait are one.
const BETWEEN: Duration = Duration::from_millis(50);

/// Deaths of a round.
const DEATHS: usize = 10;

/// Requests before a death: one that had none of them died young, and is replaced later.
const USEFUL: Duration = Duration::from_millis(300);

/// How long a successor may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// After load: the supervisor's share, that of all, and what one more process adds.
pub(super) fn memory(cell: &Cell<'_>, entrant: &Entrant) -> Result<Sample> {
    let server = Server::start(&entrant.variant, &label(cell.experiment, entrant), cell.site)?;
    let time = Duration::from_secs(cell.seconds);
    let look = || -> Result<(f64, usize)> {
        load::run(cell.load, server.port, entrant.variant.path, time)?;
        thread::sleep(SETTLE);
        Ok((proc::memory(server.pid())?, Tree::look()?.below(server.pid()).len()))
    };
    let (few, count) = look()?;
    let mut sample = Sample::from([(Measure::Memory, few), (Measure::Supervisor, proc::memory_of(server.pid())?)]);
    if matches!(entrant.variant.program, Program::SkepProcesses { model: Model::Prefork { .. }, .. }) {
        for _ in 0..MORE {
            kill_process(pid(server.pid())?, Signal::USR2)?;
            thread::sleep(BETWEEN);
        }
        let (many, now) = look()?;
        let more = now.saturating_sub(count);
        // Under the first load there may have been some that came to help, and went.
        if more < MORE as usize / 2 {
            return Err(format!("{} has {more} processes more where {MORE} were asked for", entrant.name).into());
        }
        sample.insert(Measure::OneMore, (many - few) / float(more as u64));
    }
    Ok(sample)
}

/// Kills, and asks until there is an answer.
pub(super) fn deaths(cell: &Cell<'_>, entrant: &Entrant, whose: Whose) -> Result<Sample> {
    let server = Server::start(&entrant.variant, &label(cell.experiment, entrant), cell.site)?;
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
    while victims.iter().any(|victim| proc::lives(*victim)) {}
    while http::get_and_close(server.port, path).is_err() {
        if begun.elapsed() > PATIENCE {
            return Err(format!("nobody has answered for {PATIENCE:?} after a death").into());
        }
    }
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// All processes that serve, or the one that forks them. With `thread` that is the same.
fn victims(root: u32, whose: Whose) -> Result<Vec<u32>> {
    let tree = Tree::look()?;
    let parents = tree.children(root);
    let serving: Vec<u32> = parents.iter().flat_map(|parent| tree.children(*parent)).collect();
    Ok(if whose == Whose::Parent || serving.is_empty() { parents } else { serving })
}

fn pid(number: u32) -> Result<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw).ok_or_else(|| format!("{number} is no process").into())
}
