//! Spans by OpenTelemetry's semantic conventions.

use http::Uri;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};

use super::exporter::{attribute, scope, text};
use crate::metrics::spans::{RequestSpan, SpanRecord, SpanWork};

/// Methods that the conventions know; a client may send any other.
const METHODS: [&str; 10] = ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"];

/// Flags of a span: it is sampled, and whether its parent is of another process is known, and so.
const SAMPLED: u32 = 1;
const KNOWS_REMOTE: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;

pub(super) fn request(resource: Resource, server: &[KeyValue], spans: Vec<SpanRecord>) -> ExportTraceServiceRequest {
    let spans = spans.into_iter().map(|record| span(server, record)).collect();
    let scope_spans = vec![ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() }];
    let resource = ResourceSpans { resource: Some(resource), scope_spans, ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![resource] }
}

/// `server.address` and `server.port` of a base URL.
pub(super) fn server(base_url: &str) -> Vec<KeyValue> {
    let Ok(url) = base_url.parse::<Uri>() else { return Vec::new() };
    let default = if url.scheme_str() == Some("https") { 443 } else { 80 };
    let port = attribute("server.port", Value::IntValue(url.port_u16().unwrap_or(default).into()));
    url.host().map(|host| text("server.address", host)).into_iter().chain([port]).collect()
}

fn span(server: &[KeyValue], record: SpanRecord) -> Span {
    let SpanRecord { trace, id, parent, start, end, work } = record;
    let trace_id = u128::from_str_radix(&trace, 16).unwrap_or(0).to_be_bytes().to_vec();
    let is_remote = parent.is_some() && matches!(work, SpanWork::Request(_));
    let span = Span {
        trace_id,
        span_id: id.to_be_bytes().to_vec(),
        parent_span_id: parent.map_or_else(Vec::new, |parent| parent.to_be_bytes().to_vec()),
        flags: SAMPLED | KNOWS_REMOTE | if is_remote { IS_REMOTE } else { 0 },
        start_time_unix_nano: start,
        end_time_unix_nano: end,
        ..Span::default()
    };
    match work {
        SpanWork::Request(request) => of_request(span, server, request),
        SpanWork::Sql(statement) => of_statement(span, statement.as_deref()),
        SpanWork::Cache => Span { name: "cache".to_owned(), kind: SpanKind::Internal.into(), ..span },
    }
}

fn of_request(span: Span, server: &[KeyValue], request: RequestSpan) -> Span {
    let RequestSpan { method, service, route, status, tls, version, called, answered, cause } = request;
    let method = if METHODS.contains(&&*method) { &*method } else { "_OTHER" };
    let shown = if method == "_OTHER" { "HTTP" } else { method };
    let mut attributes = vec![
        text("http.request.method", method),
        text("url.scheme", if tls { "https" } else { "http" }),
        text("network.protocol.version", &version),
        text("skep.service", &service),
    ];
    attributes.extend_from_slice(server);
    if !route.is_empty() {
        // Of the path itself only its pattern: a path may hold what is nobody else's business.
        attributes.extend([text("http.route", &route), text("url.path", &route)]);
    }
    let is_error = status == 0 || status >= 500;
    if status > 0 {
        attributes.push(attribute("http.response.status_code", Value::IntValue(status.into())));
    }
    if is_error {
        attributes.push(text("error.type", &if status == 0 { "closed".to_owned() } else { status.to_string() }));
    }
    let event = |name: &str, at| Event { time_unix_nano: at, name: name.to_owned(), ..Event::default() };
    Span {
        name: format!("{shown} {route}").trim_end().to_owned(),
        kind: SpanKind::Server.into(),
        attributes,
        events: vec![event("application called", called), event("response ready", answered)],
        status: is_error.then(|| Status { code: StatusCode::Error.into(), message: cause.unwrap_or_default() }),
        ..span
    }
}

fn of_statement(span: Span, statement: Option<&str>) -> Span {
    let word = statement.and_then(|statement| statement.split_whitespace().next()).unwrap_or("SQL").to_uppercase();
    let mut attributes = vec![text("db.system.name", "sqlite")];
    attributes.extend(statement.map(|statement| text("db.query.text", statement)));
    Span { name: word, kind: SpanKind::Client.into(), attributes, ..span }
}
