//! Sends traces, log lines and metrics to a receiver of OpenTelemetry: OTLP over HTTP, as protobuf. With the cargo
//! feature `otlp` and the setting `otlp.endpoint`.
//!
//! Requests never wait for it: spans and lines come out of bounded queues ([`queue`](crate::metrics::queue)), metrics
//! out of what is counted anyway. One process sends for all workers, so neither a fork nor the death of a worker
//! matters. What the receiver could not take stays in its queue; spans that find no room there, and what is refused,
//! are counted and reported. Lines that find no room wait in their processes.
//!
//! Start reading at [`Exporter::send_queues`].

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use serde::de::DeserializeOwned;
use skep::App;

use super::sender::{Outcome, Sender};
use super::{Settings, logs, metrics, spans};
use crate::metrics::Metrics;
use crate::metrics::queue::QueueKind;
use crate::status::Observer;
use crate::status::observer::Observation;

/// How often the queues are emptied.
const QUEUES_EVERY: Duration = Duration::from_secs(1);

/// What is not written by then was left by a thread that is no more.
const UNFINISHED: Duration = Duration::from_secs(2);

/// The longest pause after failures.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Drops are reported once in this time.
const REPORT_EVERY: Duration = Duration::from_mins(1);

/// How long the last spans and lines may take.
const LAST_ONES: Duration = Duration::from_secs(4);

/// Sends.
#[derive(Debug)]
pub struct Exporter {
    sender: Sender,
    queues: Arc<Metrics>,
    batch: usize,
    interval: Duration,
    /// The host and port of spans, by the setting `base_url`.
    server: Vec<KeyValue>,
    /// By the setting `otlp.attributes`.
    attributes: Vec<KeyValue>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What sends, as far as it was known last.
    resource: Resource,
    /// Failures since the last success, and when the next attempt is due.
    failures: u32,
    due: Option<Instant>,
    spans: QueueState,
    log_records: QueueState,
}

#[derive(Debug, Default)]
struct QueueState {
    /// The first one of the queue is not complete, since when.
    unfinished: Option<(u64, Instant)>,
    /// Drops that were reported, and when.
    reported: u64,
    reported_at: Option<Instant>,
}

/// Has spans, lines and metrics sent while the server runs.
pub fn add_jobs(app: App, exporter: &Arc<Exporter>, observer: &Arc<Observer>) -> App {
    let (queues, queue_observer) = (Arc::clone(exporter), Arc::clone(observer));
    let (metrics, observer) = (Arc::clone(exporter), Arc::clone(observer));
    let app = app.every("send spans and lines", QUEUES_EVERY, move |_| {
        queues.send_queues(&queue_observer);
        Ok(())
    });
    app.every("send metrics", exporter.interval, move |_| {
        metrics.send_metrics(&observer.observe());
        Ok(())
    })
}

