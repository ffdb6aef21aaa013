//! `SlowHTTPTest`: 1000 connections with heads or bodies that are sent slowly, responses that are read slowly, or many
//! ranges. A client that does nothing wrong must be served all the while.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use super::{Report, Stage};
use crate::site::Site;

const LIMIT: Duration = Duration::from_secs(40);

/// A test ends after this time, if not all connections have been closed before.
const SECONDS: &str = "15";
const CONNECTIONS: u32 = 1000;

/// How many are opened in a second.
const RATE: u32 = 500;

/// What 99 of 100 requests of the other client may take: the example is a debug build, and the tester is on the same
/// machine.
const SLOWEST: Duration = Duration::from_millis(500);

/// While connections are opened that stay open, with three requests each at once, it is not slowness that is tried, but
/// how fast a debug build is. Another client must be served then, too, though its time is not judged.
const OPENING: Duration = Duration::from_secs((CONNECTIONS / RATE) as u64 + 1);

/// One kind of slow client.
struct Attack {
    name: &'static str,
    path: &'static str,
    flags: &'static [&'static str],
    /// How many connections are open at once, at least.
    least: u32,
    /// Whether the server must have closed them all before the end: a head has `limits.header_time`, 10 s.
    must_be_closed: bool,
}

const ATTACKS: [Attack; 4] = [
    Attack { name: "heads", path: "/", flags: &["-H", "-i", "3"], least: CONNECTIONS, must_be_closed: true },
    Attack {
        name: "bodies",
        path: "/writings/measure-first/comments",
        flags: &["-B", "-i", "3", "-s", "8192", "-t", "POST"],
        least: CONNECTIONS,
        must_be_closed: false,
    },
    Attack {
        name: "reads",
        path: "/feed.atom",
        flags: &["-X", "-w", "64", "-y", "128", "-n", "5", "-z", "32", "-k", "3"],
        least: CONNECTIONS,
        must_be_closed: false,
    },
    // These are answered at once, so that few are open at a time.
    Attack {
        name: "ranges",
        path: "/feed.atom",
        flags: &["-R", "-a", "10", "-b", "3000"],
        least: 0,
        must_be_closed: true,
    },
];

pub(super) fn run(stage: &Stage) -> Result<Report, String> {
    let mut report = Report::default();
    let mut tried = Vec::new();
    for attack in &ATTACKS {
        let (said, mut served) = attack.run(stage)?;
        report.findings.extend(findings(attack, &said).into_iter().chain(served.findings(attack.name)));
        tried.push(format!("{}: p99 {:.0?} of {}", attack.name, served.slowest(), served.times.len()));
    }
    report.tried = format!("{CONNECTIONS} connections each, beside which other requests took: {}", tried.join(", "));
    Ok(report)
}

impl Attack {
    /// What it says, and how another client was served meanwhile.
    fn run(&self, stage: &Stage) -> Result<(String, Served), String> {
        let mut slow = stage.program("slowhttptest".as_ref());
        slow.args(self.flags).args([
            "-c",
            &CONNECTIONS.to_string(),
            "-r",
            &RATE.to_string(),
            "-l",
            SECONDS,
            "-p",
            "3",
            "-u",
        ]);
        slow.arg(format!("{}{}", stage.blog.url(), self.path));
        let is_over = AtomicBool::new(false);
        scope(|scope| {
            let other = scope.spawn(|| Served::until(&is_over, &stage.blog, self.opening()));
            let said = stage.run(slow, &format!("slowhttptest-{}.log", self.name), LIMIT);
            is_over.store(true, Ordering::Relaxed);
            let served = other.join().map_err(|_| "a thread panicked")?;
            Ok((said?.1, served))
        })
    }

    fn opening(&self) -> Duration {
        if self.least == 0 { Duration::ZERO } else { OPENING }
    }
}

