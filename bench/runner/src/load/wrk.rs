//! Load from wrk, and what its report says.

use std::process::Command;
use std::time::Duration;

use super::Loaded;
use crate::Result;
use crate::build::{Need, executable};

/// What becomes of a connection after an answer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Connection {
    Kept,
    Closed,
}

/// Runs wrk with one thread.
pub(crate) fn run(port: u16, path: &str, connections: u16, after: Connection, time: Duration) -> Result<Loaded> {
    let close: &[&str] = if after == Connection::Closed { &["-H", "Connection: close"] } else { &[] };
    let output = Command::new(executable(Need::debian("wrk", "wrk")))
        .args(close)
        .args(["-t1", "--latency", &format!("-c{connections}"), &format!("-d{}s", time.as_secs().max(1))])
        .arg(format!("http://127.0.0.1:{port}{path}"))
        .output()?;
    let report = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("wrk failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    parse(&report).ok_or_else(|| format!("wrk's report is not understood:\n{report}").into())
}

/// The figures of a report.
fn parse(report: &str) -> Option<Loaded> {
    let bad = after(report, "Non-2xx or 3xx responses:").and_then(|count| count.parse().ok()).unwrap_or(0);
    let requests: u64 = report.lines().find_map(|line| line.split_once(" requests in "))?.0.trim().parse().ok()?;
    let all = requests;
    let requests = requests.saturating_sub(bad);
    let per_second: f64 = after(report, "Requests/sec:")?.parse().ok()?;
    // wrk counts bad answers too.
    let share = if all == 0 { 0.0 } else { crate::proc::float(requests) / crate::proc::float(all) };
    Some(Loaded {
        requests,
        per_second: per_second * share,
        errors: bad + socket_errors(report)?,
        p50: microseconds(after(report, "50%")?)?,
        p99: microseconds(after(report, "99%")?)?,
    })
}

/// What follows a word at the start of a line.
fn after<'a>(report: &'a str, word: &str) -> Option<&'a str> {
    report.lines().find_map(|line| line.trim().strip_prefix(word)).map(str::trim)
}

/// `Socket errors: connect 0, read 3, write 0, timeout 12`, a line that is there only if there were some.
fn socket_errors(report: &str) -> Option<u64> {
    let Some(line) = after(report, "Socket errors:") else { return Some(0) };
    line.split(',').map(|kind| kind.split_whitespace().last()?.parse::<u64>().ok()).sum()
}

/// `812.00us`, `1.20ms`, `2.50s`, `1.50m`.
fn microseconds(time: &str) -> Option<f64> {
    let units = [("us", 1.0), ("ms", 1e3), ("s", 1e6), ("m", 6e7)];
    units.iter().find_map(|(unit, factor)| Some(time.strip_suffix(unit)?.parse::<f64>().ok()? * factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
Running 2s test @ http://127.0.0.1:8800/
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   288.50us  120.10us   6.12ms   93.55%
    Req/Sec   111.35k     6.01k  119.23k    80.00%
  Latency Distribution
     50%  271.00us
     75%  300.00us
     90%  351.00us
     99%    1.02ms
  221540 requests in 2.00s, 27.25MB read
Requests/sec: 110741.37
Transfer/sec:     13.62MB
";

    #[test]
    fn a_report_without_errors_is_read() {
        let loaded = Loaded { requests: 221_540, per_second: 110_741.37, errors: 0, p50: 271.0, p99: 1020.0 };
        assert_eq!(parse(REPORT), Some(loaded));
    }

    #[test]
    fn bad_answers_and_broken_connections_are_errors_and_not_requests() {
        let broken = "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 110770\n";
        let loaded = parse(&format!("{REPORT}{broken}")).unwrap();
        assert_eq!((loaded.requests, loaded.errors), (110_770, 110_780));
        assert!((loaded.per_second - 55_370.685).abs() < 1e-6);
    }

    #[test]
    fn times_come_in_four_units() {
        let times = ["812.00us", "1.20ms", "2.50s", "1.50m", "fast"].map(microseconds);
        assert_eq!(times, [Some(812.0), Some(1200.0), Some(2_500_000.0), Some(90_000_000.0), None]);
    }

    #[test]
    fn another_program_s_report_is_not_understood() {
        assert_eq!(parse("Summary:\n  Success rate: 100%\n"), None);
    }
}
