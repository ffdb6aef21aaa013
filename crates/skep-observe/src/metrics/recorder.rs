//! One thread's view of the metrics: it counts.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::StatusCode;
use skep::account::{Account, StatementTime, Work};
use skep::log::Trace;

use super::layout::{Counter, EXAMPLE_AT, EXAMPLE_ID, EXAMPLE_TIME, SUM, Texts, clear_text, write_text};
use super::records::{ErrorRecord, Ring, SlowRecord, SlowStatement};
use super::spans::{RequestSpan, SpanRecord, SpanWork};
use super::{Metrics, histogram};
use crate::clock::unix_millis;
use crate::log::masked;

/// An example is replaced by a faster request after this many milliseconds.
const EXAMPLE_LASTS: u64 = 60_000;

/// The most texts of statements that a thread remembers the positions of.
const REMEMBERED: usize = 1024;

/// The longest path that is recorded.
const LONGEST_PATH: usize = 160;
const LONGEST_CAUSE: usize = 400;
const LONGEST_STATEMENT: usize = 160;
/// Statements of a slow request that are recorded.
const MOST_STATEMENTS: usize = 3;

/// Counts for one thread.
pub struct Recorder {
    metrics: Arc<Metrics>,
    thread: usize,
    /// Where each service of the application is counted.
    services: Arc<[u16]>,
    /// Requests that take longer are listed.
    slow: Duration,
    /// The positions of statements; `None` where the table was full.
    statements: RefCell<HashMap<Box<str>, Option<u16>>>,
    has_activity: Cell<bool>,
    tracing: Option<Tracing>,
}

/// Which requests become spans, and what these say of services.
#[derive(Clone, Debug)]
pub struct Tracing {
    /// Of requests that bring no trace, one of this number is traced; 0: none.
    pub one_in: u64,
    /// Method and path pattern of each service.
    pub routes: Arc<[String]>,
}

/// What the span of a request needs besides.
#[derive(Debug)]
pub struct Traced<'r> {
    /// Of the client, or begun here.
    pub trace: &'r Trace,
    /// The id of the span.
    pub id: u64,
    /// When the header section was complete.
    pub start: Instant,
    /// The connection is encrypted.
    pub tls: bool,
    /// Such as `1.1`.
    pub version: &'static str,
}

/// A request whose last byte is on its way.
#[derive(Debug)]
pub struct Finished<'r> {
    /// What the application says of it, if it was called.
    pub account: Option<&'r Account>,
    /// Such as `GET`.
    pub method: &'r str,
    /// Without the query, which may hold secrets.
    pub path: &'r str,
    /// `None`: the client closed the connection before the response.
    pub status: Option<StatusCode>,
    /// From the last byte of the header section to the last byte of the response.
    pub time: Duration,
    /// Until the application was called.
    pub waited: Duration,
    /// Until it had a response.
    pub answered: Duration,
    /// Milliseconds since 1970, as of the last tick of the thread's clock.
    pub now: u64,
    /// For a request that becomes a span.
    pub traced: Option<Traced<'r>>,
}

impl Finished<'_> {
    /// 0: there was no response.
    fn status_code(&self) -> u16 {
        self.status.map_or(0, |status| status.as_u16())
    }
}

impl Recorder {
    pub(super) fn new(
        metrics: Arc<Metrics>,
        thread: usize,
        services: Arc<[u16]>,
        slow: Duration,
        tracing: Option<Tracing>,
    ) -> Self {
        metrics.block(thread).set_used();
        let (statements, has_activity) = Default::default();
        let tracing = tracing.filter(|_| metrics.spans().capacity() > 0);
        Self { metrics, thread, services, slow, statements, has_activity, tracing }
    }

    /// The trace of a request for which this server makes a span: its client's, or one that begins here. `None` without
    /// tracing.
    pub fn trace(&self, headers: &skep::request::Fields, id: u64) -> Option<Trace> {
        let one_in = self.tracing.as_ref()?.one_in;
        Some(Trace::of(headers).unwrap_or_else(|| Trace::begin(id, one_in > 0 && id.is_multiple_of(one_in))))
    }

    /// Adds 1.
    pub fn count(&self, counter: Counter) {
        self.add(counter, 1);
    }

