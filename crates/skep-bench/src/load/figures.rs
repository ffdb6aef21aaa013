//! What came back of a load, and what counts it while it runs.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::Why;
use crate::number::{float, nanos};

/// For how long errors alone may come before the server counts as not there, if it never answered.
const UNREACHABLE: Duration = Duration::from_secs(1);

/// The same, after it answered.
const LOST: Duration = Duration::from_secs(3);

/// What came back of a load.
///
/// ```
/// use std::time::Duration;
/// use skep_bench::load::Figures;
///
/// let figures = Figures::empty();
/// assert_eq!((figures.rate(), figures.percentile(99.9)), (0.0, Duration::ZERO));
/// ```
#[derive(Debug, Clone)]
pub struct Figures {
    /// Complete answers with a status below 400.
    pub answers: u64,
    /// Bytes of these answers, heads and all.
    pub bytes: u64,
    /// How long it was measured; with an open loop, until the last answer.
    pub elapsed: Duration,
    /// Nanoseconds of each answer. In a closed loop from sending it, in an open one from when it was due.
    pub latency: Histogram<u64>,
    /// What went wrong.
    pub errors: Errors,
    /// Requests of an open loop that were due and had no answer at the end.
    pub unanswered: u64,
    /// How it went, piece by piece.
    pub over_time: Vec<Moment>,
    /// What the load itself took of its core.
    pub own_cpu: Duration,
}

/// A piece of the measured time.
///
/// See [`Figures::over_time`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// When it ended, from the beginning.
    pub until: Duration,
    /// How long it was.
    pub length: Duration,
    /// Answers in it.
    pub answers: u64,
    /// Errors in it.
    pub errors: u64,
    /// Median latency of these answers.
    pub p50: Duration,
    /// The latency that 99 % of them had at most.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

/// Errors by kind, and of each kind one as it was worded.
///
/// See [`Figures::errors`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Errors(BTreeMap<ErrorKind, (u64, String)>);

/// What can go wrong with a request.
///
/// See [`Errors::iter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorKind {
    /// No connection.
    Connect,
    /// A connection, and no TLS on it.
    Tls,
    /// No answer in time.
    Timeout,
    /// The connection ended before the answer did.
    Closed,
    /// What came is no HTTP.
    Malformed,
    /// The answer is larger than allowed.
    TooLarge,
    /// A complete answer with a status of 400 or more.
    Status(u16),
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect => f.write_str("no connection"),
            Self::Tls => f.write_str("no TLS"),
            Self::Timeout => f.write_str("timeout"),
            Self::Closed => f.write_str("closed early"),
            Self::Malformed => f.write_str("malformed"),
            Self::TooLarge => f.write_str("too large"),
            Self::Status(status) => write!(f, "status {status}"),
        }
    }
}

impl Errors {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().map(|(count, _)| count).sum()
    }

    /// Kind, count, and one as it was worded.
    pub fn iter(&self) -> impl Iterator<Item = (ErrorKind, u64, &str)> {
        self.0.iter().map(|(kind, (count, text))| (*kind, *count, text.as_str()))
    }

    fn add(&mut self, kind: ErrorKind, text: impl FnOnce() -> String) {
        self.0.entry(kind).or_insert_with(|| (0, text())).0 += 1;
    }
}

/// Three digits, from a nanosecond to an hour.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("these bounds are good")
}

impl Figures {
    /// Nothing happened.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            answers: 0,
            bytes: 0,
            elapsed: Duration::ZERO,
            latency: histogram(),
            errors: Errors::default(),
            unanswered: 0,
            over_time: Vec::new(),
            own_cpu: Duration::ZERO,
        }
    }

    /// Answers a second. See [`Figures`].
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.per_second(self.answers)
    }

    /// Bytes a second, as they were read. See [`Figures`].
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.per_second(self.bytes)
    }

    fn per_second(&self, count: u64) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { float(count) / self.elapsed.as_secs_f64() }
    }

    /// The latency that so many percent of the answers had at most. See [`Figures`].
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.latency.value_at_percentile(percent))
    }

    /// How full the load's core was: from 0 to 1. Near 1, the load itself is what was measured.
    #[must_use]
    pub fn own_share(&self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { self.own_cpu.as_secs_f64() / self.elapsed.as_secs_f64() }
    }
}

/// Counts while a load runs.
#[derive(Debug)]
pub(crate) struct Recorder {
    begun: Instant,
    figures: Figures,
    /// Of the piece of time under way.
    piece: Piece,
    piece_length: Duration,
    last_answer: Instant,
    /// The last failure of the connection itself, if no answer came after it.
    failing: Option<String>,
}

#[derive(Debug)]
struct Piece {
    until: Instant,
    latency: Histogram<u64>,
    errors: u64,
}

impl Recorder {
    pub(crate) fn new(begun: Instant, time: Duration) -> Self {
        let piece_length = (time / 60).clamp(Duration::from_millis(100), Duration::from_secs(10));
        let piece = Piece { until: begun + piece_length, latency: histogram(), errors: 0 };
        Self { begun, figures: Figures::empty(), piece, piece_length, last_answer: begun, failing: None }
    }

