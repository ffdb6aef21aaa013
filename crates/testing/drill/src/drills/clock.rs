//! A clock that is set, forwards and backwards, while requests go on.
//!
//! Times of files are those of the machine: a rotation by time is judged by them, so this log is rotated by size.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::logs::is_whole;
use super::{Model, PROCESSES, Stage, THREADS};
use crate::error::Result;
use crate::load::{Load, Tally};
use crate::report::Report;
use crate::server::{Server, folder};
use crate::time_of_day::TimeOfDay;

/// From the time of the machine: an hour on, two back, a month on, a year back, and right again.
const STEPS: [&str; 5] = ["+1h", "-1h", "+30d", "-365d", "+0"];

pub(super) fn run(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES] {
        report.case("clock", model.name);
        let folder = folder()?;
        match TimeOfDay::new(&folder)? {
            Some(time) => steps(stage, report, model, (folder, &time))?,
            None => report.note("not carried out", "libfaketime is missing (Debian: libfaketime)"),
        }
    }
    Ok(())
}

fn steps(stage: &Stage<'_>, report: &mut Report, model: Model, (folder, time): (PathBuf, &TimeOfDay)) -> Result<()> {
    let log = folder.join("access.log");
    stage.subject().prepare(&folder)?;
    let output = format!("log.access_outputs=file:{} layout=json rotate=64KiB", log.display());
    // A worker whose heartbeat depended on the time of day would be replaced.
    let settings = ["--set", "log.access=true", "--set", &output, "--set", "hang_timeout=3s"];
    let mut command = stage.subject().command(&folder, &[crate::server::QUIET, model.arguments, &settings].concat());
    time.give(&mut command);
    let mut server = Server::start_command(stage.subject(), command, folder)?;
    let running = Load { requests: 20, ..stage.load(&server) }.start();
    for step in STEPS {
        running.go_on_for(200 * stage.scale())?;
        time.set(step)?;
    }
    running.go_on_for(200 * stage.scale())?;
    let tally = running.stop();
    report.nothing_lost(&tally);
    let answered = Tally::of(&tally.good);
    let written = server.wait_until("each request has a line", |_| {
        std::thread::sleep(Duration::from_millis(20));
        lines(&log).len() as u64 >= answered
    });
    let lines = lines(&log);
    let was = lines.len() as u64;
    report.expect("lines in all files", answered, was, written.is_ok() && was == answered);
    let torn = lines.iter().filter(|line| !is_whole(line)).count();
    report.expect("torn lines", 0, torn, torn == 0);
    let hours = hours(&lines);
    report.expect("hours that lines are of", format!("{} or more", STEPS.len()), hours, hours >= STEPS.len());
    for what in ["crashes", "replaced"] {
        let was = server.status(what)?;
        report.expect(&format!("workers: {what}"), 0, &was, was == "0");
    }
    Ok(())
}

/// Of the log and of the old files beside it.
fn lines(log: &Path) -> Vec<String> {
    let name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = log.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    let files = folder.filter_map(std::result::Result::ok).map(|entry| entry.path());
    let files = files.filter(|file| file.file_name().is_some_and(|own| own.to_string_lossy().starts_with(&name)));
    let texts = files.filter_map(|file| fs::read_to_string(file).ok());
    texts.flat_map(|text| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>()).collect()
}

/// How many different hours lines are of: `{"time":"2026-11-21T07:`.
fn hours(lines: &[String]) -> usize {
    let mut hours: Vec<&str> = lines.iter().filter_map(|line| line.get(9..22)).collect();
    hours.sort_unstable();
    hours.dedup();
    hours.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_hour_count_once() {
        let line = |time: &str| format!("{{\"time\":\"{time}Z\"}}");
        let lines = ["2026-11-21T07:30:00", "2026-11-21T07:59:00", "2026-11-22T07:30:00"].map(line);
        assert_eq!(hours(&lines), 2);
    }
}
