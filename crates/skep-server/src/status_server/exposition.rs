//! The text that Prometheus reads, in its own format and as `OpenMetrics`.
//!
//! Labels are names of services, caches and limits, which come from the program and its settings: never a path or anything else that a client
//! chooses.

use std::fmt::Write;

use super::observer::Observation;
use crate::metrics::figures::{Counter, Example, OUTCOMES, Series};

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

/// Text in the making.
struct Page {
    text: String,
    format: Format,
}

/// All metrics.
pub(super) fn text(observation: &Observation, format: Format) -> String {
    let mut page = Page { text: String::with_capacity(16 << 10), format };
    page.server(observation);
    page.requests(observation);
    page.processes(observation);
    page.caches(observation);
    page.application(observation);
    if format == Format::OpenMetrics {
        page.text += "# EOF\n";
    }
    page.text
}

impl Page {
    /// Begins a family. Prometheus names a counter with its suffix, `OpenMetrics` without.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let suffix = if kind == "counter" && self.format == Format::Prometheus { "_total" } else { "" };
        let _ = write!(self.text, "# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels = labels_text(labels);
        let _ = writeln!(self.text, "{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "gauge", help);
        self.line(name, &[], value);
    }

    fn counter(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "counter", help);
        self.line(&format!("{name}_total"), &[], value);
    }

    fn server(&mut self, observation: &Observation) {
        let overview = &observation.overview;
        self.gauge("skep_up", "1 if the supervisor has replied.", u8::from(observation.problem.is_none()));
        self.family("skep_build_info", "gauge", "The application and its version; the value is always 1.");
        self.line("skep_build_info", &[("name", &overview.name), ("version", &overview.version)], 1);
        let start = millis(observation.figures.created);
        self.gauge("skep_start_time_seconds", "When the server began to count, in seconds since 1970.", start);
        self.family("skep_workers", "gauge", "Worker processes by state.");
        for state in ["starting", "ready", "retiring"] {
            let count = overview.workers.iter().filter(|worker| worker.state == state).count();
            self.line("skep_workers", &[("state", state)], count);
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
            "counter",
            "Requests by service and class of status; closed: without a response.",
        );
        for (service, code, series) in series() {
            let labels = [("service", &**service), ("code", code)];
            self.line("skep_http_requests_total", &labels, series.histogram.count());
        }
        let help = "Time from the header section of a request to the last byte of its response.";
        self.family("skep_http_request_duration_seconds", "histogram", help);
        for (service, code, series) in series() {
            self.histogram("skep_http_request_duration_seconds", service, code, series);
        }
        self.gauge("skep_http_requests_in_flight", "Requests that are being handled.", observation.overview.running());
        self.gauge("skep_connections", "Open connections.", observation.overview.connections());
        let accepted = figures.counter(Counter::Accepted);
        self.counter("skep_connections_accepted", "Connections that were accepted.", accepted);
        self.family("skep_limit_reached", "counter", "Requests and connections that a limit has refused or ended.");
        for (limit, count) in figures.limits() {
            self.line("skep_limit_reached_total", &[("limit", limit)], count);
        }
        self.counter("skep_sql_statements", "SQL statements of requests.", figures.counter(Counter::Statements));
        let time = seconds(figures.counter(Counter::StatementTime));
        self.counter("skep_sql_seconds", "Time in which requests waited for the database.", time);
        let reads = figures.counter(Counter::CacheReads);
        self.counter("skep_page_cache_reads", "Pages and fragments that requests looked up in the cache.", reads);
    }