/// What is wrong by its own account.
fn findings(attack: &Attack, said: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let most = said.split("connected:").skip(1).filter_map(number).max().unwrap_or(0);
    if most < attack.least {
        findings.push(format!("{}: {most} of {} connections were open at once", attack.name, attack.least));
    }
    if said.split("service available:").skip(1).any(|rest| !plain(rest).trim_start().starts_with("YES")) {
        findings.push(format!("{}: the service was not available", attack.name));
    }
    let ended = said.rsplit_once("Exit status:").map_or("none", |(_, rest)| rest.lines().next().unwrap_or_default());
    let ended = plain(ended).trim().to_owned();
    let is_good = ended == "No open connections left" || (ended == "Hit test time limit" && !attack.must_be_closed);
    if !is_good {
        findings.push(format!("{}: it ended with: {ended}", attack.name));
    }
    findings
}

/// The number at the start, behind blanks and colours.
fn number(text: &str) -> Option<u32> {
    plain(text.lines().next()?).split_whitespace().next()?.parse().ok()
}

/// Without the sequences that set colours.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let without =
        |part: &str| part.split_once(|letter: char| letter.is_ascii_alphabetic()).map(|(_, rest)| rest.to_owned());
    parts.filter_map(without).fold(first, |text, part| text + &part)
}

/// How a client was served that asks every 100 ms, each time over a new connection.
#[derive(Default)]
struct Served {
    times: Vec<Duration>,
    failures: Vec<String>,
}

impl Served {
    fn until(is_over: &AtomicBool, site: &Site, opening: Duration) -> Self {
        let mut served = Self::default();
        let begun = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            let started = Instant::now();
            match ask(site.address()) {
                Ok(200) if started - begun < opening => {}
                Ok(200) => served.times.push(started.elapsed()),
                Ok(status) => served.failures.push(format!("status {status}")),
                Err(error) => served.failures.push(error.to_string()),
            }
            sleep(Duration::from_millis(100));
        }
        served
    }

    /// What 99 of 100 took, at most.
    fn slowest(&mut self) -> Duration {
        self.times.sort_unstable();
        self.times.get((self.times.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or(Duration::MAX)
    }

    fn findings(&mut self, attack: &str) -> Vec<String> {
        let lost = self.failures.first().map(|first| {
            format!("{attack}: {} requests of another client failed, such as with: {first}", self.failures.len())
        });
        let slowest = self.slowest();
        let slow = (slowest > SLOWEST).then(|| format!("{attack}: the p99 of another client was {slowest:.0?}"));
        lost.into_iter().chain(slow).collect()
    }
}

fn ask(address: &str) -> std::io::Result<u16> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = skep_client::get("/", address, true);
    skep_client::exchange(&mut stream, &request, false, PATIENCE).map(|response| response.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(connected: u32, available: &str, ended: &str) -> String {
        format!(
            "\u{1b}[1;32mconnected:           \u{1b}[0m{connected}\nservice available:   \u{1b}[1;32m{available}\u{1b}[0m\n\
             Test ended\nExit status: \u{1b}[1m{ended}\u{1b}[0m\n"
        )
    }

    #[test]
    fn connections_that_came_about_and_were_closed_are_no_finding() {
        assert_eq!(findings(&ATTACKS[0], &said(1000, "YES", "No open connections left")), [""; 0]);
        assert_eq!(findings(&ATTACKS[1], &said(1000, "YES", "Hit test time limit")), [""; 0]);
    }

    #[test]
    fn a_test_that_says_otherwise_or_tried_little_is_a_finding() {
        let heads = |said: &str| findings(&ATTACKS[0], said).len();
        assert_eq!(heads(&said(1000, "NO", "No open connections left")), 1);
        assert_eq!(heads(&said(1000, "YES", "Hit test time limit")), 1);
        assert_eq!(heads(&said(200, "YES", "No open connections left")), 1);
        assert_eq!(heads("connect: no such host"), 2);
    }

    #[test]
    fn another_client_that_waits_or_fails_is_a_finding() {
        let times = |slow: usize| {
            let time = |at: usize| Duration::from_millis(if at < slow { 900 } else { 3 });
            Served { times: (0..100).map(time).collect(), failures: Vec::new() }.findings("heads").len()
        };
        assert_eq!((times(1), times(2)), (0, 1));
        let mut failed = Served { times: vec![Duration::ZERO], failures: vec!["timed out".to_owned()] };
        assert_eq!(failed.findings("heads"), ["heads: 1 requests of another client failed, such as with: timed out"]);
        assert_eq!(Served::default().findings("heads").len(), 1);
    }
}
