//! Sends traces and metrics to a receiver of OpenTelemetry: OTLP over HTTP, as protobuf. With the cargo feature `otlp` and the setting
//! `otlp.endpoint`.
//!
//! Requests never wait for it: spans come out of a bounded queue ([`spans`](crate::metrics::spans)), metrics out of what is counted anyway.
//! One process sends for all workers, so neither a fork nor the death of a worker matters. Spans that the receiver could not take stay in the
//! queue; what finds no room there, or is refused, is counted and reported.
//!
//! Start reading at [`Exporter::send_spans`].

mod metrics;
mod sender;
mod spans;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use skep::App;

use super::observer::{Observation, Observer};
use crate::config::Config;
use crate::metrics::Metrics;
use sender::{Outcome, Sender};

/// How often the queue is emptied.
const SPANS_EVERY: Duration = Duration::from_secs(1);

/// A span that is not written by then was left by a thread that is no more.
const UNFINISHED: Duration = Duration::from_secs(2);

/// The longest pause after failures.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Drops are reported once in this time.
const REPORT_EVERY: Duration = Duration::from_mins(1);

/// How long the last spans may take.
const LAST_SPANS: Duration = Duration::from_secs(4);

/// Sends.
#[derive(Debug)]
pub(super) struct Exporter {
    sender: Sender,
    queue: Arc<Metrics>,
    batch: usize,
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
    /// The first span of the queue is not complete, since when.
    unfinished: Option<(u64, Instant)>,
    /// Drops that were reported, and when.
    reported: u64,
    reported_at: Option<Instant>,
}

/// Has spans and metrics sent while the server runs.
pub(super) fn add_jobs(app: App, exporter: &Arc<Exporter>, observer: &Arc<Observer>, config: &Config) -> App {
    let (spans, span_observer) = (Arc::clone(exporter), Arc::clone(observer));
    let (metrics, observer) = (Arc::clone(exporter), Arc::clone(observer));
    let app = app.every("send spans", SPANS_EVERY, move |_| {
        spans.send_spans(&span_observer);
        Ok(())
    });
    app.every("send metrics", config.otlp.interval, move |_| {
        metrics.send_metrics(&observer.observe());
        Ok(())
    })
}

impl Exporter {
    pub(super) fn new(config: &Config, queue: &Arc<Metrics>) -> Option<Self> {
        let endpoint = config.otlp.endpoint.0.as_deref()?;
        let attributes = config.otlp.attributes.0.iter().map(|(name, value)| text(name, value));
        Some(Self {
            sender: Sender::new(endpoint, &config.otlp.headers.0, config.otlp.timeout),
            queue: Arc::clone(queue),
            batch: config.otlp.batch,
            server: config.base_url.as_ref().map_or_else(Vec::new, |url| spans::server(url.as_str())),
            attributes: attributes.collect(),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the spans of the queue, batch by batch, until it is empty or the receiver fails.
    fn send_spans(&self, observer: &Observer) {
        self.report_drops();
        if !self.queue.has_spans() || self.state().due.is_some_and(|due| due > Instant::now()) {
            return;
        }
        let resource = self.resource(&observer.observe());
        while self.send_batch(resource.clone(), None) {}
    }

    /// Sends what is left, for a bounded time.
    pub(super) fn finish(&self) {
        let until = Instant::now() + LAST_SPANS;
        let resource = self.state().resource.clone();
        while self.send_batch(resource.clone(), Some(until.saturating_duration_since(Instant::now()))) {}
        self.state().reported_at = None;
        self.report_drops();
    }

    /// False if nothing more can be sent for now.
    fn send_batch(&self, resource: Resource, time: Option<Duration>) -> bool {
        let mut state = self.state();
        if time.is_some_and(|time| time.is_zero()) {
            return false;
        }
        let abandoned = state.unfinished.filter(|(_, since)| since.elapsed() > UNFINISHED).map(|(number, _)| number);
        let (spans, next) = self.queue.next_spans(self.batch, abandoned);
        if spans.is_empty() {
            self.queue.finish_spans(next);
            let is_same = state.unfinished.is_some_and(|(number, _)| number == next);
            if !is_same {
                state.unfinished = self.queue.has_spans().then(|| (next, Instant::now()));
            }
            return abandoned.is_some() && !is_same;
        }
        let count = spans.len() as u64;
        let outcome = self.sender.send_traces(&spans::request(resource, &self.server, spans), time);
        match &outcome {
            Outcome::Taken { rejected } => self.queue.drop_spans(*rejected),
            Outcome::Refused(_) => self.queue.drop_spans(count),
            Outcome::Failed { .. } => {}
        }
        let is_over = !matches!(outcome, Outcome::Failed { .. });
        if is_over {
            self.queue.finish_spans(next);
        }
        state.note(outcome, "spans");
        is_over
    }

    fn send_metrics(&self, observation: &Observation) {
        let request = metrics::request(self.resource(observation), observation);
        let outcome = self.sender.send_metrics(&request);
        self.state().note(outcome, "metrics");
    }

    fn report_drops(&self) {
        let (mut state, dropped) = (self.state(), self.queue.dropped_spans());
        let is_due = state.reported_at.is_none_or(|at| at.elapsed() > REPORT_EVERY);
        let new = dropped.saturating_sub(state.reported);
        if new > 0 && is_due {
            tracing::warn!(
                target: "skep::otlp",
                "{new} spans were dropped: limits.spans is full, or the receiver refused them"
            );
            (state.reported, state.reported_at) = (dropped, Some(Instant::now()));
        }
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
                    tracing::warn!(target: "skep::otlp", "otlp.endpoint takes nothing, and spans wait: {why}");
                }
                let pause = after.unwrap_or(Duration::from_secs(1 << self.failures.min(6))).min(LONGEST_PAUSE);
                self.failures += 1;
                self.due = Some(Instant::now() + pause);
            }
        }
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "skep".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

#[cfg(test)]
#[path = "../../tests/unit/status_server/otlp.rs"]
mod tests;
