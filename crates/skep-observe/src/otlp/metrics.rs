//! The metrics of `/-/metrics` as OpenTelemetry has them.
//!
//! HTTP metrics have the names of its semantic conventions; all others are `skep.` and what Prometheus knows them by.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use super::exporter::{scope, text};
use crate::metrics::figures::Series;
use crate::status::exposition::{self, MetricKind, MetricSink, Number};
use crate::status::observer::Observation;

/// Names of the conventions, and their units.
const NAMES: [(&str, &str, &str); 2] = [
    ("skep_http_request_duration_seconds", "http.server.request.duration", "s"),
    ("skep_http_requests_in_flight", "http.server.active_requests", "{request}"),
];

pub(super) fn request(resource: Resource, observation: &Observation) -> ExportMetricsServiceRequest {
    let mut list = List {
        metrics: Vec::new(),
        start: nanos(observation.figures.created),
        now: nanos(observation.at),
        routes: &observation.figures.routes,
    };
    exposition::write(observation, &mut list);
    let has_points = |metric: &Metric| match &metric.data {
        Some(Data::Gauge(gauge)) => !gauge.data_points.is_empty(),
        Some(Data::Sum(sum)) => !sum.data_points.is_empty(),
        Some(Data::Histogram(histogram)) => !histogram.data_points.is_empty(),
        _ => false,
    };
    list.metrics.retain(has_points);
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope()), metrics: list.metrics, ..ScopeMetrics::default() }];
    let resource = ResourceMetrics { resource: Some(resource), scope_metrics, ..ResourceMetrics::default() };
    ExportMetricsServiceRequest { resource_metrics: vec![resource] }
}

struct List<'o> {
    metrics: Vec<Metric>,
    start: u64,
    now: u64,
    routes: &'o BTreeMap<String, String>,
}

impl MetricSink for List<'_> {
    fn family(&mut self, name: &str, kind: MetricKind, help: &str) {
        let temporality = AggregationTemporality::Cumulative.into();
        let data = match kind {
            MetricKind::Counter => {
                Data::Sum(Sum { is_monotonic: true, aggregation_temporality: temporality, ..Sum::default() })
            }
            MetricKind::Gauge => Data::Gauge(Gauge::default()),
            MetricKind::Histogram => {
                Data::Histogram(Histogram { aggregation_temporality: temporality, ..Histogram::default() })
            }
        };
        let (name, unit) = name_and_unit(name);
        self.metrics.push(Metric { name, unit, description: help.to_owned(), data: Some(data), ..Metric::default() });
    }

    fn number(&mut self, labels: &[(&str, &str)], value: Number) {
        let point = NumberDataPoint {
            attributes: self.attributes(labels),
            start_time_unix_nano: self.start,
            time_unix_nano: self.now,
            value: Some(number(value)),
            ..NumberDataPoint::default()
        };
        match self.metrics.last_mut().and_then(|metric| metric.data.as_mut()) {
            Some(Data::Sum(sum)) => sum.data_points.push(point),
            Some(Data::Gauge(gauge)) => gauge.data_points.push(point),
            _ => {}
        }
    }

    fn histogram(&mut self, labels: &[(&str, &str)], series: &Series) {
        let count = series.histogram.count();
        let (bounds, within): (Vec<u64>, Vec<u64>) = series.histogram.cumulative().unzip();
        let before = [0].into_iter().chain(within.iter().copied());
        let each = within.iter().copied().chain([count]).zip(before).map(|(up_to, before)| up_to - before);
        let point = HistogramDataPoint {
            attributes: self.attributes(labels),
            start_time_unix_nano: self.start,
            time_unix_nano: self.now,
            count,
            sum: Some(seconds(series.sum)),
            bucket_counts: each.collect(),
            explicit_bounds: bounds.into_iter().map(|micros| seconds(micros * 1000)).collect(),
            ..HistogramDataPoint::default()
        };
        if let Some(Data::Histogram(histogram)) = self.metrics.last_mut().and_then(|metric| metric.data.as_mut()) {
            histogram.data_points.push(point);
        }
    }
}

impl List<'_> {
    /// Labels, and for a service its method and route.
    fn attributes(&self, labels: &[(&str, &str)]) -> Vec<KeyValue> {
        let mut attributes: Vec<KeyValue> = Vec::new();
        for (name, value) in labels {
            attributes.push(text(&format!("skep.{name}"), value));
            if let Some((method, path)) =
                self.routes.get(*value).filter(|_| *name == "service").and_then(|of| of.split_once(' '))
            {
                attributes.extend([
                    text("http.request.method", if method == "*" { "_OTHER" } else { method }),
                    text("http.route", path),
                ]);
            }
        }
        attributes
    }
}

fn name_and_unit(name: &str) -> (String, String) {
    if let Some((_, known, unit)) = NAMES.iter().find(|(ours, ..)| *ours == name) {
        return ((*known).to_owned(), (*unit).to_owned());
    }
    let unit = match name.rsplit('_').next() {
        Some("seconds") => "s",
        Some("bytes") => "By",
        _ => "1",
    };
    (format!("skep.{}", name.trim_start_matches("skep_")), unit.to_owned())
}

fn number(value: Number) -> Value {
    match value {
        Number::Whole(number) => Value::AsInt(i64::try_from(number).unwrap_or(i64::MAX)),
        Number::Nanos(nanos) => Value::AsDouble(seconds(nanos)),
        Number::Millis(millis) => Value::AsDouble(seconds(self::nanos(millis))),
    }
}

fn nanos(millis: u64) -> u64 {
    millis.saturating_mul(1_000_000)
}

fn seconds(nanos: u64) -> f64 {
    std::time::Duration::from_nanos(nanos).as_secs_f64()
}
