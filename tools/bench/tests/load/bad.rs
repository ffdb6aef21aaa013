//! Servers that are not there, lie, never end, or die: each has a clear message, and what was measured until then is
//! kept.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use skep_bench::load::{self, ErrorKind, LoadError, Pace, Plan, RequestSpec, Trust, Version};

use crate::server::{HELLO, read_request, serve};

fn plan(url: &str) -> Plan {
    let mut plan = Plan::of(url.parse().unwrap());
    (plan.connections, plan.warm_up, plan.time) = (4, Duration::ZERO, Duration::from_secs(8));
    plan.timeout = Duration::from_millis(300);
    plan
}

fn error(plan: &Plan) -> LoadError {
    load::run(plan).map(|figures| figures.answers).unwrap_err()
}

/// Answers each request with these bytes, and closes.
fn once(bytes: &'static [u8]) -> String {
    let address = serve(move |stream: &mut TcpStream| {
        if read_request(stream) {
            let _ = stream.write_all(bytes);
        }
    });
    format!("http://{address}/")
}

#[test]
fn nobody_there() {
    for http in [Version::Http1, Version::Http2] {
        let plan = Plan { http, ..plan("http://127.0.0.1:1/") };
        let text = error(&plan).to_string();
        assert!(text.contains("127.0.0.1:1") && text.contains("refused"), "{text}");
    }
    let text = error(&plan("http://no-such-host.invalid/")).to_string();
    assert!(text.contains("no address for \"no-such-host.invalid\""), "{text}");
    let mut unix = plan("http://localhost/");
    unix.target = unix.target.over_unix("/nowhere/socket");
    let text = error(&unix).to_string();
    assert!(text.contains("/nowhere/socket: No such file"), "{text}");
}

#[test]
fn somebody_who_does_not_speak_tls() {
    let address = serve(|stream: &mut TcpStream| {
        let _ = stream.write_all(b"220 mail.example.org ESMTP\r\n");
        thread::sleep(Duration::from_secs(1));
    });
    for http in [Version::Http1, Version::Http2] {
        let plan = Plan { http, trust: Trust::All, ..plan(&format!("https://{address}/")) };
        let text = error(&plan).to_string();
        assert!(text.starts_with("no TLS with the server: "), "{text}");
    }
}

#[test]
fn no_http_at_all() {
    let text = error(&plan(&once(b"220 mail.example.org ESMTP\r\n"))).to_string();
    assert_eq!(text, "the answer is malformed: it is no HTTP");
    let text = error(&plan(&once(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n!"))).to_string();
    assert_eq!(text, "the answer is malformed: it has two lengths");
}

#[test]
fn more_than_was_asked_for() {
    let address = serve(
        |stream: &mut TcpStream| {
            while read_request(stream) && stream.write_all(&[HELLO, b"and more"].concat()).is_ok() {}
        },
    );
    let mut talkative = plan(&format!("http://{address}/"));
    talkative.count = Some(100);
    let figures = load::run(&talkative).unwrap();
    assert_eq!(figures.errors.iter().next().map(|(kind, ..)| kind), Some(ErrorKind::Malformed));
    assert!(figures.answers > 0);
}

#[test]
fn an_answer_that_is_cut() {
    let text = error(&plan(&once(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"))).to_string();
    assert_eq!(text, "the server closed the connection in the middle of an answer");
    let text = error(&plan(&once(b""))).to_string();
    assert_eq!(text, "the server closed the connection instead of answering");
}

#[test]
fn an_answer_that_never_ends() {
    let address = serve(|stream: &mut TcpStream| {
        if read_request(stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
    });
    let text = error(&plan(&format!("http://{address}/"))).to_string();
    assert_eq!(text, "no answer in 300ms (--timeout)");
    let mut small = plan(&format!("http://{address}/"));
    small.largest = 100_000;
    assert_eq!(error(&small).to_string(), "an answer is larger than 100000 bytes (--largest)");
}

#[test]
fn silence() {
    let address = serve(|_| thread::sleep(Duration::from_secs(30)));
    let mut silent = plan(&format!("http://{address}/"));
    (silent.timeout, silent.time) = (Duration::from_secs(10), Duration::from_millis(500));
    let text = error(&silent).to_string();
    assert!(text.contains("takes connections, and answered nothing in "), "{text}");
}

#[test]
fn a_server_that_dies_half_way_leaves_what_was_measured() {
    let answered = AtomicU64::new(0);
    let address = serve(move |stream: &mut TcpStream| {
        while answered.fetch_add(1, Ordering::Relaxed) < 200 && read_request(stream) {
            let _ = stream.write_all(HELLO);
        }
    });
    let error = error(&Plan { timeout: Duration::from_secs(10), ..plan(&format!("http://{address}/")) });
    assert!(error.to_string().starts_with("the server was lost "), "{error}");
    assert!(error.so_far().is_some_and(|figures| figures.answers > 50 && figures.errors.total() > 0));
}

#[test]
fn failures_among_answers_are_counted_by_kind() {
    let number = AtomicU64::new(0);
    let address = serve(move |stream: &mut TcpStream| {
        while read_request(stream) {
            let answer: &[u8] = match number.fetch_add(1, Ordering::Relaxed) % 4 {
                0 => b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n",
                1 => b"HTTP/1.1 200 OK\r\ncontent-le",
                _ => HELLO,
            };
            if stream.write_all(answer).is_err() || answer.ends_with(b"-le") {
                return;
            }
        }
    });
    let patient = Duration::from_secs(10);
    let mixed = Plan { count: Some(400), timeout: patient, time: 6 * patient, ..plan(&format!("http://{address}/")) };
    let figures = load::run(&mixed).unwrap();
    let count = |kind| figures.errors.iter().filter(|(its, ..)| *its == kind).map(|(_, count, _)| count).sum::<u64>();
    assert_eq!((figures.answers, count(ErrorKind::Status(503))), (200, 100));
    assert_eq!(count(ErrorKind::Closed) + count(ErrorKind::Timeout), 100);
}

#[test]
fn a_rate_that_is_too_high_leaves_requests_unanswered() {
    let address = serve(|stream: &mut TcpStream| {
        while read_request(stream) {
            thread::sleep(Duration::from_millis(50));
            let _ = stream.write_all(HELLO);
        }
    });
    let mut fast = plan(&format!("http://{address}/"));
    (fast.time, fast.pace) = (Duration::from_millis(500), Pace::Open { per_second: 1000.0 });
    let figures = load::run(&fast).unwrap();
    assert_eq!(figures.answers + figures.unanswered, 500);
    assert!(figures.unanswered > 300 && figures.rate() < 100.0, "{}", figures.unanswered);
}

#[test]
fn a_plan_that_contradicts_itself() {
    let base = plan("http://127.0.0.1:1/");
    let plans = [
        (Plan { connections: 0, ..base.clone() }, "a connection at least"),
        (Plan { requests: Vec::new(), ..base.clone() }, "no request"),
        (Plan { depth: 2, reuse: false, ..base.clone() }, "one request at once"),
        (Plan { pace: Pace::Open { per_second: f64::NAN }, ..base.clone() }, "no rate"),
        (Plan { pin: vec![100_000], ..base.clone() }, "no core 100000"),
        (Plan { pin: vec![100_000], threads: 2, ..base.clone() }, "no core 100000"),
        (Plan { threads: 0, ..base.clone() }, "a thread at least"),
        (Plan { threads: 5, ..base }, "each thread needs a connection"),
    ];
    for (plan, part) in plans {
        let text = load::run(&plan).unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    }
    assert!(RequestSpec::get("/").method("G T").is_err());
}