impl Exporter {
    /// `None` without a receiver. `base_url`: of the site.
    #[must_use]
    pub fn new(settings: &Settings, base_url: Option<&str>, queues: &Arc<Metrics>) -> Option<Self> {
        let endpoint = settings.endpoint.0.as_deref()?;
        let attributes = settings.attributes.0.iter().map(|(name, value)| text(name, value));
        Some(Self {
            sender: Sender::new(endpoint, &settings.headers.reveal().0, settings.timeout),
            queues: Arc::clone(queues),
            batch: settings.batch,
            interval: settings.interval,
            server: base_url.map_or_else(Vec::new, spans::server),
            attributes: attributes.collect(),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        skep_units::lock(&self.state)
    }

    /// Sends what is in the queues, batch by batch, until they are empty or the receiver fails.
    fn send_queues(&self, observer: &Observer) {
        for kind in [QueueKind::Spans, QueueKind::LogRecords] {
            self.report_drops(kind);
            if self.queues.queue(kind).has_some() && self.state().due.is_none_or(|due| due <= Instant::now()) {
                let resource = self.resource(&observer.observe());
                while self.send_batch(kind, resource.clone(), None) {}
            }
        }
    }

    /// Sends what is left, for a bounded time.
    pub fn finish(&self) {
        let until = Instant::now() + LAST_ONES;
        let resource = self.state().resource.clone();
        for kind in [QueueKind::Spans, QueueKind::LogRecords] {
            while self.send_batch(kind, resource.clone(), Some(until.saturating_duration_since(Instant::now()))) {}
            self.state().queue(kind).reported_at = None;
            self.report_drops(kind);
        }
    }

    /// False if nothing more can be sent for now.
    fn send_batch(&self, kind: QueueKind, resource: Resource, time: Option<Duration>) -> bool {
        let (mut state, queue) = (self.state(), self.queues.queue(kind));
        if time.is_some_and(|time| time.is_zero()) {
            return false;
        }
        let unfinished = state.queue(kind).unfinished;
        let abandoned = unfinished.filter(|(_, since)| since.elapsed() > UNFINISHED).map(|(number, _)| number);
        let (texts, next) = queue.next(self.batch, abandoned);
        let taken = texts.len() as u64;
        if taken == 0 {
            if unfinished.is_none_or(|(number, _)| number != next) {
                state.queue(kind).unfinished = queue.has_some().then(|| (next, Instant::now()));
            }
            return false;
        }
        let (outcome, sent) = self.send_texts(kind, resource, &texts, time);
        let lost = match &outcome {
            Outcome::Taken { rejected } => taken - sent + rejected,
            Outcome::Refused(_) => taken,
            Outcome::Failed { .. } => 0,
        };
        queue.drop(lost);
        let is_over = !matches!(outcome, Outcome::Failed { .. });
        if is_over {
            queue.finish(next);
        }
        state.note(outcome, kind.name());
        is_over
    }

    /// What became of them, and how many could be read.
    fn send_texts(
        &self,
        kind: QueueKind,
        resource: Resource,
        texts: &[Option<Vec<u8>>],
        time: Option<Duration>,
    ) -> (Outcome, u64) {
        fn read<T: DeserializeOwned>(texts: &[Option<Vec<u8>>]) -> (Vec<T>, u64) {
            let texts = texts.iter().flatten();
            let read: Vec<T> = texts.filter_map(|text| serde_json::from_slice(text).ok()).collect();
            let count = read.len() as u64;
            (read, count)
        }
        match kind {
            QueueKind::Spans => {
                let (spans, count) = read(texts);
                (self.sender.send("/v1/traces", &spans::request(resource, &self.server, spans), time), count)
            }
            QueueKind::LogRecords => {
                let (records, count) = read(texts);
                (self.sender.send("/v1/logs", &logs::request(resource, records), time), count)
            }
        }
    }

    fn send_metrics(&self, observation: &Observation) {
        let request = metrics::request(self.resource(observation), observation);
        let outcome = self.sender.send("/v1/metrics", &request, None);
        self.state().note(outcome, "metrics");
    }

    fn report_drops(&self, kind: QueueKind) {
        let (mut state, [_, dropped]) = (self.state(), self.queues.queue(kind).counts());
        let state = state.queue(kind);
        let is_due = state.reported_at.is_none_or(|at| at.elapsed() > REPORT_EVERY);
        let new = dropped.saturating_sub(state.reported);
        if new == 0 || !is_due {
            return;
        }
        let why = match kind {
            QueueKind::Spans => "limits.spans is full, or the receiver refused them",
            QueueKind::LogRecords => "the receiver refused them, or the process that wrote them was killed",
        };
        tracing::warn!(target: "skep::otlp", "{new} {} were dropped: {why}", kind.name());
        (state.reported, state.reported_at) = (dropped, Some(Instant::now()));
    }

    /// What sends. The name of the server has its version behind it, once a worker has said it.
    fn resource(&self, observation: &Observation) -> Resource {
        let name = &*observation.overview.name;
        let (name, version) = name.rsplit_once(' ').unwrap_or((name, ""));
        let mut attributes = self.attributes.clone();
        for (key, value) in [
            ("service.name", name),
            ("service.version", version),
            ("telemetry.sdk.name", "skep"),
            ("telemetry.sdk.language", "rust"),
            ("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
        ] {
            if !value.is_empty() && attributes.iter().all(|set| set.key != key) {
                attributes.push(text(key, value));
            }
        }
        let resource = Resource { attributes, ..Resource::default() };
        if !name.is_empty() {
            self.state().resource = resource.clone();
        }
        resource
    }
}

impl State {
    fn queue(&mut self, kind: QueueKind) -> &mut QueueState {
        match kind {
            QueueKind::Spans => &mut self.spans,
            QueueKind::LogRecords => &mut self.log_records,
        }
    }

    /// Notes whether the receiver took something, and when it is tried again.
    fn note(&mut self, outcome: Outcome, what: &str) {
        match outcome {
            Outcome::Taken { .. } => {
                if self.failures > 0 {
                    tracing::info!(target: "skep::otlp", "otlp.endpoint takes data again");
                }
                (self.failures, self.due) = (0, None);
            }
            Outcome::Refused(why) => tracing::warn!(target: "skep::otlp", "otlp.endpoint refused {what}: {why}"),
            Outcome::Failed { why, after } => {
                if self.failures == 0 {
                    tracing::warn!(
                        target: "skep::otlp",
                        "otlp.endpoint takes nothing, and spans and log records wait: {why}"
                    );
                }
                let pause = after.unwrap_or(Duration::from_secs(1 << self.failures.min(6))).min(LONGEST_PAUSE);
                self.failures += 1;
                self.due = Some(Instant::now() + pause);
            }
        }
    }
}

pub(super) fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "skep".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}

pub(super) fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

pub(super) fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

#[cfg(test)]
#[path = "../../tests/unit/otlp/exporter.rs"]
mod tests;
