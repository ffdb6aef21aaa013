//! Unit tests of `metrics`.

use std::time::{Duration, Instant};

use http::{HeaderMap, StatusCode};
use skep::account::{Account, StatementTime, Step, Work};
use skep::log::Trace;

use super::figures::Figures;
use super::recorder::{Finished, Traced, Tracing};
use super::spans::{RequestSpan, SpanRecord, SpanWork};
use super::*;

fn account(service: u16, cause: Option<&str>) -> Account {
    Account {
        id: 0xabc,
        service,
        sql: Duration::from_millis(3),
        statements: 2,
        by_statement: vec![StatementTime { text: "select 1".into(), runs: 2, time: Duration::from_millis(3) }],
        cache: Duration::ZERO,
        cache_reads: 0,
        render: Duration::from_millis(6),
        is_rendering: false,
        cause: cause.map(str::to_owned),
        steps: None,
    }
}

fn finished(account: &Account, status: u16, millis: u64) -> Finished<'_> {
    let time = Duration::from_millis(millis);
    Finished {
        account: Some(account),
        method: "GET",
        path: "/a",
        status: (status > 0).then(|| StatusCode::from_u16(status).unwrap()),
        time,
        waited: Duration::from_millis(1),
        answered: time,
        now: 0,
        traced: None,
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn start() -> (Arc<Metrics>, recorder::Recorder) {
    let metrics = Arc::new(Metrics::new(&Queues::default()).unwrap());
    let services = metrics.register(&names(&["none", "Article"]), &names(&[""; 9]));
    let recorder = metrics.recorder(0, services, Duration::from_millis(50), None);
    (metrics, recorder)
}

#[test]
fn requests_are_counted_by_service_and_outcome_over_all_threads_and_workers() {
    let (metrics, recorder) = start();
    recorder.record(&finished(&account(1, None), 200, 2));
    // The next version has its services in another order, and shares the memory through another mapping.
    let other = Arc::new(Metrics::open(metrics.file().try_clone().unwrap()).unwrap().unwrap());
    let services = other.register(&names(&["none", "Index", "Article"]), &names(&[""; 9]));
    for (thread, status) in [(0, 200), (1, 404), (65, 503), (1, 0)] {
        other.recorder(thread, Arc::clone(&services), Duration::from_secs(9), None).record(&finished(
            &account(2, None),
            status,
            2,
        ));
    }
    let figures = metrics.figures(|_| true);
    let article = &figures.services["Article"];
    let of = |name| article.with_outcome(name);
    assert_eq!((of("2xx"), of("3xx"), of("4xx"), of("5xx"), of("closed")), (2, 0, 1, 1, 1));
    assert!(!figures.services.contains_key("Index"), "it had no request");
    assert_eq!(figures.counter(Counter::Statements), 10);
    assert_eq!((figures.statements[0].runs, figures.statements[0].nanos), (10, 15_000_000));
}

#[test]
fn memory_of_another_layout_is_known_by_its_first_word_and_its_size() {
    let metrics = Metrics::new(&Queues::default()).unwrap();
    metrics.memory.words()[MAGIC].fetch_add(1, Ordering::Relaxed);
    assert!(Metrics::open(metrics.file().try_clone().unwrap()).unwrap().is_none());
    let short = SharedWords::new(c"skep-test", 1).unwrap();
    short.words()[MAGIC].store(VERSION, Ordering::Relaxed);
    assert!(Metrics::open(short.file().try_clone().unwrap()).unwrap().is_none());
}

#[test]
fn nothing_is_lost_when_threads_share_a_block() {
    let metrics = Arc::new(Metrics::new(&Queues::default()).unwrap());
    let services = metrics.register(&names(&["none"]), &names(&[""; 9]));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let recorder = metrics.recorder(3, Arc::clone(&services), Duration::from_secs(9), None);
                for _ in 0..1000 {
                    recorder.record(&finished(&account(0, None), 200, 1));
                    recorder.count(Counter::Accepted);
                }
            });
        }
    });
    let figures = metrics.figures(|_| true);
    assert_eq!((figures.total().count(), figures.counter(Counter::Accepted)), (4000, 4000));
}

