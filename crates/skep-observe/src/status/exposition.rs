//! All metrics, and the text that Prometheus reads, in its own format and as `OpenMetrics`.
//!
//! Labels are names of services, caches and limits, which come from the program and its settings: never a path or
//! anything else that a client chooses.

use std::fmt::{self, Write};

use super::observer::Observation;
use crate::metrics::Counter;
use crate::metrics::figures::{Example, OUTCOMES, Series};

/// Which text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Prometheus,
    OpenMetrics,
}

impl Format {
    /// The one that the client prefers, by its `Accept`.
    pub(super) fn accepted(accept: &str) -> Self {
        if accept.contains("application/openmetrics-text") { Self::OpenMetrics } else { Self::Prometheus }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// All metrics as text.
pub(super) fn text(observation: &Observation, format: Format) -> String {
    let mut text = Exposition { text: String::with_capacity(16 << 10), format, name: String::new() };
    List(&mut text).all(observation);
    if format == Format::OpenMetrics {
        text.text += "# EOF\n";
    }
    text.text
}

/// All metrics for something else that takes them.
#[cfg(feature = "otlp")]
pub(crate) fn write(observation: &Observation, sink: &mut impl MetricSink) {
    List(sink).all(observation);
}

/// What a family has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricKind {
    /// Numbers that only grow.
    Counter,
    Gauge,
    Histogram,
}

/// A number without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Whole(u64),
    /// Seconds.
    Nanos(u64),
    /// Seconds.
    Millis(u64),
}

/// What takes metrics: a family, then its series.
pub(crate) trait MetricSink {
    fn family(&mut self, name: &str, kind: MetricKind, help: &str);

    fn number(&mut self, labels: &[(&str, &str)], value: Number);

    fn histogram(&mut self, labels: &[(&str, &str)], series: &Series);
}

/// Text in the making.
struct Exposition {
    text: String,
    format: Format,
    /// That of the lines of the family.
    name: String,
}

impl MetricSink for Exposition {
    /// Prometheus names a counter with its suffix, `OpenMetrics` without.
    fn family(&mut self, name: &str, kind: MetricKind, help: &str) {
        let (word, suffix) = match kind {
            MetricKind::Counter => ("counter", "_total"),
            MetricKind::Gauge => ("gauge", ""),
            MetricKind::Histogram => ("histogram", ""),
        };
        self.name = format!("{name}{suffix}");
        let shown = if self.format == Format::Prometheus { &self.name } else { name };
        let _ = write!(self.text, "# HELP {shown} {help}\n# TYPE {shown} {word}\n");
    }

    fn number(&mut self, labels: &[(&str, &str)], value: Number) {
        let labels = labels_text(labels);
        let _ = writeln!(self.text, "{}{labels} {value}", self.name);
    }

    fn histogram(&mut self, labels: &[(&str, &str)], series: &Series) {
        let mut example = series.example;
        let bounds = series.histogram.cumulative().map(|(micros, count)| (Some(micros), count));
        for (micros, count) in bounds.chain([(None, series.histogram.count())]) {
            let bound = micros.map_or_else(|| "+Inf".to_owned(), |micros| Number::Nanos(micros * 1000).to_string());
            let labels = labels_text(&[labels, &[("le", &bound)]].concat());
            let _ = write!(self.text, "{}_bucket{labels} {count}", self.name);
            let fits = |example: &mut Example| micros.is_none_or(|micros| example.nanos <= micros * 1000);
            if let Some(example) = example.take_if(fits).filter(|_| self.format == Format::OpenMetrics) {
                let (id, time) = (skep::request::RequestId::from(example.id), Number::Nanos(example.nanos));
                let _ = write!(self.text, " # {{request_id=\"{id}\"}} {time} {}", Number::Millis(example.at));
            }
            self.text.push('\n');
        }
        let (name, labels) = (&self.name, labels_text(labels));
        let (sum, count) = (Number::Nanos(series.sum), series.histogram.count());
        let _ = writeln!(self.text, "{name}_sum{labels} {sum}\n{name}_count{labels} {count}");
    }
}

/// The metrics one after the other.
struct List<'s, S>(&'s mut S);