    fn add(&self, counter: Counter, number: u64) {
        self.metrics.block(self.thread).counter(counter).fetch_add(number, Ordering::Relaxed);
    }

    /// Counts a request, and lists it if it failed or was slow.
    pub fn record(&self, request: &Finished<'_>) {
        let service = request.account.and_then(|account| self.services.get(usize::from(account.service)));
        let service = usize::from(service.copied().unwrap_or(0));
        let series = self.metrics.block(self.thread).series(service, outcome(request.status));
        let nanos = nanos(request.time);
        series[histogram::bucket(nanos)].fetch_add(1, Ordering::Relaxed);
        series[SUM].fetch_add(nanos, Ordering::Relaxed);
        match request.status_code() {
            413 => self.count(Counter::BodySize),
            429 => self.count(Counter::RateLimit),
            _ => {}
        }
        if let Some(traced) = request.traced.as_ref().filter(|traced| traced.trace.is_sampled()) {
            self.record_spans(service, request, traced);
        }
        let Some(account) = request.account else { return };
        let is_old = || request.now.saturating_sub(series[EXAMPLE_AT].load(Ordering::Relaxed)) > EXAMPLE_LASTS;
        if nanos > series[EXAMPLE_TIME].load(Ordering::Relaxed) || is_old() {
            keep_example(series, account.id, nanos);
        }
        if account.statements > 0 {
            self.record_statements(account);
        }
        if account.cache_reads > 0 {
            self.add(Counter::CacheReads, account.cache_reads.into());
            self.add(Counter::CacheTime, self::nanos(account.cache));
        }
        if let Some(cause) = account.cause.as_deref().filter(|_| is_error(request.status)) {
            self.record_error(service, account, request, cause);
        }
        if request.time >= self.slow {
            self.record_slow(service, account, request);
        }
    }