#[test]
fn an_error_is_listed_with_its_cause_and_a_slow_request_with_where_its_time_went() {
    let (metrics, recorder) = start();
    recorder.record(&finished(&account(1, Some("the disk is \"full\"\n")), 500, 2));
    recorder.record(&finished(&account(1, None), 404, 2));
    recorder.record(&finished(&account(1, None), 200, 80));
    let Figures { errors, slow, .. } = metrics.figures(|_| true);
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert_eq!((&*error.id, error.status, &*error.service), ("0000000000000abc", 500, "Article"));
    assert_eq!((&*error.path, &*error.cause), ("/a", "the disk is \"full\"\n"));
    let [slow] = &slow[..] else { panic!("{slow:?}") };
    assert_eq!((slow.micros, slow.wait, slow.sql, slow.cache, slow.write), (80_000, 1000, 3000, 0, 0));
    assert_eq!((slow.render, slow.handler), (6000, 70_000));
    assert_eq!((&*slow.slowest[0].text, slow.slowest[0].runs), ("select 1", 2));
}

#[test]
fn the_rings_keep_the_newest_records_and_skip_what_does_not_fit() {
    let (metrics, recorder) = start();
    for number in 0..200 {
        recorder.record(&finished(&account(1, Some(&format!("{number}"))), 500, 1));
    }
    let escaped = "\u{1}".repeat(400);
    recorder.record(&finished(&account(1, Some(&escaped)), 500, 1));
    let errors = metrics.figures(|_| true).errors;
    let causes: Vec<&str> = errors.iter().map(|error| &*error.cause).collect();
    assert_eq!((causes.len(), causes[0], causes[63]), (64, "199", "136"));
}

#[test]
fn the_slowest_request_is_the_example_until_it_is_old() {
    let (metrics, recorder) = start();
    let example = || metrics.figures(|_| true).services["Article"].outcomes[0].example.unwrap();
    let now = unix_millis();
    for millis in [5, 9, 3] {
        recorder.record(&Finished { now, ..finished(&account(1, None), 200, millis) });
    }
    assert_eq!((example().id, example().nanos), (0xabc, 9_000_000));
    recorder.record(&Finished { now: now + 120_000, ..finished(&account(1, None), 200, 4) });
    assert_eq!(example().nanos, 4_000_000);
}

#[test]
fn a_running_request_is_shown_until_it_ends() {
    let (metrics, recorder) = start();
    let start = std::time::Instant::now();
    recorder.show_activity(Some(("GET", "/slow", start)));
    let running = metrics.figures(|_| true).activities;
    assert_eq!((running[0].process, &*running[0].request), (std::process::id(), "GET /slow"));
    recorder.show_activity(None);
    assert_eq!(metrics.figures(|_| true).activities, []);
}

#[test]
fn names_beyond_the_room_count_as_no_service() {
    let metrics = Arc::new(Metrics::new(&Queues::default()).unwrap());
    let many: Vec<String> = (0..300).map(|number| format!("Service{number}")).collect();
    let services = metrics.register(&many, &many);
    assert_eq!((services[255], services[256], services[299]), (255, 0, 0));
    assert_eq!(metrics.register(&many, &many)[..256], services[..256], "a name has one place");
}

/// A recorder that traces one of `one_in`, with room for `room` spans.
fn tracing(room: usize, one_in: u64) -> (Arc<Metrics>, recorder::Recorder) {
    let metrics = Arc::new(Metrics::new(&Queues { spans: room, ..Queues::default() }).unwrap());
    let routes = names(&["", "GET /writings/{page}"]);
    let services = metrics.register(&names(&["none", "Article"]), &routes);
    let tracing = Tracing { one_in, routes: routes.into() };
    let recorder = metrics.recorder(0, services, Duration::from_secs(9), Some(tracing));
    (metrics, recorder)
}

fn traced(trace: &Trace) -> Traced<'_> {
    Traced { trace, id: 7, start: Instant::now(), tls: false, version: "1.1" }
}

fn next_spans(metrics: &Metrics, most: usize) -> (Vec<SpanRecord>, u64) {
    let (texts, next) = metrics.spans().next(most, None);
    (texts.into_iter().map(|text| serde_json::from_slice(&text.unwrap()).unwrap()).collect(), next)
}

