//! OTLP: a receiver of these tests decodes what whole servers send, with the official messages.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::logs::v1::{LogRecord, SeverityNumber};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use rustix::process::Signal;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};

use super::Test;
use super::server::{Server, command, descendants, folder, kill, title};

pub(crate) const TESTS: &[Test] = &[
    ("an_otlp_receiver_decodes_spans_and_metrics", an_otlp_receiver_decodes_spans_and_metrics),
    ("an_otlp_receiver_decodes_log_lines_and_none_is_lost_to_its_failures", an_otlp_receiver_decodes_log_lines),
    ("no_span_is_lost_to_otlp_failures_forks_and_shutdown", no_span_is_lost_to_otlp_failures_forks_and_shutdown),
    ("an_upgrade_has_one_exporter_at_a_time", an_upgrade_has_one_exporter_at_a_time),
    ("a_dead_otlp_receiver_costs_no_request_and_drops_are_counted", a_dead_otlp_receiver_costs_no_request),
    ("one_plain_process_sends_otlp_until_its_end", one_plain_process_sends_otlp_until_its_end),
    ("otlp_over_tls_needs_a_certificate_that_the_system_trusts", otlp_over_tls),
    ("otlp_settings_are_checked_and_headers_are_secret", otlp_settings_are_checked_and_headers_are_secret),
];

/// What was received.
#[derive(Default)]
struct Taken {
    heads: Vec<String>,
    traces: Vec<ExportTraceServiceRequest>,
    metrics: Vec<ExportMetricsServiceRequest>,
    logs: Vec<ExportLogsServiceRequest>,
}

struct Receiver {
    address: String,
    taken: Arc<Mutex<Taken>>,
    /// It answers 503.
    is_down: Arc<AtomicBool>,
    /// It answers after a while.
    is_slow: Arc<AtomicBool>,
}

impl Receiver {
    fn start() -> Self {
        Self::start_with(|stream| stream)
    }

    /// Of each connection it reads what `open` makes of it.
    fn start_with<S: Read + Write + Send + 'static>(open: impl Fn(TcpStream) -> S + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let receiver = Self { address, taken: Arc::default(), is_down: Arc::default(), is_slow: Arc::default() };
        let shared = (Arc::clone(&receiver.taken), Arc::clone(&receiver.is_down), Arc::clone(&receiver.is_slow));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (taken, is_down, is_slow) = shared.clone();
                let mut stream = BufReader::new(open(stream.unwrap()));
                std::thread::spawn(move || while receive(&mut stream, &taken, &is_down, &is_slow).is_some() {});
            }
        });
        receiver
    }

    fn setting(&self) -> String {
        format!("otlp.endpoint=http://{}", self.address)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap()
    }

    fn spans(&self) -> Vec<Span> {
        let taken = self.taken();
        let resources = taken.traces.iter().flat_map(|request| &request.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| &scope.spans).cloned().collect()
    }

    /// Log lines, with their categories.
    fn lines(&self) -> Vec<(String, LogRecord)> {
        let taken = self.taken();
        let scopes = taken.logs.iter().flat_map(|request| &request.resource_logs).flat_map(|logs| &logs.scope_logs);
        let lines = scopes.flat_map(|scope| {
            let category = scope.scope.as_ref().unwrap().name.clone();
            scope.log_records.iter().map(move |line| (category.clone(), line.clone()))
        });
        lines.collect()
    }

    /// Requests with this name.
    fn count(&self, name: &str) -> usize {
        self.spans().iter().filter(|span| span.name == name).count()
    }
}

/// Serves one request of a connection.
fn receive<S: Read + Write>(
    reader: &mut BufReader<S>,
    taken: &Mutex<Taken>,
    is_down: &AtomicBool,
    is_slow: &AtomicBool,
) -> Option<()> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let length = head.to_lowercase().split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if is_slow.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(700));
    }
    let status = if is_down.load(Ordering::Relaxed) {
        "503 Service Unavailable"
    } else {
        let mut taken = taken.lock().unwrap();
        if head.starts_with("POST /v1/traces ") {
            taken.traces.push(ExportTraceServiceRequest::decode(&body[..]).unwrap());
        } else if head.starts_with("POST /v1/logs ") {
            taken.logs.push(ExportLogsServiceRequest::decode(&body[..]).unwrap());
        } else {
            assert!(head.starts_with("POST /v1/metrics "), "{head}");
            taken.metrics.push(ExportMetricsServiceRequest::decode(&body[..]).unwrap());
        }
        taken.heads.push(head);
        "200 OK"
    };
    let stream = reader.get_mut();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").ok()?;
    stream.flush().ok()
}

