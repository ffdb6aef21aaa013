//! Batches of calls, and what one call costs.

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use skep::log::Log;

use crate::Result;

/// The names of the figures.
pub(crate) const LOOP: &str = "an empty loop";
pub(crate) const SUPPRESSED: &str = "a suppressed debug call with two fields, by a type's category";
pub(crate) const SUPPRESSED_TRACING: &str = "the same by `tracing::debug!`";
pub(crate) const CATEGORY: &str = "a line with three fields, by a type's category";
pub(crate) const TRACING: &str = "the same by `tracing::info!`";
pub(crate) const SUBSCRIBER: &str = "the same to tracing-subscriber and tracing-appender";
/// As `tools/peers` print them.
pub(crate) const SPDLOG: &str = "the same to spdlog, asynchronous";
pub(crate) const QUILL: &str = "the same to quill";
pub(crate) const LOG4PERL: &str = "the same to Log4perl";
pub(crate) const NAMES: [&str; 9] =
    [LOOP, SUPPRESSED, SUPPRESSED_TRACING, CATEGORY, TRACING, SUBSCRIBER, SPDLOG, QUILL, LOG4PERL];

/// Calls of a batch that writes nothing.
const SILENT: u64 = 1_000_000;

/// Lines of a batch: fewer than the buffers take, so that nothing is dropped.
pub(crate) const LINES: u64 = 10_000;

/// Between two looks at the file.
const PAUSE: Duration = Duration::from_millis(5);

/// After this time without growth, a file has all that was written.
const QUIET: Duration = Duration::from_millis(300);

/// How long the lines of a batch may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The numbers of a batch begin here, so that all lines are of one length.
const FIRST: u64 = 100_000;

/// What one call costs, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// The time that passes for the caller.
    pub(crate) caller: f64,
    /// The CPU of all threads until the line is in the file; without what waiting for that takes.
    pub(crate) all: Option<f64>,
}

impl Cost {
    /// As [`parse`](Self::parse) reads it.
    pub(crate) fn line(self, name: &str) -> String {
        format!("{name}\t{}\t{}", self.caller, self.all.map(|all| all.to_string()).unwrap_or_default())
    }

    pub(crate) fn parse(line: &str) -> Option<(String, Self)> {
        let mut words = line.split('\t');
        let name = words.next()?.to_owned();
        Some((name, Self { caller: words.next()?.parse().ok()?, all: words.next()?.parse().ok() }))
    }
}

/// A type with a category.
#[derive(Log)]
struct Search;

/// The category of both kinds, so that their lines are as long.
const SEARCH: &str = "log_bench::batch::Search";

/// One call of a kind that writes.
fn call(name: &str) -> fn(u64) {
    if name == CATEGORY {
        return |number| {
            let line = Search.log().info("searched").field("word", black_box("bees and honey"));
            line.field("number", number).field("hits", black_box(17_u64));
        };
    }
    |number| {
        tracing::info!(target: SEARCH, word = black_box("bees and honey"), number, hits = black_box(17_u64), "searched");
    }
}

/// Calls that write nothing. The call is known at compile time, as in a program.
pub(crate) fn silent(name: &str) -> Cost {
    let begun = Instant::now();
    match name {
        SUPPRESSED => (0..SILENT).for_each(|number| {
            Search
                .log()
                .debug("searched")
                .field("word", black_box("bees and honey"))
                .field("number", black_box(number));
        }),
        SUPPRESSED_TRACING => (0..SILENT).for_each(|number| {
            tracing::debug!(word = black_box("bees and honey"), number = black_box(number), "searched");
        }),
        _ => (0..SILENT).for_each(|number| {
            black_box("bees and honey");
            black_box(number);
        }),
    }
    Cost { caller: each(begun.elapsed(), SILENT), all: None }
}

/// The file that lines end up in.
pub(crate) struct Written {
    path: PathBuf,
    line: u64,
}

impl Written {
    /// Writes a batch, and finds out how long a line is in the file.
    pub(crate) fn warm_up(path: PathBuf, name: &str) -> Result<Self> {
        let call = call(name);
        (FIRST..FIRST + LINES).for_each(call);
        let mut file = Self { path, line: 0 };
        let (mut size, mut since) = (0, Instant::now());
        while size == 0 || since.elapsed() < QUIET {
            let now = file.size();
            if now != size {
                (size, since) = (now, Instant::now());
            }
            if since.elapsed() > PATIENCE {
                return Err(format!("{} stays empty", file.path.display()).into());
            }
            thread::sleep(PAUSE);
        }
        let text = fs::read(&file.path)?;
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        if lines.len() as u64 != LINES || lines.iter().any(|line| line.len() != lines[0].len()) {
            return Err(format!("{} lines arrived, or they differ in length", lines.len()).into());
        }
        file.line = lines[0].len() as u64;
        Ok(file)
    }

    /// Writes a batch, and waits until it is in the file.
    pub(crate) fn batch(&self, name: &str) -> Result<Cost> {
        let call = call(name);
        let wanted = self.size() + LINES * self.line;
        let (process, begun) = (clock(ClockId::ProcessCPUTime), Instant::now());
        (FIRST..FIRST + LINES).for_each(call);
        let caller = begun.elapsed();
        let own = clock(ClockId::ThreadCPUTime);
        while self.size() < wanted {
            if begun.elapsed() > PATIENCE {
                return Err(format!("{name}: {} of {wanted} bytes arrived", self.size()).into());
            }
            thread::sleep(PAUSE);
        }
        let waiting = clock(ClockId::ThreadCPUTime).saturating_sub(own);
        let all = clock(ClockId::ProcessCPUTime).saturating_sub(process + waiting);
        Ok(Cost { caller: each(caller, LINES), all: Some(each(all, LINES)) })
    }

    fn size(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }
}

fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of calls are small")]
fn each(time: Duration, calls: u64) -> f64 {
    time.as_secs_f64() * 1e9 / calls as f64
}