#[test]
fn a_traced_request_is_a_span_with_its_steps() {
    let (metrics, recorder) = tracing(10, 1);
    let mut account = account(1, Some("it broke"));
    let (start, time) = (Instant::now(), Duration::from_millis(1));
    account.steps = Some(vec![
        Step { work: Work::Statement(Some(0)), start, time },
        Step { work: Work::Statement(None), start, time },
        Step { work: Work::Cache, start, time },
    ]);
    let headers = [("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")];
    let headers: HeaderMap =
        headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).into_iter().collect();
    let trace = recorder.trace(&headers.into(), 7).unwrap();
    recorder.record(&Finished { traced: Some(traced(&trace)), ..finished(&account, 500, 3) });
    let (spans, next) = next_spans(&metrics, 100);
    assert!(spans.iter().all(|span| span.trace == trace.id() && span.start <= span.end));
    let SpanWork::Request(RequestSpan { method, service, route, status, cause, .. }) = &spans[0].work else { panic!() };
    assert_eq!((&**method, &**service, &**route, *status), ("GET", "Article", "/writings/{page}", 500));
    assert_eq!((spans[0].id, spans[0].parent, cause.as_deref()), (7, Some(0x00f0_67aa_0ba9_02b7), Some("it broke")));
    let steps: Vec<&SpanWork> = spans[1..].iter().map(|span| &span.work).collect();
    assert_eq!(steps, [&SpanWork::Sql(Some("select 1".to_owned())), &SpanWork::Sql(None), &SpanWork::Cache]);
    assert!(spans[1..].iter().all(|span| span.parent == Some(7)));
    let mut ids: Vec<u64> = spans.iter().map(|span| span.id).collect();
    ids.dedup();
    assert_eq!((ids.len(), next), (4, 4));
}

#[test]
fn requests_without_a_trace_are_sampled_and_the_flag_of_others_counts() {
    let (_, recorder) = tracing(10, 4);
    let sampled = |id| recorder.trace(&HeaderMap::new().into(), id).unwrap().is_sampled();
    assert_eq!((0..100).filter(|id| sampled(*id)).count(), 25);
    let header = |flags| format!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}").parse().unwrap();
    let of = |flags| {
        recorder.trace(&HeaderMap::from_iter([("traceparent".parse().unwrap(), header(flags))]).into(), 1).unwrap()
    };
    assert!(of("01").is_sampled() && !of("00").is_sampled());
    let (metrics, recorder) = tracing(10, 0);
    let never = recorder.trace(&HeaderMap::new().into(), 0).unwrap();
    recorder.record(&Finished { traced: Some(traced(&never)), ..finished(&account(1, None), 200, 3) });
    assert!(!metrics.spans().has_some());
    let (_, untraced) = start();
    assert_eq!(untraced.trace(&HeaderMap::new().into(), 1), None, "there is no exporter");
}

#[test]
fn a_full_queue_drops_and_counts_and_a_span_leaves_it_when_it_was_sent() {
    let (metrics, recorder) = tracing(4, 1);
    let trace = Trace::begin(1, true);
    let record = || recorder.record(&Finished { traced: Some(traced(&trace)), ..finished(&account(1, None), 200, 3) });
    (0..6).for_each(|_| record());
    assert_eq!(metrics.figures(|_| true).spans, [4, 2]);
    let (spans, next) = next_spans(&metrics, 3);
    assert_eq!((spans.len(), next), (3, 3));
    // The next sender, perhaps in another process, finds the same ones.
    let other = Metrics::open(metrics.file().try_clone().unwrap()).unwrap().unwrap();
    assert_eq!(next_spans(&other, 3), (spans, 3));
    other.spans().finish(3);
    (0..3).for_each(|_| record());
    assert_eq!((metrics.spans().counts(), next_spans(&metrics, 9).0.len()), ([7, 2], 4));
}

#[test]
fn a_span_that_a_killed_thread_left_unfinished_is_dropped() {
    let (metrics, recorder) = tracing(4, 1);
    metrics.spans().leave_unfinished();
    let trace = Trace::begin(1, true);
    recorder.record(&Finished { traced: Some(traced(&trace)), ..finished(&account(1, None), 200, 3) });
    assert_eq!(metrics.spans().next(9, None), (Vec::new(), 0), "it may be written yet");
    let (spans, next) = metrics.spans().next(9, Some(0));
    assert_eq!((spans.iter().map(Option::is_some).collect::<Vec<_>>(), next), (vec![false, true], 2));
}