fn value(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    Some(match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    })
}

fn get_with_trace(server: &Server, path: &str, flags: &str) {
    let mut stream = TcpStream::connect(&*server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let trace = format!("traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{trace}\r\n\r\n").unwrap();
    stream.read_to_string(&mut String::new()).unwrap();
}

fn start(receiver: &Receiver, more: &[&str]) -> Server {
    Server::start(&[&["--set", &*receiver.setting(), "--set", "otlp.interval=1s"], more].concat())
}

fn an_otlp_receiver_decodes_spans_and_metrics() {
    let receiver = Receiver::start();
    let headers = ["--set", "otlp.headers=api-key=s3cret", "--set", "otlp.attributes=deployment.environment.name=test"];
    let mut server = start(&receiver, &[&headers[..], &["--set", "base_url=http://example.org:8080"]].concat());
    get_with_trace(&server, "/log/true", "01");
    get_with_trace(&server, "/version", "00");
    get_with_trace(&server, "/kept", "01");
    assert!(server.get("/nowhere").is_err());
    // A span is there when its request is over, which its client knows earlier: the next request may be faster, on
    // another thread.
    let names = ["GET", "GET /kept", "GET /log/{failing}", "cache"];
    server.wait_until("spans arrive", |_| names.iter().all(|name| receiver.count(name) == 1));
    let spans = receiver.spans();
    let find = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let failed = find("GET /log/{failing}");
    let trace = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128;
    assert_eq!(failed.trace_id, trace.to_be_bytes());
    assert_eq!(failed.parent_span_id, 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes());
    assert!(failed.status.as_ref().unwrap().message.contains("on purpose"), "{failed:?}");
    for (key, expected) in [
        ("http.request.method", "GET"),
        ("http.response.status_code", "500"),
        ("http.route", "/log/{failing}"),
        ("server.address", "example.org"),
        ("server.port", "8080"),
        ("skep.service", "Careful"),
        ("url.path", "/log/{failing}"),
        ("url.scheme", "http"),
    ] {
        assert_eq!(value(&failed.attributes, key).as_deref(), Some(expected), "{key}");
    }
    // What the log says about it is found by the id of the span.
    let id = u64::from_be_bytes(*failed.span_id.first_chunk().unwrap());
    let texts = [format!("{id:016x}"), "4bf92f3577b34da6a3ce929d0e0e4736".to_owned()];
    server.wait_until("it is in the log", |server| texts.iter().all(|text| server.errors().contains(text)));
    let (kept, cache) = (find("GET /kept"), find("cache"));
    assert_eq!((&cache.parent_span_id, &cache.trace_id), (&kept.span_id, &kept.trace_id));
    assert!(
        kept.start_time_unix_nano <= cache.start_time_unix_nano && cache.end_time_unix_nano <= kept.end_time_unix_nano
    );
    assert_ne!(find("GET").trace_id, failed.trace_id, "a trace of its own");
    assert_eq!(receiver.count("GET /version"), 0, "its client did not sample it");
    let duration = |receiver: &Receiver| -> Option<u64> {
        let taken = receiver.taken();
        let metrics = &taken.metrics.last()?.resource_metrics[0].scope_metrics[0].metrics;
        let duration = metrics.iter().find(|metric| metric.name == "http.server.request.duration")?;
        let Some(Data::Histogram(histogram)) = &duration.data else { panic!("{duration:?}") };
        let of = |route| histogram.data_points.iter().find(|point| value(&point.attributes, "http.route") == route);
        let point = of(Some("/version".to_owned()))?;
        assert_eq!(value(&point.attributes, "http.request.method").as_deref(), Some("GET"));
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
        Some(point.count)
    };
    server.wait_until("metrics arrive", |_| duration(&receiver) == Some(1));
    let taken = receiver.taken();
    assert!(taken.heads.iter().all(|head| head.to_lowercase().contains("api-key: s3cret")), "{:?}", taken.heads);
    let resource = taken.metrics.last().unwrap().resource_metrics[0].resource.as_ref().unwrap();
    assert_eq!(value(&resource.attributes, "service.name").as_deref(), Some("drill"));
    assert_eq!(value(&resource.attributes, "service.version").as_deref(), Some("1.2.3"));
    assert_eq!(value(&resource.attributes, "deployment.environment.name").as_deref(), Some("test"));
}

fn an_otlp_receiver_decodes_log_lines() {
    let receiver = Receiver::start();
    receiver.is_down.store(true, Ordering::Relaxed);
    // Most of the lines wait in their process: the queue is short.
    let settings = ["--set", "log.outputs=stderr; otlp", "--set", "limits.log_records=16"];
    let mut server = start(&receiver, &settings);
    get_with_trace(&server, "/log/true", "01");
    for number in 0..50 {
        server.get(&format!("/log/numbered/{number}")).unwrap();
    }
    server.wait_until("it failed", |server| server.errors().contains("otlp.endpoint takes nothing"));
    receiver.is_down.store(false, Ordering::Relaxed);
    let numbered = || -> Vec<String> {
        let lines = receiver.lines().into_iter().filter(|(category, _)| category == "logs.numbered");
        lines.filter_map(|(_, line)| value(&line.attributes, "number")).collect()
    };
    server.wait_until("they arrive", |_| numbered().len() >= 50);
    assert_eq!(numbered(), (0..50).map(|number| number.to_string()).collect::<Vec<_>>(), "once each, in order");
    let lines = receiver.lines();
    let is_failure = |line: &LogRecord| line.severity_number == i32::from(SeverityNumber::Error);
    let (_, failed) = lines.iter().find(|(_, line)| is_failure(line) && !line.trace_id.is_empty()).unwrap();
    assert_eq!(failed.trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes());
    assert_eq!(failed.severity_text, "ERROR");
    server.wait_until("its span arrives", |_| receiver.count("GET /log/{failing}") == 1);
    let spans = receiver.spans();
    let span = spans.iter().find(|span| span.name == "GET /log/{failing}").unwrap();
    assert_eq!(failed.span_id, span.span_id);
    let (_, line) = lines.iter().find(|(category, _)| category == "logs.numbered").unwrap();
    assert_eq!(line.severity_number, i32::from(SeverityNumber::Info));
    assert!(line.time_unix_nano > 0 && value(&line.attributes, "process.pid").is_some(), "{line:?}");
    let Some(Value::StringValue(body)) = line.body.as_ref().and_then(|body| body.value.as_ref()) else { panic!() };
    assert_eq!(body, "line");
    // The last ones are sent at shutdown.
    server.get("/log/numbered/50").unwrap();
    server.control("stop");
    assert_eq!(server.wait().code(), Some(0));
    assert_eq!(numbered().last().map(String::as_str), Some("50"));
}

fn no_span_is_lost_to_otlp_failures_forks_and_shutdown() {
    let receiver = Receiver::start();
    receiver.is_down.store(true, Ordering::Relaxed);
    let mut server = start(&receiver, &["--mpm", "prefork", "--set", "requests_per_worker=1"]);
    for _ in 0..20 {
        server.get("/").unwrap();
    }
    server.wait_until("it failed", |server| {
        server.errors().contains("otlp.endpoint takes nothing, and spans and log records wait: 503")
    });
    receiver.is_down.store(false, Ordering::Relaxed);
    server.wait_until("they arrive", |_| receiver.count("GET /") == 20);
    let log = server.errors();
    assert!(log.contains("takes data again"), "{log}");
    for _ in 0..10 {
        server.get("/").unwrap();
    }
    // As systemd does: all processes are asked to end.
    for process in descendants(server.pid()).into_iter().filter(|process| title(*process).starts_with("skep: status")) {
        kill(process, Signal::TERM);
    }
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0));
    let spans = receiver.spans();
    let ids: BTreeSet<Vec<u8>> = spans.iter().map(|span| span.span_id.clone()).collect();
    assert_eq!((receiver.count("GET /"), ids.len()), (30, 30), "all of them, each once");
}

