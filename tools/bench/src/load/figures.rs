//! What came back of a load, and what counts it while it runs.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::Why;
use super::client::Share;
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
    /// What the load itself took of its cores.
    pub own_cpu: Duration,
    /// How much of that a [busy](super::Plan::busy) load looked for answers and found none: a load that is not busy
    /// would have slept.
    pub idle: Duration,
    /// On how many threads it ran.
    threads: u32,
    /// Requests without an answer at the end, in any loop.
    under_way: u64,
    /// The latencies of each of `over_time`, if others are to be added to them.
    pieces: Vec<Counts>,
}

/// A histogram of one piece of time: the values that came, and how often.
type Counts = Vec<(u64, u64)>;

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

    fn add_all(&mut self, others: &Self) {
        for (kind, (count, text)) in &others.0 {
            self.0.entry(*kind).or_insert_with(|| (0, text.clone())).0 += count;
        }
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
            idle: Duration::ZERO,
            threads: 1,
            under_way: 0,
            pieces: Vec::new(),
        }
    }

    /// Those of several threads that loaded at the same time.
    pub(super) fn together(all: Vec<Self>) -> Self {
        let mut sum = Self { threads: u32::try_from(all.len().max(1)).unwrap_or(u32::MAX), ..Self::empty() };
        for one in &all {
            sum.answers += one.answers;
            sum.bytes += one.bytes;
            sum.elapsed = sum.elapsed.max(one.elapsed);
            // Both have the bounds of `histogram`.
            let _ = sum.latency.add(&one.latency);
            sum.errors.add_all(&one.errors);
            sum.unanswered += one.unanswered;
            sum.own_cpu += one.own_cpu;
            sum.idle += one.idle;
            sum.under_way += one.under_way;
        }
        let pieces = all.iter().map(|one| one.over_time.len()).max().unwrap_or(0);
        sum.over_time = (0..pieces).filter_map(|place| Moment::together(&all, place)).collect();
        sum
    }

    /// Whether connections were made, and nothing at all came over them.
    pub(super) fn is_silent(&self) -> bool {
        self.answers + self.errors.total() == 0 && self.under_way > 0
    }

    /// For how long nothing came at the end, although there was something to wait for: whole pieces of time.
    pub(crate) fn silence(&self) -> Duration {
        let silent = |moment: &&Moment| moment.answers + moment.errors == 0;
        let silence = self.over_time.iter().rev().take_while(silent).map(|moment| moment.length).sum();
        if self.under_way > 0 { silence } else { Duration::ZERO }
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

    /// The latency that `percent` of the answers had at most. See [`Figures`].
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.latency.value_at_percentile(percent))
    }

    /// How full the load's core was of work, or its cores were: from 0 to 1. Near 1, the load itself is what was
    /// measured. That a busy load looks for answers and finds none is no work.
    #[must_use]
    pub fn own_share(&self) -> f64 {
        let time = self.elapsed.as_secs_f64() * f64::from(self.threads);
        if self.elapsed.is_zero() { 0.0 } else { self.own_cpu.saturating_sub(self.idle).as_secs_f64() / time }
    }
}

impl Moment {
    fn of(latency: &Histogram<u64>, errors: u64, until: Duration, length: Duration) -> Self {
        let quantile = |percent| Duration::from_nanos(latency.value_at_percentile(percent));
        Self {
            until,
            length,
            answers: latency.len(),
            errors,
            p50: quantile(50.0),
            p99: quantile(99.0),
            max: Duration::from_nanos(latency.max()),
        }
    }

