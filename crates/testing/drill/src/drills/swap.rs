//! New versions under load.

use std::time::Duration;

use super::{Model, PROCESSES, Stage, THREADS, case};
use crate::error::Result;
use crate::load::Load;
use crate::report::Report;
use crate::server::{Server, folder};

pub(super) fn run(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES] {
        for (requests, about) in [(1, "a connection for each request"), (1_000_000, "connections that are kept")] {
            report.case("swap", &case(model, about));
            swaps(stage, report, model, requests)?;
        }
    }
    Ok(())
}

fn swaps(stage: &Stage<'_>, report: &mut Report, model: Model, requests: usize) -> Result<()> {
    let times = (4 * stage.scale).min(20);
    let folder = folder()?;
    stage.subject.deploy(&folder, "0")?;
    let server = Server::start_in(stage.subject, folder, model.arguments)?;
    let ours = stage.subject.is_ours();
    let mut load = Load { requests, remember: ours, pause: Duration::from_micros(500), ..stage.load(&server) };
    if ours {
        load.path = "/version".into();
    }
    let running = load.start();
    let (mut failed, mut old) = (Vec::new(), 0);
    for version in 1..=times {
        running.go_on_for(20 * stage.scale)?;
        let before = server.status("version")?;
        stage.subject.deploy(&server.folder, &version.to_string())?;
        let (good, text) = server.control("swap")?;
        if !good || server.status("version")? == before {
            failed.push(text.trim().to_owned());
        }
        // Requests from here on come after the swap.
        old += u64::from(ours && server.get("/version")? != version.to_string());
    }
    let tally = running.stop();
    report.expect("swaps that succeeded", times, times - failed.len() as u64, failed.is_empty());
    if let Some(first) = failed.first() {
        report.note("what was said", first);
    }
    report.nothing_lost(&tally);
    if ours {
        report.expect("old versions after a swap", 0, old, old == 0);
        let is_mixed = |bodies: &&Vec<String>| bodies.windows(2).any(|pair| pair[0] != pair[1]);
        let mixed = tally.seen().iter().filter(is_mixed).count();
        report.expect("connections that saw two versions", 0, mixed, mixed == 0);
    }
    Ok(())
}
