//! Unit tests of `otlp::exporter`: what becomes of records. `tests/processes/otlp.rs` sends them.

use std::collections::HashMap;

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use super::*;
use crate::metrics::spans::{RequestSpan, SpanRecord, SpanWork};

fn record(work: SpanWork) -> SpanRecord {
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736".to_owned();
    SpanRecord { trace, id: 7, parent: Some(0xab), start: 10, end: 30, work }
}

fn get(status: u16) -> RequestSpan {
    RequestSpan {
        method: "GET".to_owned(),
        service: "Article".to_owned(),
        route: "/writings/{page}".to_owned(),
        status,
        tls: true,
        version: "2.0".to_owned(),
        called: 11,
        answered: 20,
        cause: None,
    }
}

fn span(work: SpanWork) -> Span {
    let server = spans::server("https://example.org");
    let request = spans::request(Resource::default(), &server, vec![record(work)]);
    request.resource_spans[0].scope_spans[0].spans[0].clone()
}

fn attributes(span: &Span) -> HashMap<&str, String> {
    let value = |value: &KeyValue| match value.value.clone().unwrap().value.unwrap() {
        Value::StringValue(text) => text,
        Value::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    span.attributes.iter().map(|pair| (&*pair.key, value(pair))).collect()
}

#[test]
fn a_request_has_the_attributes_of_the_conventions() {
    let span = span(SpanWork::Request(get(200)));
    assert_eq!((&*span.name, span.kind, span.flags), ("GET /writings/{page}", SpanKind::Server as i32, 0x301));
    let found = attributes(&span);
    for (name, value) in [
        ("http.request.method", "GET"),
        ("http.response.status_code", "200"),
        ("http.route", "/writings/{page}"),
        ("network.protocol.version", "2.0"),
        ("server.address", "example.org"),
        ("server.port", "443"),
        ("skep.service", "Article"),
        ("url.path", "/writings/{page}"),
        ("url.scheme", "https"),
    ] {
        assert_eq!(found.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!((found.len(), span.status), (9, None));
    assert_eq!(
        (span.trace_id.len(), &*span.span_id, &*span.parent_span_id),
        (16, &7_u64.to_be_bytes()[..], &0xab_u64.to_be_bytes()[..])
    );
    assert_eq!((span.events[0].time_unix_nano, span.events[1].time_unix_nano), (11, 20));
}

#[test]
fn failures_are_errors_and_what_a_client_invents_is_not_a_name() {
    let failed = span(SpanWork::Request(RequestSpan { cause: Some("why".to_owned()), ..get(503) }));
    assert_eq!(attributes(&failed)["error.type"], "503");
    assert_eq!(failed.status.map(|status| (status.code, status.message)), Some((2, "why".to_owned())));
    assert_eq!(span(SpanWork::Request(get(404))).status, None, "that is the client's error");
    let closed = span(SpanWork::Request(get(0)));
    assert_eq!(attributes(&closed)["error.type"], "closed");
    let odd = RequestSpan { method: "FROB".to_owned(), route: String::new(), ..get(405) };
    let odd = span(SpanWork::Request(odd));
    assert_eq!((&*odd.name, &*attributes(&odd)["http.request.method"]), ("HTTP", "_OTHER"));
}

#[test]
fn statements_are_named_by_their_first_word() {
    let select = span(SpanWork::Sql(Some("select a from b".to_owned())));
    assert_eq!((&*select.name, select.kind, select.flags), ("SELECT", SpanKind::Client as i32, 0x101));
    assert_eq!(attributes(&select)["db.query.text"], "select a from b");
    assert_eq!(span(SpanWork::Sql(None)).name, "SQL");
    assert_eq!(span(SpanWork::Cache).name, "cache");
}

#[test]
fn pauses_grow_and_a_receiver_may_say_how_long() {
    let mut state = State::default();
    let pause = |state: &State| state.due.unwrap().saturating_duration_since(Instant::now()).as_secs_f64().round();
    let failed = |after| Outcome::Failed { why: "503".to_owned(), after };
    let mut pauses = Vec::new();
    for _ in 0..8 {
        state.note(failed(None), "spans");
        pauses.push(pause(&state));
    }
    assert_eq!(pauses, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
    state.note(failed(Some(Duration::from_secs(5))), "spans");
    assert!((pause(&state) - 5.0).abs() < f64::EPSILON);
    state.note(Outcome::Taken { rejected: 0 }, "spans");
    assert_eq!((state.failures, state.due), (0, None));
}