    /// A span of the request, and one for each of its steps.
    fn record_spans(&self, service: usize, request: &Finished<'_>, traced: &Traced<'_>) {
        let Some(tracing) = &self.tracing else { return };
        let (now, unix_now) = (Instant::now(), unix_nanos());
        let unix = |at: Instant| unix_now.saturating_sub(nanos(now.saturating_duration_since(at)));
        let start = unix(traced.start);
        let account = request.account;
        let route = account.and_then(|account| tracing.routes.get(usize::from(account.service)));
        let route = route.and_then(|route| route.split_once(' ')).map_or("", |(_, path)| path);
        let span = |id, parent, start, time, work| SpanRecord {
            trace: traced.trace.id().to_owned(),
            id,
            parent,
            start,
            end: start.saturating_add(nanos(time)),
            work,
        };
        let own = RequestSpan {
            method: request.method.to_owned(),
            service: self.metrics.service_name(service),
            route: cut(route, LONGEST_PATH),
            status: request.status_code(),
            tls: traced.tls,
            version: traced.version.to_owned(),
            called: start.saturating_add(nanos(request.waited)),
            answered: start.saturating_add(nanos(request.answered)),
            cause: account
                .and_then(|account| account.cause.as_deref())
                .map(|cause| cut(&masked(cause), LONGEST_STATEMENT)),
        };
        let parent = traced.trace.parent().and_then(|parent| u64::from_str_radix(parent, 16).ok());
        self.metrics.push_span(&span(traced.id, parent, start, request.time, SpanWork::Request(own)));
        let Some((account, steps)) = account.and_then(|account| Some((account, account.steps.as_ref()?))) else {
            return;
        };
        for (step, number) in steps.iter().zip(1_u64..) {
            let work = match step.work {
                Work::Statement(position) => {
                    let text = position.and_then(|position| account.by_statement.get(position));
                    SpanWork::Sql(text.map(|statement| cut(&statement.text, LONGEST_CAUSE)))
                }
                Work::Cache => SpanWork::Cache,
            };
            let id = traced.id.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1);
            self.metrics.push_span(&span(id, Some(traced.id), unix(step.start), step.time, work));
        }
    }

    fn record_statements(&self, account: &Account) {
        self.add(Counter::Statements, account.statements.into());
        self.add(Counter::StatementTime, nanos(account.sql));
        for statement in &account.by_statement {
            let Some(position) = self.position(&statement.text) else { continue };
            let numbers = self.metrics.block(self.thread).statement(position.into());
            let time = nanos(statement.time);
            numbers[0].fetch_add(statement.runs.into(), Ordering::Relaxed);
            numbers[1].fetch_add(time, Ordering::Relaxed);
            numbers[2].fetch_max(time / u64::from(statement.runs.max(1)), Ordering::Relaxed);
        }
    }

    fn position(&self, text: &str) -> Option<u16> {
        let mut known = self.statements.borrow_mut();
        if let Some(position) = known.get(text) {
            return *position;
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let position = self.metrics.texts(Texts::STATEMENTS).find_or_add(text);
        known.insert(text.into(), position);
        position
    }

    fn record_error(&self, service: usize, account: &Account, request: &Finished<'_>, cause: &str) {
        self.metrics.push(
            Ring::Errors,
            &ErrorRecord {
                at: unix_millis(),
                id: id_text(account.id),
                status: request.status_code(),
                service: self.metrics.service_name(service),
                method: request.method.to_owned(),
                path: cut(request.path, LONGEST_PATH),
                cause: cut(&masked(cause), LONGEST_CAUSE),
            },
        );
    }

    fn record_slow(&self, service: usize, account: &Account, request: &Finished<'_>) {
        let mut statements: Vec<&StatementTime> = account.by_statement.iter().collect();
        statements.sort_by_key(|statement| std::cmp::Reverse(statement.time));
        let slowest = statements.iter().take(MOST_STATEMENTS).map(|statement| SlowStatement {
            text: cut(&statement.text, LONGEST_STATEMENT),
            runs: statement.runs,
            micros: micros(statement.time),
        });
        let told = request.waited + account.sql + account.cache + account.render;
        self.metrics.push(
            Ring::Slow,
            &SlowRecord {
                at: unix_millis(),
                id: id_text(account.id),
                status: request.status_code(),
                service: self.metrics.service_name(service),
                method: request.method.to_owned(),
                path: cut(request.path, LONGEST_PATH),
                micros: micros(request.time),
                wait: micros(request.waited),
                sql: micros(account.sql),
                cache: micros(account.cache),
                render: micros(account.render),
                handler: micros(request.answered.saturating_sub(told)),
                write: micros(request.time.saturating_sub(request.answered)),
                statements: account.statements,
                slowest: slowest.collect(),
            },
        );
    }

    /// Shows the request that has been running for longest, since when it runs in milliseconds of 1970, or that none
    /// does.
    pub fn show_activity(&self, running: Option<(&str, &str, Instant)>) {
        let place = self.metrics.block(self.thread).activity();
        match running {
            Some((method, path, start)) => {
                let began = unix_millis().saturating_sub(micros(start.elapsed()) / 1000);
                write_text(place, &format!("{} {began} {method} {}", std::process::id(), cut(path, LONGEST_PATH)));
                self.has_activity.set(true);
            }
            None if self.has_activity.take() => clear_text(place),
            None => {}
        }
    }
}

/// Two threads that share a block may mix their examples: each is one that was measured, and its time may be the
/// other's.
fn keep_example(series: &[AtomicU64], id: u64, nanos: u64) {
    series[EXAMPLE_ID].store(id, Ordering::Relaxed);
    series[EXAMPLE_TIME].store(nanos, Ordering::Relaxed);
    series[EXAMPLE_AT].store(unix_millis(), Ordering::Relaxed);
}

/// The position in `OUTCOMES`.
fn outcome(status: Option<StatusCode>) -> usize {
    match status.map(|status| status.as_u16()) {
        None => 4,
        Some(0..300) => 0,
        Some(300..400) => 1,
        Some(400..500) => 2,
        Some(_) => 3,
    }
}

fn is_error(status: Option<StatusCode>) -> bool {
    status.is_some_and(|status| status.is_server_error())
}

fn id_text(id: u64) -> String {
    skep::request::RequestId::from(id).to_string()
}

fn cut(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

fn unix_nanos() -> u64 {
    nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("thread", &self.thread).finish_non_exhaustive()
    }
}