impl<S: MetricSink> List<'_, S> {
    fn all(&mut self, observation: &Observation) {
        self.server(observation);
        self.requests(observation);
        self.processes(observation);
        self.caches(observation);
        self.pools(observation);
        self.application(observation);
    }

    fn family(&mut self, name: &str, kind: MetricKind, help: &str) {
        self.0.family(name, kind, help);
    }

    fn number(&mut self, labels: &[(&str, &str)], value: impl Into<Number>) {
        self.0.number(labels, value.into());
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Into<Number>) {
        self.family(name, MetricKind::Gauge, help);
        self.number(&[], value);
    }

    fn counter(&mut self, name: &str, help: &str, value: impl Into<Number>) {
        self.family(name, MetricKind::Counter, help);
        self.number(&[], value);
    }

    fn server(&mut self, observation: &Observation) {
        let overview = &observation.overview;
        self.gauge("skep_up", "1 if the supervisor has replied.", u8::from(observation.problem.is_none()));
        self.family("skep_build_info", MetricKind::Gauge, "The application and its version; the value is always 1.");
        self.number(&[("name", &overview.name), ("version", &overview.version)], 1_u8);
        let start = Number::Millis(observation.figures.created);
        self.gauge("skep_start_time_seconds", "When the server began to count, in seconds since 1970.", start);
        self.family("skep_workers", MetricKind::Gauge, "Worker processes by state.");
        for state in ["starting", "ready", "retiring"] {
            let count = overview.workers.iter().filter(|worker| worker.state == state).count();
            self.number(&[("state", state)], count);
        }
        self.counter("skep_worker_crashes", "Workers that exited although nothing asked them to.", overview.crashes);
        self.counter("skep_worker_replacements", "Workers replaced by others of the same version.", overview.replaced);
        self.counter("skep_swaps", "Swaps to a new version that succeeded.", overview.swaps);
        let failed = u8::from(overview.swap_succeeded == Some(false));
        self.gauge("skep_last_swap_failed", "1 if the last swap failed.", failed);
        self.gauge("skep_crash_loop", "1 while workers exit early again and again.", u8::from(overview.crash_loop));
    }

    fn requests(&mut self, observation: &Observation) {
        let figures = &observation.figures;
        let series = || {
            figures.services.iter().flat_map(|(name, service)| {
                let outcomes = OUTCOMES.iter().zip(&service.outcomes);
                outcomes
                    .filter(|(_, series)| series.histogram.count() > 0)
                    .map(move |(code, series)| (name, *code, series))
            })
        };
        self.family(
            "skep_http_requests",
            MetricKind::Counter,
            "Requests by service and class of status; closed: without a response.",
        );
        for (service, code, series) in series() {
            let labels = [("service", &**service), ("code", code)];
            self.number(&labels, series.histogram.count());
        }
        let help = "Time from the header section of a request to the last byte of its response.";
        self.family("skep_http_request_duration_seconds", MetricKind::Histogram, help);
        for (service, code, series) in series() {
            self.0.histogram(&[("service", &**service), ("code", code)], series);
        }
        self.gauge("skep_http_requests_in_flight", "Requests that are being handled.", observation.overview.running());
        self.gauge("skep_connections", "Open connections.", observation.overview.connections());
        let accepted = figures.counter(Counter::Accepted);
        self.counter("skep_connections_accepted", "Connections that were accepted.", accepted);
        self.family(
            "skep_limit_reached",
            MetricKind::Counter,
            "Requests and connections that a limit has refused or ended.",
        );
        for (limit, count) in figures.limits() {
            self.number(&[("limit", limit)], count);
        }
        self.counter("skep_sql_statements", "SQL statements of requests.", figures.counter(Counter::Statements));
        let time = Number::Nanos(figures.counter(Counter::StatementTime));
        self.counter("skep_sql_seconds", "Time in which requests waited for the database.", time);
        if figures.spans != [0, 0] {
            let [put, dropped] = figures.spans;
            self.counter("skep_otlp_spans", "Spans that were put into the queue of otlp.endpoint.", put);
            let help = "Spans that found no room in that queue, or that the receiver refused.";
            self.counter("skep_otlp_spans_dropped", help, dropped);
        }
        if figures.log_records != [0, 0] {
            let [put, dropped] = figures.log_records;
            self.counter("skep_otlp_log_records", "Lines that were put into the queue of otlp.endpoint.", put);
            self.counter("skep_otlp_log_records_dropped", "Lines that the receiver refused.", dropped);
        }
        let reads = figures.counter(Counter::CacheReads);
        self.counter("skep_page_cache_reads", "Pages and fragments that requests looked up in the cache.", reads);
    }

    fn processes(&mut self, observation: &Observation) {
        let overview = &observation.overview;
        self.family(
            "skep_memory_bytes",
            MetricKind::Gauge,
            "Memory (proportional set size) of the supervisor and of all workers.",
        );
        let workers: u64 = overview.workers.iter().map(|worker| worker.memory).sum();
        self.number(&[("role", "supervisor")], overview.memory);
        self.number(&[("role", "worker")], workers);
        self.family("skep_cpu_seconds", MetricKind::Counter, "Processor time of the supervisor and of all workers.");
        for (role, time) in ["supervisor", "worker"].iter().zip(observation.cpu) {
            self.number(&[("role", role)], Number::Millis(time));
        }
    }

    fn caches(&mut self, observation: &Observation) {
        type Of = (&'static str, &'static str, fn(&super::observer::CacheFigures) -> u64);
        const COUNTERS: [Of; 6] = [
            ("skep_cache_hits", "Reads that found an entry.", |cache| cache.hits),
            ("skep_cache_stale_hits", "Reads that found a stale entry, included in hits.", |cache| cache.stale),
            ("skep_cache_misses", "Reads that found none.", |cache| cache.misses),
            ("skep_cache_computations", "Values that were computed.", |cache| cache.computations),
            ("skep_cache_coalesced", "Reads that waited for the computation of another one.", |cache| cache.coalesced),
            ("skep_cache_failures", "Calls of the driver that failed.", |cache| cache.failures),
        ];
        for (name, help, of) in COUNTERS {
            self.family(name, MetricKind::Counter, help);
            for cache in &observation.caches {
                self.number(&[("cache", &cache.name)], of(cache));
            }
        }
        let tiers = &observation.tiers;
        self.family(
            "skep_cache_tier_entries",
            MetricKind::Gauge,
            "Entries of a list of tiers, or of the session store.",
        );
        for tier in tiers {
            self.number(&tier.labels(), tier.entries);
        }
        self.family("skep_cache_tier_bytes", MetricKind::Gauge, "Bytes of a list of tiers, or of the session store.");
        for tier in tiers {
            self.number(&tier.labels(), tier.bytes);
        }
        self.family("skep_cache_evictions", MetricKind::Counter, "Entries that were evicted.");
        for tier in tiers {
            self.number(&tier.labels(), tier.evicted);
        }
        if let Some(sessions) = observation.sessions() {
            self.gauge(
                "skep_sessions",
                "Sessions that are stored, and marks of those that ended a moment ago.",
                sessions.entries,
            );
        }
    }

    fn pools(&mut self, observation: &Observation) {
        type Of = (&'static str, MetricKind, &'static str, fn(&super::observer::PoolFigures) -> u64);
        const FAMILIES: [Of; 6] = [
            ("skep_sql_connections", MetricKind::Gauge, "Open connections to the database.", |pool| pool.connections),
            ("skep_sql_connections_busy", MetricKind::Gauge, "Those that run a statement or a transaction.", |pool| {
                pool.busy
            }),
            ("skep_sql_waiting", MetricKind::Gauge, "Requests that wait for a connection.", |pool| pool.waiting),
            ("skep_sql_connections_opened", MetricKind::Counter, "Connections that were opened.", |pool| pool.opened),
            ("skep_sql_connections_lost", MetricKind::Counter, "Connections that the database ended.", |pool| {
                pool.lost
            }),
            ("skep_sql_connect_failures", MetricKind::Counter, "Attempts to connect that failed.", |pool| pool.failed),
        ];
        for (name, kind, help, of) in FAMILIES {
            self.family(name, kind, help);
            for pool in &observation.pools {
                self.number(&[("pool", &pool.name)], of(pool));
            }
        }
    }

    /// Numbers of `App::on_status`.
    fn application(&mut self, observation: &Observation) {
        self.family(
            "skep_application_status",
            MetricKind::Gauge,
            "Numbers that the application reports in its status.",
        );
        for part in observation.overview.application.iter().flatten() {
            let name = part.name.as_deref().unwrap_or_default();
            if super::observer::is_storage(name) {
                continue;
            }
            let process = part.process.map(|process| process.to_string());
            for (key, value) in &part.values {
                let Some(number) = value.as_u64() else { continue };
                let mut labels = vec![("part", name), ("key", key)];
                labels.extend(process.as_deref().map(|process| ("process", process)));
                self.number(&labels, number);
            }
        }
    }
}

impl super::observer::TierFigures {
    fn labels(&self) -> [(&str, &str); 2] {
        [("cache", &self.name), ("driver", &self.driver)]
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit, digits) = match *self {
            Self::Whole(number) => return number.fmt(f),
            Self::Nanos(nanos) => (nanos, 1_000_000_000, 9),
            Self::Millis(millis) => (millis, 1000, 3),
        };
        let text = format!("{}.{:0digits$}", number / unit, number % unit);
        let short = text.trim_end_matches('0');
        write!(f, "{short}{}", if short.ends_with('.') { "0" } else { "" })
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<u8> for Number {
    fn from(number: u8) -> Self {
        Self::Whole(number.into())
    }
}

impl From<usize> for Number {
    fn from(number: usize) -> Self {
        Self::Whole(number as u64)
    }
}

/// `{name="value"}`, with what would end a value escaped.
fn labels_text(labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let all: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", all.join(","))
}

#[cfg(test)]
#[path = "../../tests/unit/status/exposition.rs"]
mod tests;