    fn histogram(&mut self, name: &str, service: &str, code: &str, series: &Series) {
        let mut example = series.example;
        let bucket = format!("{name}_bucket");
        let bounds = series.histogram.cumulative().map(|(micros, count)| (Some(micros), count));
        for (micros, count) in bounds.chain([(None, series.histogram.count())]) {
            let bound = micros.map_or_else(|| "+Inf".to_owned(), |micros| seconds(micros * 1000));
            let labels = labels_text(&[("service", service), ("code", code), ("le", &bound)]);
            let _ = write!(self.text, "{bucket}{labels} {count}");
            let fits = |example: &mut Example| micros.is_none_or(|micros| example.nanos <= micros * 1000);
            if let Some(example) = example.take_if(fits).filter(|_| self.format == Format::OpenMetrics) {
                let (id, time) = (skep::request::RequestId::from(example.id), seconds(example.nanos));
                let _ = write!(self.text, " # {{request_id=\"{id}\"}} {time} {}", millis(example.at));
            }
            self.text.push('\n');
        }
        let labels = [("service", service), ("code", code)];
        self.line(&format!("{name}_sum"), &labels, seconds(series.sum));
        self.line(&format!("{name}_count"), &labels, series.histogram.count());
    }

    fn processes(&mut self, observation: &Observation) {
        let overview = &observation.overview;
        self.family(
            "skep_memory_bytes",
            "gauge",
            "Memory (proportional set size) of the supervisor and of all workers.",
        );
        let workers: u64 = overview.workers.iter().map(|worker| worker.memory).sum();
        self.line("skep_memory_bytes", &[("role", "supervisor")], overview.memory);
        self.line("skep_memory_bytes", &[("role", "worker")], workers);
        self.family("skep_cpu_seconds", "counter", "Processor time of the supervisor and of all workers.");
        for (role, time) in ["supervisor", "worker"].iter().zip(observation.cpu) {
            self.line("skep_cpu_seconds_total", &[("role", role)], millis(time));
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
            self.family(name, "counter", help);
            for cache in &observation.caches {
                self.line(&format!("{name}_total"), &[("cache", &cache.name)], of(cache));
            }
        }
        let tiers = &observation.tiers;
        self.family("skep_cache_tier_entries", "gauge", "Entries of a list of tiers, or of the session store.");
        for tier in tiers {
            self.line("skep_cache_tier_entries", &tier.labels(), tier.entries);
        }
        self.family("skep_cache_tier_bytes", "gauge", "Bytes of a list of tiers, or of the session store.");
        for tier in tiers {
            self.line("skep_cache_tier_bytes", &tier.labels(), tier.bytes);
        }
        self.family("skep_cache_evictions", "counter", "Entries that were evicted.");
        for tier in tiers {
            self.line("skep_cache_evictions_total", &tier.labels(), tier.evicted);
        }
        if let Some(sessions) = observation.sessions() {
            self.gauge(
                "skep_sessions",
                "Sessions that are stored, and marks of those that ended a moment ago.",
                sessions.entries,
            );
        }
    }

    /// Numbers of `App::on_status`.
    fn application(&mut self, observation: &Observation) {
        self.family("skep_application_status", "gauge", "Numbers that the application reports in its status.");
        for part in observation.overview.application.iter().flatten() {
            let name = part.name.as_deref().unwrap_or_default();
            if name.starts_with("cache ") || name.starts_with("tiers ") || name == "sessions" {
                continue;
            }
            let process = part.process.map(|process| process.to_string());
            for (key, value) in &part.values {
                let Some(number) = value.as_u64() else { continue };
                let mut labels = vec![("part", name), ("key", key)];
                labels.extend(process.as_deref().map(|process| ("process", process)));
                self.line("skep_application_status", &labels, number);
            }
        }
    }
}

impl super::observer::TierFigures {
    fn labels(&self) -> [(&str, &str); 2] {
        [("cache", &self.name), ("driver", &self.driver)]
    }
}

/// Nanoseconds as seconds, exactly.
fn seconds(nanos: u64) -> String {
    fraction(nanos, 1_000_000_000, 9)
}

/// Milliseconds as seconds, exactly.
fn millis(millis: u64) -> String {
    fraction(millis, 1000, 3)
}

fn fraction(number: u64, unit: u64, digits: usize) -> String {
    let text = format!("{}.{:0digits$}", number / unit, number % unit);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
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
#[path = "../../tests/unit/status_server/exposition.rs"]
mod tests;