fn an_upgrade_has_one_exporter_at_a_time() {
    let receiver = Receiver::start();
    let mut server = start(&receiver, &[]);
    server.get("/").unwrap();
    server.wait_until("it exports", |_| receiver.count("GET /") == 1);
    receiver.is_slow.store(true, Ordering::Relaxed);
    for _ in 0..5 {
        server.get("/").unwrap();
    }
    assert!(server.control("upgrade").0);
    let mut is_one = |server: &mut Server| {
        let all = descendants(server.pid()).into_iter().map(title);
        let exporters = all.filter(|title| title.starts_with("skep: status")).count();
        assert!(exporters <= 1, "{exporters} of them take from one queue");
        exporters == 1 && server.errors().contains("the supervisor runs version")
    };
    server.wait_until("the first one has sent its spans", |server| {
        is_one(server);
        receiver.count("GET /") == 6
    });
    receiver.is_slow.store(false, Ordering::Relaxed);
    server.wait_until("another one runs", &mut is_one);
    server.get("/").unwrap();
    server.wait_until("it exports", |_| receiver.count("GET /") == 7);
    let ids: BTreeSet<Vec<u8>> = receiver.spans().into_iter().map(|span| span.span_id).collect();
    assert_eq!(ids.len(), receiver.spans().len(), "each span once");
}

