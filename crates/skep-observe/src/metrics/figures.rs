//! What a reader of the metrics sees: sums over all threads.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Metrics;
use super::histogram::Histogram;
use super::layout::Counter;
pub(crate) use super::layout::OUTCOMES;
use super::layout::{CREATED, EXAMPLE_AT, EXAMPLE_ID, EXAMPLE_TIME, SUM, Texts, read_text};
use super::records::{ErrorRecord, Ring, SlowRecord};

/// All numbers at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    /// Since when it is counted, in milliseconds of 1970.
    pub(crate) created: u64,
    /// By name, only those that had requests.
    pub(crate) services: BTreeMap<String, Service>,
    /// Method and path pattern of those, where they have one.
    pub(crate) routes: BTreeMap<String, String>,
    /// Spans and log records that were put into the queues of the exporter, and those that were lost.
    pub(crate) spans: [u64; 2],
    pub(crate) log_records: [u64; 2],
    counters: Vec<u64>,
    /// By the time that they took in all, most first.
    pub(crate) statements: Vec<Statement>,
    pub(crate) activities: Vec<Activity>,
    pub(crate) errors: Vec<ErrorRecord>,
    pub(crate) slow: Vec<SlowRecord>,
}

/// The requests of a service, by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) outcomes: [Series; OUTCOMES.len()],
}

/// The requests of a service with one outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Series {
    pub(crate) histogram: Histogram,
    /// In nanoseconds.
    pub(crate) sum: u64,
    pub(crate) example: Option<Example>,
}

/// A request that was slow for its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Example {
    pub(crate) id: u64,
    pub(crate) nanos: u64,
    /// In milliseconds since 1970.
    pub(crate) at: u64,
}

/// The runs of an SQL statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) runs: u64,
    /// In nanoseconds.
    pub(crate) nanos: u64,
    pub(crate) longest: u64,
}

/// A request that a thread has been working on for some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Activity {
    pub(crate) process: u32,
    /// In milliseconds since 1970.
    pub(crate) since: u64,
    pub(crate) request: String,
}

impl Metrics {
    /// What was counted, with the requests that run in processes which are busy: one that was killed has left its own.
    pub(crate) fn figures(&self, is_busy: impl Fn(u32) -> bool) -> Figures {
        let mut figures = Figures {
            created: self.memory.words()[CREATED].load(Ordering::Relaxed),
            counters: vec![0; Counter::ALL.len()],
            spans: self.spans().counts(),
            log_records: self.log_records().counts(),
            errors: self.records(Ring::Errors),
            slow: self.records(Ring::Slow),
            ..Figures::default()
        };
        for block in self.used_blocks() {
            for (counter, _) in Counter::ALL {
                figures.counters[*counter as usize] += block.counter(*counter).load(Ordering::Relaxed);
            }
            let activity = read_text(block.activity()).and_then(|text| Activity::parse(&text));
            figures.activities.extend(activity.filter(|activity| is_busy(activity.process)));
        }
        for (number, name) in self.texts(Texts::SERVICES).iter() {
            let service = self.service(number);
            if service.count() > 0 {
                let route = self.texts(Texts::ROUTES).get(number).filter(|route| !route.is_empty());
                figures.routes.extend(route.map(|route| (name.clone(), route)));
                figures.services.entry(name).or_default().merge(&service);
            }
        }
        figures.statements = self.statements();
        figures
    }

    /// What was counted, for programs: services, statements, limits, errors, slow requests, and what processes do that
    /// are busy.
    #[must_use]
    pub fn to_json(&self, is_busy: impl Fn(u32) -> bool) -> String {
        self.figures(is_busy).to_json()
    }

    fn service(&self, number: usize) -> Service {
        let mut service = Service::default();
        for block in self.used_blocks() {
            for (outcome, into) in service.outcomes.iter_mut().enumerate() {
                into.merge(&Series::read(block.series(number, outcome)));
            }
        }
        service
    }

    fn statements(&self) -> Vec<Statement> {
        let mut all: BTreeMap<String, Statement> = BTreeMap::new();
        for (number, text) in self.texts(Texts::STATEMENTS).iter() {
            let entry = all.entry(text.clone());
            let into = entry.or_insert_with(|| Statement { text, runs: 0, nanos: 0, longest: 0 });
            for block in self.used_blocks() {
                let numbers = block.statement(number);
                into.runs += numbers[0].load(Ordering::Relaxed);
                into.nanos += numbers[1].load(Ordering::Relaxed);
                into.longest = into.longest.max(numbers[2].load(Ordering::Relaxed));
            }
        }
        let mut all: Vec<Statement> = all.into_values().filter(|statement| statement.runs > 0).collect();
        all.sort_by_key(|statement| std::cmp::Reverse(statement.nanos));
        all
    }