    /// The same piece of several threads. The last one may be missing for some, or shorter.
    fn together(all: &[Figures], place: usize) -> Option<Self> {
        let mut latency = histogram();
        let parts = all.iter().filter_map(|one| Some((one.over_time.get(place)?, one.pieces.get(place)?)));
        let (mut errors, mut longest) = (0, None::<&Self>);
        for (part, counts) in parts {
            errors += part.errors;
            longest = longest.filter(|longest| longest.length >= part.length).or(Some(part));
            for (value, count) in counts {
                latency.saturating_record_n(*value, *count);
            }
        }
        longest.map(|longest| Self::of(&latency, errors, longest.until, longest.length))
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
    /// Whether the figures of others will be added.
    shared: bool,
}

#[derive(Debug)]
struct Piece {
    until: Instant,
    latency: Histogram<u64>,
    errors: u64,
}

impl Recorder {
    /// From `begun` on, for so long; `shared` with other threads, whose figures will be added.
    pub(super) fn new(begun: Instant, time: Duration, share: Share) -> Self {
        let piece_length = (time / 60).clamp(Duration::from_millis(100), Duration::from_secs(10));
        let piece = Piece { until: begun + piece_length, latency: histogram(), errors: 0 };
        Self {
            begun,
            figures: Figures::empty(),
            piece,
            piece_length,
            last_answer: begun,
            failing: None,
            shared: share != Share::WHOLE,
        }
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
        let latency = &self.piece.latency;
        if self.shared {
            let counts = latency.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value()));
            self.figures.pieces.push(counts.collect());
        }
        self.figures.over_time.push(Moment::of(latency, self.piece.errors, until - self.begun, length));
        self.piece.latency.clear();
        self.piece.errors = 0;
    }

    /// The figures, when measuring has ended with `under_way` requests not answered.
    pub(super) fn finish(mut self, end: Instant, (under_way, unanswered): (u64, u64), own_cpu: Duration) -> Figures {
        let end = end.max(self.begun);
        self.close_piece(end);
        let rest = self.piece_length.saturating_sub(self.piece.until.saturating_duration_since(end));
        // A last piece that is too short to have a rate would be a wild point in a plot.
        if rest * 2 >= self.piece_length || self.figures.over_time.is_empty() {
            self.push_piece(end, rest);
        }
        Figures { elapsed: end - self.begun, unanswered, under_way, own_cpu, ..self.figures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn answers_and_errors_are_counted_apart_and_by_piece() {
        let begun = Instant::now();
        let mut recorder = Recorder::new(begun, Duration::from_secs(6), Share::WHOLE);
        recorder.answer(200, 100, begun, begun + 10 * MILLI);
        recorder.answer(404, 100, begun, begun + 20 * MILLI);
        recorder.error(ErrorKind::Closed, "reset", begun + 30 * MILLI);
        recorder.answer(304, 50, begun + 100 * MILLI, begun + 350 * MILLI);
        let figures = recorder.finish(begun + 500 * MILLI, (0, 0), Duration::ZERO);
        assert_eq!((figures.answers, figures.bytes, figures.errors.total()), (2, 150, 2));
        assert!((figures.rate() - 4.0).abs() < 1e-9);
        let kinds: Vec<_> = figures.errors.iter().map(|(kind, count, _)| (kind.to_string(), count)).collect();
        assert_eq!(kinds, [("closed early".to_owned(), 1), ("status 404".to_owned(), 1)]);
        let pieces: Vec<_> = figures.over_time.iter().map(|piece| (piece.answers, piece.errors)).collect();
        assert_eq!(pieces, [(1, 2), (0, 0), (0, 0), (1, 0), (0, 0)]);
        assert!(figures.over_time[3].max.as_millis().abs_diff(250) <= 1);
    }

    #[test]
    fn the_figures_of_threads_are_those_of_one_that_had_it_all() {
        let begun = Instant::now();
        let record = |shares: &[Share]| {
            let mut all: Vec<Recorder> =
                shares.iter().map(|share| Recorder::new(begun, Duration::from_secs(6), *share)).collect();
            let count = all.len();
            for number in 0..100 {
                let (due, took) = (begun + number * 4 * MILLI, (number * 37 % 100) * MILLI / 10);
                let recorder = &mut all[number as usize % count];
                match number % 10 {
                    9 => recorder.error(ErrorKind::Closed, "cut", due + took),
                    _ => recorder.answer(200, 10, due, due + took),
                }
            }
            let cpu = Duration::from_millis(100) / u32::try_from(count).unwrap();
            let finish = |recorder: Recorder| recorder.finish(begun + 400 * MILLI, (0, 1), cpu);
            Figures::together(all.into_iter().map(finish).collect())
        };
        let (one, two) =
            (record(&[Share { number: 0, of: 9 }]), record(&[Share { number: 0, of: 2 }, Share { number: 1, of: 2 }]));
        assert_eq!((one.answers, one.bytes, &one.errors, one.elapsed), (90, 900, &two.errors, two.elapsed));
        assert_eq!((two.answers, two.bytes, two.unanswered, one.own_cpu), (90, 900, 2, two.own_cpu));
        assert_eq!((&one.latency, &one.over_time), (&two.latency, &two.over_time));
        assert!((one.own_share() - 0.25).abs() < 1e-9 && (two.own_share() - 0.125).abs() < 1e-9);
        // A core that is full of looking has room for work.
        let busy = |one: &Figures| Figures { idle: Duration::from_millis(80), ..one.clone() };
        assert!((busy(&one).own_share() - 0.05).abs() < 1e-9);
        let both = Figures::together(vec![busy(&one), busy(&one)]);
        assert!((both.own_share() - 0.05).abs() < 1e-9 && both.idle == Duration::from_millis(160));
    }

    #[test]
    fn what_fails_is_known_until_an_answer_comes() {
        let begun = Instant::now();
        let mut recorder = Recorder::new(begun, Duration::from_secs(6), Share::WHOLE);
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
