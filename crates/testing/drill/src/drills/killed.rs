//! `kill -9`.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{CONNECTIONS, Model, PROCESSES, SINGLE, SOON, Stage, THREADS, case, in_time, until_answered};
use crate::error::{Error, Result};
use crate::load::Tally;
use crate::process::{is_there, kill};
use crate::report::Report;
use crate::server::Server;

pub(super) fn workers(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES, SINGLE] {
        for all in [false, true] {
            report.case("kill", &case(model, if all { "all of them" } else { "one of them" }));
            kill_workers(stage, report, model, all)?;
        }
    }
    Ok(())
}

fn kill_workers(stage: &Stage<'_>, report: &mut Report, model: Model, all: bool) -> Result<()> {
    let times = 3 * stage.scale.min(3);
    let mut server = stage.start(model.arguments)?;
    let running = stage.load(&server).start();
    let mut slowest = Duration::ZERO;
    for _ in 0..times {
        running.go_on_for(200)?;
        let family = server.family();
        // The last one that was started is no parent, if there are others.
        let victims = if all { &family[..] } else { family.last().map(std::slice::from_ref).unwrap_or_default() };
        for pid in victims {
            kill(*pid, Signal::KILL);
        }
        slowest = slowest.max(until_answered(&server, stage.subject.asked())?);
        server.wait_until("others are there", |server| are_others(server, victims))?;
    }
    running.go_on_for(200)?;
    let tally = running.stop();
    let in_hand = if all { CONNECTIONS } else { model.in_hand };
    report.note("times", times);
    report.little_lost(&tally, times * in_hand);
    in_time(report, "next request after a death", SOON, slowest);
    Ok(())
}

fn are_others(server: &Server, victims: &[i32]) -> bool {
    let now = server.family();
    !now.is_empty() && !now.iter().any(|pid| victims.contains(pid))
}

pub(super) fn supervisor(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES, SINGLE] {
        report.case("kill-supervisor", model.name);
        kill_supervisor(stage, report, model)?;
    }
    Ok(())
}

fn kill_supervisor(stage: &Stage<'_>, report: &mut Report, model: Model) -> Result<()> {
    let mut server = stage.start(model.arguments)?;
    let mut load = stage.load(&server);
    if stage.subject.is_ours() {
        // So that each has something in its hands when it happens.
        load.path = "/slow/50".into();
    }
    let running = load.start();
    running.go_on_for(40 * stage.scale)?;
    let family = server.family();
    server.signal(Signal::KILL);
    let start = Instant::now();
    let gone = server.wait_until("nothing is left", |_| !family.iter().any(|pid| is_there(*pid)));
    let left = family.iter().filter(|pid| is_there(**pid)).count();
    report.expect("processes left behind", 0, left, gone.is_ok());
    report.note("until the last worker had finished", crate::report::millis(start.elapsed()));
    let start = Instant::now();
    let again = stage.start(&[model.arguments, &["--listen", &server.address]].concat());
    report.expect("another start on the same address", "at once", said(again.as_ref()), again.is_ok());
    let _again = again?;
    report.note("until that one listens", crate::report::millis(start.elapsed()));
    running.go_on_for(40)?;
    let tally = running.stop();
    // What had begun was finished; those that the kernel had in its queue are reset, at the worst.
    let (cut, most) = (Tally::of(&tally.cut), CONNECTIONS);
    report.expect("requests cut", format_args!("at most {most}"), cut, cut <= most);
    report.note("refused while nobody listened", Tally::of(&tally.refused));
    Ok(())
}

fn said(server: std::result::Result<&Server, &Error>) -> String {
    server.map_or_else(ToString::to_string, |server| format!("listens on {}", server.address))
}
