//! Outputs of the log that fail for a while: a disk that is full or slow, a pipe whose reader is gone.
//!
//! No request may notice it, and each has its line in the end, or is counted as dropped.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};

use super::{Model, PROCESSES, SOON, Stage, THREADS, in_time};
use crate::error::Result;
use crate::load::{Load, Tally};
use crate::report::Report;
use crate::server::{Server, folder};

/// What the server says of an output that fails, of one that does no longer, and of lines that found no room.
const FAILS: &str = "a log cannot be written";
const IS_WELL: &str = "a log is written again";
const DROPPED: &str = "lines dropped";

/// What a slow reader takes at once, and how long it rests after it: 40 KB a second.
const PIECE: usize = 4096;
const REST: Duration = Duration::from_millis(100);

/// How often something is looked for that comes.
const LOOK: Duration = Duration::from_millis(20);

pub(super) fn full_disk(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES] {
        report.case("full-disk", model.name);
        // It fails as a full disk does; when there is room again, a file is there.
        let mut failing = Failing::start(stage, model, |log| symlink("/dev/full", log))?;
        failing.load(report, "it says that the disk is full", |server| server.errors().contains(FAILS))?;
        fs::remove_file(&failing.log)?;
        failing.load(report, "the log is written again", |server| server.errors().contains(IS_WELL))?;
        let log = failing.log.clone();
        failing.account(report, || fs::read_to_string(&log).unwrap_or_default());
    }
    Ok(())
}

pub(super) fn slow_disk(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES] {
        report.case("slow-disk", model.name);
        let mut failing = Failing::start(stage, model, make_fifo)?;
        let reader = Reader::start(&failing.log, true)?;
        failing.load(report, "its buffers are full", |_| true)?;
        reader.is_slow.store(false, Ordering::Relaxed);
        failing.account(report, || reader.text());
    }
    Ok(())
}

pub(super) fn closed_pipe(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES] {
        report.case("closed-pipe", model.name);
        let mut failing = Failing::start(stage, model, make_fifo)?;
        let (mut earlier, count) = (String::new(), |server: &Server, text| server.errors().matches(text).count());
        // First nobody has opened it yet, then nobody has it open any more.
        for _ in 0..2 {
            let (fails, is_well) = (count(&failing.server, FAILS), count(&failing.server, IS_WELL));
            failing.load(report, "it says that nobody reads", |server| count(server, FAILS) > fails)?;
            let reader = Reader::start(&failing.log, false)?;
            failing.load(report, "the log is written again", |server| count(server, IS_WELL) > is_well)?;
            failing.account(report, || earlier.clone() + &reader.text());
            earlier += &reader.stop();
        }
    }
    Ok(())
}

fn make_fifo(path: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

/// A server whose access log goes to a place that fails.
struct Failing<'s> {
    stage: &'s Stage<'s>,
    server: Server,
    log: PathBuf,
    answered: u64,
}

impl<'s> Failing<'s> {
    /// `place` makes what is in the place of the log.
    fn start(stage: &'s Stage<'s>, model: Model, place: impl FnOnce(&Path) -> io::Result<()>) -> Result<Self> {
        let folder = folder()?;
        let log = folder.join("access.log");
        place(&log)?;
        let output = format!("log.access_outputs=file:{} layout=json", log.display());
        // Small buffers, which are full soon.
        let settings = ["--set", "log.access=true", "--set", &output, "--set", "log.buffer=16KiB"];
        let server = Server::start_in(stage.subject(), folder, &[model.arguments, &settings].concat())?;
        Ok(Self { stage, server, log, answered: 0 })
    }

    /// Requests go on until it is so, and for a while at least.
    fn load(&mut self, report: &mut Report, what: &str, is_so: impl FnMut(&mut Server) -> bool) -> Result<()> {
        let running = Load { requests: 20, ..self.stage.load(&self.server) }.start();
        running.go_on_for(1000 * self.stage.scale())?;
        self.server.wait_until(what, is_so)?;
        let tally = running.stop();
        report.nothing_lost(&tally);
        in_time(report, "99 of 100 requests, within", SOON, tally.percentile(99));
        self.answered += Tally::of(&tally.good);
        Ok(())
    }

    /// Each request has a line in what was written, or is counted.
    fn account(&mut self, report: &mut Report, written: impl Fn() -> String) {
        let answered = self.answered;
        let all = |text: &str, server: &Server| (text.lines().count() as u64, dropped(&server.errors()));
        let settled = self.server.wait_until("all lines are accounted for", |server| {
            thread::sleep(LOOK);
            let (lines, dropped) = all(&written(), server);
            lines + dropped >= answered
        });
        let text = written();
        let (lines, dropped) = all(&text, &self.server);
        let was = format!("{lines} lines, {dropped} dropped");
        report.expect("lines, and lines dropped", answered, was, settled.is_ok() && lines + dropped == answered);
        let torn = text.lines().filter(|line| !is_whole(line)).count();
        report.expect("torn lines", 0, torn, torn == 0);
    }
}

/// A line of `layout=json`.
pub(super) fn is_whole(line: &str) -> bool {
    line.starts_with("{\"time\":\"") && line.ends_with('}') && line.matches("\"time\":\"").count() == 1
}

/// How many lines were reported as dropped.
fn dropped(errors: &str) -> u64 {
    let reports = errors.lines().filter(|line| line.contains(DROPPED));
    let number = |line: &str| line.split(" lines=").nth(1)?.split_whitespace().next()?.parse::<u64>().ok();
    reports.filter_map(number).sum()
}

/// Reads a FIFO.
struct Reader {
    text: Arc<Mutex<Vec<u8>>>,
    is_slow: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Reader {
    fn start(path: &Path, is_slow: bool) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(path, flags, Mode::empty()).map_err(io::Error::from)?);
        let (text, is_over) = (Arc::<Mutex<Vec<u8>>>::default(), Arc::<AtomicBool>::default());
        let is_slow = Arc::new(AtomicBool::new(is_slow));
        let (taken, slow, over) = (Arc::clone(&text), Arc::clone(&is_slow), Arc::clone(&is_over));
        let thread = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let read = take(&file, &taken);
                if slow.load(Ordering::Relaxed) {
                    thread::sleep(REST);
                } else if read == 0 {
                    thread::sleep(LOOK);
                }
            }
        });
        Ok(Self { text, is_slow, is_over, thread })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// Closes it.
    fn stop(self) -> String {
        self.is_over.store(true, Ordering::Relaxed);
        let text = Arc::clone(&self.text);
        // It has nothing to fail in.
        let _ = self.thread.join();
        String::from_utf8_lossy(&text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// Takes what is there, but not more than a piece. There may be nothing, or nobody who writes.
fn take(mut file: &File, text: &Mutex<Vec<u8>>) -> usize {
    let mut piece = [0; PIECE];
    let read = file.read(&mut piece).unwrap_or(0);
    text.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&piece[..read]);
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_lines_are_those_of_all_reports() {
        let report = |lines| format!("WARN skep::log: lines dropped: the log buffer was full output=x lines={lines}\n");
        assert_eq!(dropped(&format!("{}INFO lines=5\n{}", report(7), report(30))), 37);
    }

    #[test]
    fn half_a_line_is_torn() {
        assert!(is_whole("{\"time\":\"2026\",\"status\":200}"));
        assert!(!is_whole("{\"time\":\"20{\"time\":\"2026\",\"status\":200}") && !is_whole("{\"time\":\"2026\","));
    }
}
