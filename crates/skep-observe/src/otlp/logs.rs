//! Log lines as OpenTelemetry has them: the category is the scope, fields are attributes.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord as Message, ResourceLogs, ScopeLogs, SeverityNumber};
use opentelemetry_proto::tonic::resource::v1::Resource;

use super::exporter::{attribute, text};
use crate::log::LogRecord;

pub(super) fn request(resource: Resource, records: Vec<LogRecord<'_>>) -> ExportLogsServiceRequest {
    let mut scopes: BTreeMap<String, Vec<Message>> = BTreeMap::new();
    for record in records {
        scopes.entry(record.category.to_string()).or_default().push(message(&record));
    }
    let scope = |(name, log_records)| ScopeLogs {
        scope: Some(InstrumentationScope { name, ..InstrumentationScope::default() }),
        log_records,
        ..ScopeLogs::default()
    };
    let scope_logs = scopes.into_iter().map(scope).collect();
    let resource = ResourceLogs { resource: Some(resource), scope_logs, ..ResourceLogs::default() };
    ExportLogsServiceRequest { resource_logs: vec![resource] }
}

fn message(record: &LogRecord<'_>) -> Message {
    let trace = record.trace.as_deref().and_then(|trace| u128::from_str_radix(trace, 16).ok());
    // A span is nothing without its trace.
    let span = record.request.filter(|_| trace.is_some());
    Message {
        time_unix_nano: record.time,
        observed_time_unix_nano: record.time,
        severity_number: severity(&record.level).into(),
        severity_text: record.level.to_string(),
        body: Some(AnyValue { value: Some(Value::StringValue(record.message.to_string())) }),
        attributes: attributes(record),
        trace_id: trace.map_or_else(Vec::new, |trace| trace.to_be_bytes().to_vec()),
        span_id: span.map_or_else(Vec::new, |span| span.to_be_bytes().to_vec()),
        ..Message::default()
    }
}

/// Under the names of the semantic conventions, where they have one.
fn attributes(record: &LogRecord<'_>) -> Vec<KeyValue> {
    let mut attributes: Vec<KeyValue> =
        record.fields.iter().map(|(name, said, is_bare)| attribute(name, value(said, *is_bare))).collect();
    attributes.push(attribute("process.pid", Value::IntValue(record.process.into())));
    if let Some((file, line)) = &record.source {
        attributes.push(text("code.file.path", file));
        attributes.push(attribute("code.line.number", Value::IntValue((*line).into())));
    }
    attributes.extend(record.request.map(|id| text("skep.request", &format!("{id:016x}"))));
    attributes.extend(record.user.iter().map(|user| text("user.name", user)));
    attributes.extend(record.is_cut.then(|| attribute("skep.cut", Value::BoolValue(true))));
    attributes
}

/// What is a number, true or false stays that.
fn value(said: &str, is_bare: bool) -> Value {
    let whole = || said.parse().ok().map(Value::IntValue);
    let number = || said.parse().ok().map(Value::DoubleValue);
    let bare = || said.parse().ok().map(Value::BoolValue).or_else(whole).or_else(number);
    is_bare.then(bare).flatten().unwrap_or_else(|| Value::StringValue(said.to_owned()))
}

fn severity(level: &str) -> SeverityNumber {
    match level {
        "ERROR" => SeverityNumber::Error,
        "WARN" => SeverityNumber::Warn,
        "INFO" => SeverityNumber::Info,
        "DEBUG" => SeverityNumber::Debug,
        _ => SeverityNumber::Trace,
    }
}
