//! Whether reported latencies and rates are the true ones, within 1 %, and whether an open loop shows a stall.
//!
//! A busy machine adds delays that neither side can know. So this is a benchmark and no test: run it on a machine that
//! does nothing else. One check runs at a time, and each may try five times.
//!
//! Run: `cargo bench --manifest-path tools/Cargo.toml -p skep-bench --bench accuracy`.

#[path = "../tests/load/server.rs"]
mod server;

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use skep_bench::load::{self, Figures, Pace, Plan};

use self::server::Server;

const MILLI: Duration = Duration::from_millis(1);

type Check = (&'static str, fn());

const CHECKS: &[Check] = &[
    (
        "percentiles_of_a_known_distribution_are_within_one_percent",
        percentiles_of_a_known_distribution_are_within_one_percent,
    ),
    (
        "an_open_loop_reports_the_same_distribution_and_its_rate",
        an_open_loop_reports_the_same_distribution_and_its_rate,
    ),
    ("a_known_rate_is_reported_within_one_percent", a_known_rate_is_reported_within_one_percent),
    (
        "an_open_loop_shows_a_stall_of_a_second_as_its_visitors_felt_it",
        an_open_loop_shows_a_stall_of_a_second_as_its_visitors_felt_it,
    ),
    ("an_open_loop_counts_the_waiting_for_a_connection", an_open_loop_counts_the_waiting_for_a_connection),
    ("a_closed_loop_does_not_show_it", a_closed_loop_does_not_show_it),
    ("a_warm_up_does_not_count", a_warm_up_does_not_count),
    ("a_ramp_and_a_log_are_sent_at_their_times", a_ramp_and_a_log_are_sent_at_their_times),
];

fn main() -> ExitCode {
    let trial = |&(name, check): &Check| {
        Trial::test(name, move || {
            check();
            Ok(())
        })
    };
    // `cargo bench` asks for benchmarks only, and these measure nothing that has a figure.
    let arguments = Arguments { test_threads: Some(1), bench: false, ..Arguments::from_args() };
    libtest_mimic::run(&arguments, CHECKS.iter().map(trial).collect()).exit_code()
}

fn plan(url: &str, connections: usize, seconds: f64) -> Plan {
    let mut plan = Plan::of(url.parse().unwrap());
    plan.connections = connections;
    plan.warm_up = Duration::ZERO;
    plan.time = Duration::from_secs_f64(seconds);
    plan
}

/// Tries until one attempt has no complaint.
fn eventually(mut attempt: impl FnMut() -> Result<(), String>) {
    let complaint = |number: u32| {
        thread::sleep(Duration::from_millis(500) * number);
        attempt().err()
    };
    let complaints: Vec<String> = (0..5).map_while(complaint).collect();
    assert!(complaints.len() < 5, "{complaints:#?}");
}

fn near(what: &str, reported: f64, truth: f64, part: f64) -> Result<(), String> {
    let off = (reported / truth - 1.0).abs();
    if off <= part { Ok(()) } else { Err(format!("{what}: {reported} reported, {truth} true: {:.2} %", off * 100.0)) }
}

/// Half of the answers take 40 ms, 40 % take 80, 9 % take 160, 1 % takes 320.
fn delay(number: u64) -> Duration {
    match number * 37 % 100 {
        0..50 => 40 * MILLI,
        50..90 => 80 * MILLI,
        90..99 => 160 * MILLI,
        _ => 320 * MILLI,
    }
}

fn check_percentiles(server: &Server, figures: &Figures) -> Result<(), String> {
    for percent in [10.0, 25.0, 70.0, 95.0, 99.6] {
        let (reported, truth) = (figures.percentile(percent), server.percentile(percent));
        near(&format!("p{percent}"), reported.as_secs_f64(), truth.as_secs_f64(), 0.01)?;
    }
    near("max", figures.percentile(100.0).as_secs_f64(), server.longest().as_secs_f64(), 0.01)
}

fn percentiles_of_a_known_distribution_are_within_one_percent() {
    eventually(|| {
        let server = Server::delayed(delay);
        let mut plan = plan(&server.url(), 40, 60.0);
        plan.count = Some(1000);
        let figures = load::run(&plan).unwrap();
        assert_eq!((figures.answers, figures.errors.total()), (1000, 0));
        check_percentiles(&server, &figures)
    });
}

fn an_open_loop_reports_the_same_distribution_and_its_rate() {
    eventually(|| {
        let server = Server::delayed(delay);
        let mut plan = plan(&server.url(), 100, 2.0);
        plan.pace = Pace::Open { per_second: 400.0 };
        let figures = load::run(&plan).unwrap();
        assert_eq!((figures.answers, figures.unanswered), (800, 0));
        near("rate", figures.rate(), 400.0 * 2.0 / 2.0_f64.max(figures.elapsed.as_secs_f64()), 0.01)?;
        check_percentiles(&server, &figures)
    });
}

fn a_known_rate_is_reported_within_one_percent() {
    eventually(|| {
        let server = Server::delayed(|_| Duration::ZERO);
        let mut plan = plan(&server.url(), 8, 2.0);
        plan.pace = Pace::Open { per_second: 500.0 };
        let figures = load::run(&plan).unwrap();
        assert_eq!(figures.answers, 1000);
        near("open", figures.rate(), 500.0, 0.01)
    });
    eventually(|| {
        let server = Server::delayed(|_| 10 * MILLI);
        let figures = load::run(&plan(&server.url(), 8, 2.0)).unwrap();
        let answered = u32::try_from(server.took.lock().unwrap().len()).unwrap();
        near("closed", figures.rate(), f64::from(answered) / 2.0, 0.01)
    });
}

/// A server that answers nobody for a second, from so long after the first request on.
fn stalling(after: Duration, otherwise: Duration) -> Server {
    let first = Arc::new(OnceLock::new());
    Server::delayed(move |_| {
        let since = first.get_or_init(Instant::now).elapsed();
        let stall = after..after + Duration::from_secs(1);
        if stall.contains(&since) { stall.end.saturating_sub(since) } else { otherwise }
    })
}

const SECOND: Duration = Duration::from_secs(1);

/// Of the requests due in twelve seconds, a twelfth is due in the stall and waits for its end: from a second to
/// nothing. So of 960 the tenth longest waits 888 ms, and one in twenty 400 ms. There is a connection for each, and the
/// warm-up has opened them all: how long each really waited, the server knows.
fn an_open_loop_shows_a_stall_of_a_second_as_its_visitors_felt_it() {
    eventually(|| {
        let server = stalling(3 * SECOND, Duration::ZERO);
        let mut plan = plan(&server.url(), 100, 12.0);
        plan.pace = Pace::Open { per_second: 80.0 };
        plan.warm_up = 1500 * MILLI;
        let figures = load::run(&plan).unwrap();
        assert_eq!((figures.answers, figures.unanswered), (960, 0));
        let mut took = server.took.lock().unwrap().clone();
        took.sort_unstable_by(|one, other| other.cmp(one));
        for (percent, longest, nominal) in [(95.0, 48, 0.394), (99.0, 9, 0.881), (100.0, 0, 0.994)] {
            let (reported, truth) = (figures.percentile(percent).as_secs_f64(), took[longest].as_secs_f64());
            near(&format!("p{percent}"), reported, truth, 0.01)?;
            near(&format!("p{percent}"), reported, nominal, 0.05)?;
        }
        let stalled = figures.over_time.iter().filter(|piece| piece.answers == 0).count();
        if stalled >= 3 { Ok(()) } else { Err(format!("{stalled} empty pieces of time")) }
    });
}

/// With fewer connections than wait, those behind them wait in the load: that counts, too.
fn an_open_loop_counts_the_waiting_for_a_connection() {
    eventually(|| {
        let server = stalling(SECOND, Duration::ZERO);
        let mut plan = plan(&server.url(), 4, 4.0);
        plan.pace = Pace::Open { per_second: 200.0 };
        let figures = load::run(&plan).unwrap();
        assert_eq!((figures.answers, figures.unanswered), (800, 0));
        near("p90", figures.percentile(90.0).as_secs_f64(), 0.6, 0.1)
    });
}

fn a_closed_loop_does_not_show_it() {
    eventually(|| {
        let server = stalling(SECOND, 2 * MILLI);
        let figures = load::run(&plan(&server.url(), 8, 4.0)).unwrap();
        let (p99, max) = (figures.percentile(99.0), figures.percentile(100.0));
        near("max", max.as_secs_f64(), server.longest().as_secs_f64(), 0.01)?;
        if p99 < 100 * MILLI { Ok(()) } else { Err(format!("p99 {p99:?}")) }
    });
}

fn a_warm_up_does_not_count() {
    let server = Server::delayed(|number| if number < 20 { 300 * MILLI } else { MILLI });
    let mut plan = plan(&server.url(), 10, 0.5);
    plan.warm_up = Duration::from_millis(500);
    let figures = load::run(&plan).unwrap();
    assert!(figures.answers > 100 && figures.percentile(100.0) < 250 * MILLI, "{:?}", figures.percentile(100.0));
}

fn a_ramp_and_a_log_are_sent_at_their_times() {
    let server = Server::delayed(|_| Duration::ZERO);
    let mut ramp = plan(&server.url(), 8, 2.0);
    ramp.pace = Pace::Ramp { from: 100.0, to: 300.0 };
    let figures = load::run(&ramp).unwrap();
    assert_eq!(figures.answers, 400);
    let half: u64 =
        figures.over_time.iter().filter(|piece| piece.until <= Duration::from_secs(1)).map(|piece| piece.answers).sum();
    assert!((145..=160).contains(&half), "{half} of 400 in the first half; 150 were due");
    let log = "::1 - - [31/Dec/2023:23:59:58 +0000] \"GET /a HTTP/1.1\" 200 1\n::1 - - [31/Dec/2023:23:59:59 +0000] \"GET /b HTTP/1.1\" 200 1\n";
    let mut replay = plan(&server.url(), 2, 5.0);
    replay.requests = load::read_access_log(log).unwrap().requests;
    replay.pace = Pace::Replay { speed: 2.0 };
    let figures = load::run(&replay).unwrap();
    assert_eq!(figures.answers, 2);
    assert!((450..900).contains(&figures.elapsed.as_millis()), "{:?}", figures.elapsed);
}