    pub(super) fn service_name(&self, number: usize) -> String {
        let found = self.texts(Texts::SERVICES).iter().find(|(position, _)| *position == number);
        found.map_or_else(String::new, |(_, name)| name)
    }
}

impl Figures {
    pub(crate) fn counter(&self, counter: Counter) -> u64 {
        self.counters.get(counter as usize).copied().unwrap_or(0)
    }

    /// The limits that were reached, and how often.
    pub(crate) fn limits(&self) -> impl Iterator<Item = (&'static str, u64)> + use<'_> {
        let limits = Counter::ALL.iter().filter(|(_, name)| !name.is_empty());
        limits.map(|(counter, name)| (*name, self.counter(*counter)))
    }

    /// All requests together.
    pub(crate) fn total(&self) -> Service {
        let mut total = Service::default();
        self.services.values().for_each(|service| total.merge(service));
        total
    }
}

/// A service, as programs see it. Latencies are in microseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServiceSummary {
    pub(crate) name: String,
    pub(crate) requests: u64,
    pub(crate) client_errors: u64,
    pub(crate) server_errors: u64,
    /// Requests whose client closed the connection before the response.
    pub(crate) closed: u64,
    pub(crate) p50: u64,
    pub(crate) p95: u64,
    pub(crate) p99: u64,
    pub(crate) longest: u64,
}

impl ServiceSummary {
    pub(crate) fn new(name: &str, service: &Service) -> Self {
        let latencies = service.latencies();
        let micros =
            |part| latencies.quantile(part).map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        Self {
            name: name.to_owned(),
            requests: service.count(),
            client_errors: service.with_outcome("4xx"),
            server_errors: service.with_outcome("5xx"),
            closed: service.with_outcome("closed"),
            p50: micros(0.5),
            p95: micros(0.95),
            p99: micros(0.99),
            longest: micros(1.0),
        }
    }
}

impl Figures {
    /// A line for each service, most requests first.
    pub(crate) fn summaries(&self) -> Vec<ServiceSummary> {
        let mut all: Vec<_> = self.services.iter().map(|(name, service)| ServiceSummary::new(name, service)).collect();
        all.sort_by_key(|service| std::cmp::Reverse(service.requests));
        all
    }

    /// For programs: services, statements, limits, activities, errors, slow requests.
    pub(crate) fn to_json(&self) -> String {
        let limits: BTreeMap<&str, u64> = self.limits().collect();
        serde_json::json!({
            "services": self.summaries(),
            "statements": self.statements,
            "limits": limits,
            "running": self.activities,
            "errors": self.errors,
            "slow": self.slow,
        })
        .to_string()
    }
}

impl Service {
    fn merge(&mut self, other: &Self) {
        self.outcomes.iter_mut().zip(&other.outcomes).for_each(|(series, more)| series.merge(more));
    }

    /// What was added since an earlier state of the same.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        for (series, then) in since.outcomes.iter_mut().zip(&earlier.outcomes) {
            series.histogram = series.histogram.since(&then.histogram);
            series.sum = series.sum.saturating_sub(then.sum);
        }
        since
    }

    pub(crate) fn count(&self) -> u64 {
        self.outcomes.iter().map(|series| series.histogram.count()).sum()
    }

    /// Requests with this outcome.
    pub(crate) fn with_outcome(&self, name: &str) -> u64 {
        let position = OUTCOMES.iter().position(|outcome| *outcome == name);
        position.map_or(0, |position| self.outcomes[position].histogram.count())
    }

    /// Latencies of all outcomes but requests whose client went away.
    pub(crate) fn latencies(&self) -> Histogram {
        let mut all = Histogram::default();
        self.outcomes[..4].iter().for_each(|series| all.merge(&series.histogram));
        all
    }

    pub(crate) fn quantile(&self, part: f64) -> Option<Duration> {
        self.latencies().quantile(part)
    }
}

impl Series {
    fn read(words: &[std::sync::atomic::AtomicU64]) -> Self {
        let at = |position: usize| words[position].load(Ordering::Relaxed);
        let mut histogram = Histogram::default();
        for bucket in 0..SUM {
            histogram.add_to(bucket, at(bucket));
        }
        let example = Example { id: at(EXAMPLE_ID), nanos: at(EXAMPLE_TIME), at: at(EXAMPLE_AT) };
        Self { histogram, sum: at(SUM), example: Some(example).filter(|example| example.at > 0) }
    }

    fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        self.sum += other.sum;
        let slower = |one: Example, two: Example| if one.nanos >= two.nanos { one } else { two };
        self.example = match (self.example, other.example) {
            (Some(one), Some(two)) => Some(slower(one, two)),
            (one, two) => one.or(two),
        };
    }
}

impl Activity {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.splitn(3, ' ');
        let (process, since) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Self { process, since, request: words.next()?.to_owned() })
    }
}
