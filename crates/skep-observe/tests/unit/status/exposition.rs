//! Unit tests of `status::exposition`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::super::observer::{CacheFigures, PoolFigures, TierFigures};
use super::Number::{Millis, Nanos};
use super::*;
use crate::metrics::Finished;
use crate::metrics::{Metrics, Queues};
use crate::overview::{Overview, PartOverview};

/// A server in which all that there is has happened.
fn observation() -> Observation {
    let metrics = Arc::new(Metrics::new(&Queues::default()).unwrap());
    let services =
        metrics.register(&["none".to_owned(), "Search \"all\"\\\n".to_owned()], &[String::new(), String::new()]);
    let recorder = metrics.recorder(0, services, Duration::from_secs(9), None);
    let account = skep::account::Account {
        id: 0xfeed,
        service: 1,
        sql: Duration::ZERO,
        statements: 0,
        by_statement: Vec::new(),
        cache: Duration::ZERO,
        cache_reads: 0,
        render: Duration::ZERO,
        is_rendering: false,
        cause: None,
        steps: None,
    };
    for (status, micros) in [(200, 100), (200, 1500), (500, 80_000_000)] {
        let time = Duration::from_micros(micros);
        let (method, path, status) = ("GET", "/search", Some(StatusCode::from_u16(status).unwrap()));
        let waited = Duration::ZERO;
        recorder.record(&Finished {
            account: Some(&account),
            method,
            path,
            status,
            time,
            waited,
            answered: time,
            now: 0,
            traced: None,
        });
    }
    let part = PartOverview {
        process: None,
        name: Some("orders".into()),
        values: BTreeMap::from([("waiting".into(), 7.into())]),
    };
    let overview =
        Overview { name: "shop 1.0".into(), uptime: 1.5, application: Some(vec![part]), ..Overview::default() };
    let cache = CacheFigures { name: "pages".into(), hits: 3, ..CacheFigures::default() };
    let tier = TierFigures { name: "sessions".into(), driver: "sqlite".into(), entries: 2, bytes: 100, evicted: 0 };
    let pool = PoolFigures { name: "postgres".into(), connections: 5, busy: 2, lost: 1, ..PoolFigures::default() };
    let figures = metrics.figures(|_| true);
    let (caches, tiers, pools, cpu) = (vec![cache], vec![tier], vec![pool], [10, 2500]);
    Observation { overview, figures, caches, tiers, pools, cpu, ..Observation::default() }
}

/// A name, labels, and a value.
type Found = (String, BTreeMap<String, String>, f64);

/// Reads a line as the documents of the formats say.
fn parse(line: &str) -> Found {
    let sample = line.split(" # ").next().unwrap();
    let (series, value) = sample.rsplit_once(' ').unwrap();
    let value = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
    let Some((name, rest)) = series.split_once('{') else { return (series.to_owned(), BTreeMap::new(), value) };
    let (mut rest, mut labels) = (rest.strip_suffix('}').unwrap(), BTreeMap::new());
    while !rest.is_empty() {
        let (label, after) = rest.split_once("=\"").unwrap();
        let mut text = String::new();
        let mut characters = after.char_indices();
        let end = loop {
            match characters.next().unwrap() {
                (at, '"') => break at,
                (_, '\\') => match characters.next().unwrap().1 {
                    'n' => text.push('\n'),
                    other => text.push(other),
                },
                (_, other) => text.push(other),
            }
        };
        assert!(labels.insert(label.to_owned(), text).is_none(), "a label twice: {line}");
        rest = after[end + 1..].trim_start_matches(',');
    }
    (name.to_owned(), labels, value)
}

fn samples(text: &str) -> Vec<Found> {
    text.lines().filter(|line| !line.starts_with('#')).map(parse).collect()
}