fn a_dead_otlp_receiver_costs_no_request() {
    // Nothing listens there.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("otlp.endpoint=http://{port}");
    let more = ["--set", &endpoint, "--set", "limits.spans=16", "--set", "status.listen=127.0.0.1:0"];
    let mut server = Server::start(&more);
    for _ in 0..50 {
        assert_eq!(server.get("/").unwrap(), "Hello, world!");
    }
    server.wait_until("it is counted", |server| {
        let metrics = super::observed::page(server, "/-/metrics");
        let of = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        of("skep_otlp_spans_total ") == Some(16) && of("skep_otlp_spans_dropped_total ") == Some(34)
    });
    server.wait_until("it is reported", |server| server.errors().contains("spans were dropped: limits.spans is full"));
}

fn one_plain_process_sends_otlp_until_its_end() {
    let receiver = Receiver::start();
    let mut server = start(&receiver, &["--set", "supervise=false", "--set", "otlp.sample_one_in=0"]);
    server.get("/").unwrap();
    get_with_trace(&server, "/", "01");
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0));
    assert_eq!(receiver.count("GET /"), 1, "one was sampled");
}

fn otlp_over_tls() {
    let folder = folder();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("root.crt"), made.cert.pem()).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let receiver = Receiver::start_with(move |stream| {
        rustls::StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream)
    });
    let setting = receiver.setting().replace("http://127.0.0.1", "https://localhost");
    let mut server = Server::start(&["--set", &setting]);
    server.get("/").unwrap();
    server.wait_until("it is not trusted", |server| {
        let log = server.errors();
        log.contains("otlp.endpoint takes nothing, and spans and log records wait") && log.contains("UnknownIssuer")
    });
    assert_eq!(receiver.count("GET /"), 0);
    let mut command = command(&folder, &["--listen", "127.0.0.1:0", "--set", &setting]);
    command.env("SSL_CERT_FILE", folder.join("root.crt"));
    let mut server = Server::start_command(command, folder);
    server.get("/version").unwrap();
    server.wait_until("the span arrives", |_| receiver.count("GET /version") == 1);
}

fn otlp_settings_are_checked_and_headers_are_secret() {
    let run = |settings: &[&str]| {
        let folder = folder();
        let output = command(&folder, settings).output().unwrap();
        let _ = std::fs::remove_dir_all(folder);
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    for wrong in ["otlp.endpoint=localhost:4318", "otlp.endpoint=ftp://localhost", "otlp.headers=s3cret"] {
        let text = run(&["--set", wrong]);
        assert!(text.contains("expected"), "{wrong}: {text}");
    }
    let text = run(&["--print-config", "--set", "otlp.headers=api-key=s3cret"]);
    assert!(text.contains("otlp.headers") && !text.contains("s3cret"), "{text}");
}