    /// A complete answer.
    #[inline]
    pub(crate) fn answer(&mut self, status: u16, bytes: u64, since: Instant, now: Instant) {
        self.last_answer = now;
        self.failing = None;
        if now >= self.piece.until {
            self.close_piece(now);
        }
        if status >= 400 {
            self.piece.errors += 1;
            return self.figures.errors.add(ErrorKind::Status(status), || format!("an answer with status {status}"));
        }
        self.figures.answers += 1;
        self.figures.bytes += bytes;
        let latency = nanos(now.saturating_duration_since(since)).max(1);
        self.figures.latency.saturating_record(latency);
        self.piece.latency.saturating_record(latency);
    }

    /// A request that has failed.
    pub(crate) fn error(&mut self, kind: ErrorKind, text: &str, now: Instant) {
        if now >= self.piece.until {
            self.close_piece(now);
        }
        self.piece.errors += 1;
        self.figures.errors.add(kind, || text.to_owned());
        self.failing = Some(text.to_owned());
    }

    /// Whether there is no point in going on: for some time nothing came but errors.
    pub(crate) fn verdict(&self, now: Instant) -> Option<Why> {
        let last = self.failing.clone()?;
        let since = now.saturating_duration_since(self.last_answer);
        let ever = self.last_answer > self.begun;
        match ever {
            false if since > UNREACHABLE => Some(Why::Unreachable(last)),
            true if since > LOST => Some(Why::Lost { after: self.last_answer - self.begun, last }),
            _ => None,
        }
    }

    /// Answers and errors.
    pub(crate) fn done(&self) -> u64 {
        self.figures.answers + self.figures.errors.total()
    }

    /// What there is by now, for who watches.
    pub(crate) fn figures(&mut self, now: Instant) -> &Figures {
        self.figures.elapsed = now - self.begun;
        &self.figures
    }

    fn close_piece(&mut self, now: Instant) {
        while now >= self.piece.until {
            self.push_piece(self.piece.until, self.piece_length);
            self.piece.until += self.piece_length;
        }
    }

    fn push_piece(&mut self, until: Instant, length: Duration) {
        let quantile = |percent| Duration::from_nanos(self.piece.latency.value_at_percentile(percent));
        self.figures.over_time.push(Moment {
            until: until - self.begun,
            length,
            answers: self.piece.latency.len(),
            errors: self.piece.errors,
            p50: quantile(50.0),
            p99: quantile(99.0),
            max: Duration::from_nanos(self.piece.latency.max()),
        });
        self.piece.latency.clear();
        self.piece.errors = 0;
    }

    /// The figures. `end`: when measuring ended, if not with the last answer.
    pub(crate) fn finish(mut self, end: Option<Instant>, unanswered: u64, own_cpu: Duration) -> Figures {
        let end = end.unwrap_or(self.last_answer).max(self.begun);
        self.close_piece(end);
        let rest = self.piece_length.saturating_sub(self.piece.until.saturating_duration_since(end));
        // A last piece that is too short to have a rate would be a wild point in a plot.
        if rest * 2 >= self.piece_length || self.figures.over_time.is_empty() {
            self.push_piece(end, rest);
        }
        Figures { elapsed: end - self.begun, unanswered, own_cpu, ..self.figures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn answers_and_errors_are_counted_apart_and_by_piece() {
        let begun = Instant::now();
        let mut recorder = Recorder::new(begun, Duration::from_secs(6));
        recorder.answer(200, 100, begun, begun + 10 * MILLI);
        recorder.answer(404, 100, begun, begun + 20 * MILLI);
        recorder.error(ErrorKind::Closed, "reset", begun + 30 * MILLI);
        recorder.answer(304, 50, begun + 100 * MILLI, begun + 350 * MILLI);
        let figures = recorder.finish(Some(begun + 500 * MILLI), 0, Duration::ZERO);
        assert_eq!((figures.answers, figures.bytes, figures.errors.total()), (2, 150, 2));
        assert!((figures.rate() - 4.0).abs() < 1e-9);
        let kinds: Vec<_> = figures.errors.iter().map(|(kind, count, _)| (kind.to_string(), count)).collect();
        assert_eq!(kinds, [("closed early".to_owned(), 1), ("status 404".to_owned(), 1)]);
        let pieces: Vec<_> = figures.over_time.iter().map(|piece| (piece.answers, piece.errors)).collect();
        assert_eq!(pieces, [(1, 2), (0, 0), (0, 0), (1, 0), (0, 0)]);
        assert!(figures.over_time[3].max.as_millis().abs_diff(250) <= 1);
    }

    #[test]
    fn what_fails_is_known_until_an_answer_comes() {
        let begun = Instant::now();
        let mut recorder = Recorder::new(begun, Duration::from_secs(6));
        recorder.error(ErrorKind::Connect, "refused", begun + MILLI);
        assert!(recorder.verdict(begun + 900 * MILLI).is_none());
        assert!(matches!(recorder.verdict(begun + 1100 * MILLI), Some(Why::Unreachable(last)) if last == "refused"));
        recorder.answer(500, 1, begun, begun + 6 * MILLI);
        assert!(recorder.verdict(begun + 9000 * MILLI).is_none());
        recorder.error(ErrorKind::Closed, "broken", begun + 10 * MILLI);
        assert!(recorder.verdict(begun + 2900 * MILLI).is_none());
        assert!(matches!(recorder.verdict(begun + 3100 * MILLI), Some(Why::Lost { after, .. }) if after == 6 * MILLI));
    }
}