#[test]
fn each_sample_follows_the_help_and_type_of_its_family_and_none_comes_twice() {
    for format in [Format::Prometheus, Format::OpenMetrics] {
        let text = text(&observation(), format);
        let (mut family, mut kind, mut seen, mut series) = (String::new(), "", BTreeSet::new(), BTreeSet::new());
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line == "# EOF" {
                assert_eq!(format, Format::OpenMetrics);
                assert_eq!(lines.next(), None);
            } else if let Some(help) = line.strip_prefix("# HELP ") {
                family = help.split(' ').next().unwrap().to_owned();
                assert!(seen.insert(family.clone()), "a family twice: {family}");
                let declared = lines.next().unwrap().strip_prefix(&format!("# TYPE {family} ")).unwrap();
                kind = declared;
            } else {
                let (name, labels, _) = parse(line);
                let suffixes: &[&str] = match (kind, format) {
                    ("histogram", _) => &["_bucket", "_sum", "_count"],
                    ("counter", Format::OpenMetrics) => &["_total"],
                    _ => &[""],
                };
                assert!(suffixes.iter().any(|suffix| name == format!("{family}{suffix}")), "{line} in {family}");
                assert!(kind != "counter" || name.ends_with("_total"), "{line}");
                assert!(series.insert((name, labels)), "a sample twice: {line}");
            }
        }
        assert_eq!(text.ends_with("# EOF\n"), format == Format::OpenMetrics);
    }
}

#[test]
fn buckets_grow_and_the_last_one_is_the_count() {
    let all = samples(&text(&observation(), Format::Prometheus));
    let name = "skep_http_request_duration_seconds";
    let of = |suffix: &str, code: &str| -> Vec<(String, f64)> {
        let fits = |(found, labels, _): &&Found| *found == format!("{name}{suffix}") && labels["code"] == code;
        all.iter()
            .filter(fits)
            .map(|(_, labels, value)| (labels.get("le").cloned().unwrap_or_default(), *value))
            .collect()
    };
    let buckets = of("_bucket", "2xx");
    assert_eq!(buckets[0], ("0.000064".to_owned(), 0.0));
    assert_eq!(buckets[1], ("0.000128".to_owned(), 1.0));
    assert!(buckets.is_sorted_by(|one, next| one.1 <= next.1), "{buckets:?}");
    assert_eq!(buckets.last().unwrap(), &("+Inf".to_owned(), 2.0));
    assert_eq!((of("_count", "2xx")[0].1, of("_sum", "2xx")[0].1), (2.0, 0.0016));
    // 80 s are in no bucket but the last.
    let slow = of("_bucket", "5xx");
    assert_eq!(slow.iter().filter(|(_, count)| *count > 0.0).count(), 1);
}

#[test]
fn labels_are_escaped_and_come_back_as_they_were() {
    let all = samples(&text(&observation(), Format::Prometheus));
    let services: BTreeSet<_> = all.iter().filter_map(|(_, labels, _)| labels.get("service")).collect();
    assert_eq!(services.into_iter().collect::<Vec<_>>(), ["Search \"all\"\\\n"]);
    let value = |name: &str| all.iter().find(|(found, ..)| found == name).unwrap().2;
    assert_eq!((value("skep_sessions"), value("skep_application_status")), (2.0, 7.0));
    let pool = ["connections", "connections_busy", "waiting", "connections_lost_total"];
    let pool = pool.map(|name| value(&format!("skep_sql_{name}")).to_string());
    assert_eq!(pool, ["5", "2", "0", "1"]);
}

#[test]
fn open_metrics_has_the_id_of_a_slow_request_and_prometheus_has_none() {
    let text = |format| super::text(&observation(), format);
    let line = |text: &str| text.lines().find(|line| line.contains(" # {")).map(str::to_owned);
    assert_eq!(line(&text(Format::Prometheus)), None);
    let line = line(&text(Format::OpenMetrics)).unwrap();
    assert!(line.contains("le=\"0.002048\"} 2 # {request_id=\"000000000000feed\"} 0.0015 "), "{line}");
    assert_eq!(Format::accepted("text/plain;version=0.0.4;q=0.3,*/*;q=0.1"), Format::Prometheus);
    assert_eq!(Format::accepted("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"), Format::OpenMetrics);
}

#[test]
fn fractions_are_exact() {
    assert_eq!(
        [Nanos(1), Nanos(1_500_000_000), Nanos(0), Millis(1_800_000_000_123)].map(|number| number.to_string()),
        ["0.000000001", "1.5", "0.0", "1800000000.123"]
    );
}
