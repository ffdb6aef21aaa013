//! A load that knows what it lost: of each request whether it was refused, cut or failed, and which responses a
//! connection had.
//!
//! The load generator of `skep bench` measures, and counts errors by kind only. Both use the client of `skep-client`.

use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// What happened to the requests of a load.
#[derive(Debug, Default)]
pub struct Tally {
    /// Answers with the status 200.
    pub good: AtomicU64,
    /// Connections that the system refused.
    pub refused: AtomicU64,
    /// Requests that got no answer, or half of one.
    pub cut: AtomicU64,
    /// Answers with another status than 200.
    pub bad: AtomicU64,
    /// Guilty requests that were sent.
    pub asked: AtomicU64,
    /// Guilty requests that failed as they should.
    pub guilty: AtomicU64,
    /// The longest that a request took, in microseconds, connecting included.
    pub slowest: AtomicU64,
    /// How long requests took.
    times: Times,
    /// The first few of what went wrong.
    problems: Mutex<Vec<String>>,
    /// Of each connection the bodies of its answers, in their order.
    seen: Mutex<Vec<Vec<String>>>,
}

/// How many requests took how long: a counter for each [`STEP`], and the last one for all that took longer.
#[derive(Debug)]
struct Times(Vec<AtomicU64>);

/// The resolution of percentiles.
const STEP: Duration = Duration::from_micros(250);

impl Default for Times {
    fn default() -> Self {
        Self((0..=4000).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Times {
    fn add(&self, took: Duration) {
        let step = usize::try_from(took.as_micros() / STEP.as_micros()).unwrap_or(usize::MAX);
        self.0[step.min(self.0.len() - 1)].fetch_add(1, Ordering::Relaxed);
    }

    /// The first step below whose end this percentage of requests ended.
    fn percentile(&self, percent: u64) -> u32 {
        let counts: Vec<u64> = self.0.iter().map(Tally::of).collect();
        let most = (counts.iter().sum::<u64>() * percent).div_ceil(100);
        let mut sum = 0;
        let below = counts.iter().take_while(|count| {
            sum += *count;
            sum < most
        });
        u32::try_from(below.count()).unwrap_or(u32::MAX)
    }
}

/// Requests that are meant to fail.
#[derive(Clone, Debug)]
pub struct Guilty {
    /// One request of this number is guilty, counted over all connections.
    pub every: u64,
    /// What it asks for.
    pub path: String,
    /// The status of its answer; `None` if it gets none.
    pub answer: Option<u16>,
}

/// A load: connections, each of which sends one request after the other.
#[derive(Clone, Debug)]
pub struct Load {
    /// `127.0.0.1:41234`.
    pub address: String,
    /// What is asked for.
    pub path: String,
    /// How many at a time.
    pub connections: usize,
    /// How many requests a connection brings.
    pub requests: usize,
    /// Some requests are meant to fail.
    pub guilty: Option<Guilty>,
    /// How long each connection waits between two requests.
    pub pause: Duration,
    /// Keep what was answered.
    pub remember: bool,
}

impl Load {
    /// Eight connections, each for one request of `/`.
    #[must_use]
    pub fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            path: "/".into(),
            connections: 8,
            requests: 1,
            guilty: None,
            pause: Duration::ZERO,
            remember: false,
        }
    }

    /// Begins, on a thread for each connection.
    #[must_use]
    pub fn start(&self) -> Running {
        let (stop, tally) = (Arc::<AtomicBool>::default(), Arc::<Tally>::default());
        let count = Arc::<AtomicU64>::default();
        let threads = (0..self.connections).map(|_| {
            let (load, stop, tally, count) = (self.clone(), Arc::clone(&stop), Arc::clone(&tally), Arc::clone(&count));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    load.one_connection(&stop, &tally, &count);
                }
            })
        });
        Running { threads: threads.collect(), stop, tally }
    }

    fn one_connection(&self, stop: &AtomicBool, tally: &Tally, count: &AtomicU64) {
        let start = Instant::now();
        let mut stream = match TcpStream::connect(&self.address) {
            Ok(stream) => stream,
            Err(error) => {
                tally.lose(&tally.refused, format!("connect: {error}"));
                return thread::sleep(Duration::from_millis(1));
            }
        };
        let _ = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_nodelay(true));
        let mut seen = Vec::new();
        for number in 1..=self.requests {
            let start = if number == 1 { start } else { Instant::now() };
            let total = count.fetch_add(1, Ordering::Relaxed) + 1;
            let guilty = self.guilty.as_ref().filter(|guilty| total.is_multiple_of(guilty.every));
            let last = number == self.requests || stop.load(Ordering::Relaxed);
            let answer = ask(&mut stream, guilty.map_or(&self.path, |guilty| &guilty.path), last);
            tally.asked.fetch_add(guilty.is_some().into(), Ordering::Relaxed);
            match answer {
                Err(_) if guilty.is_some_and(|guilty| guilty.answer.is_none()) => {
                    tally.guilty.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                Err(error) => {
                    tally.lose(&tally.cut, format!("request {number} of its connection: {error}"));
                    break;
                }
                Ok(answer) => {
                    tally.took(start.elapsed(), self.pause);
                    match guilty {
                        None if answer.status == 200 => drop(tally.good.fetch_add(1, Ordering::Relaxed)),
                        None => tally.lose(&tally.bad, format!("status {}", answer.status)),
                        Some(guilty) if guilty.answer == Some(answer.status) => {
                            tally.guilty.fetch_add(1, Ordering::Relaxed);
                        }
                        Some(guilty) => {
                            tally.lose(&tally.bad, format!("{} was answered with {}", guilty.path, answer.status));
                        }
                    }
                    seen.push(answer.body);
                    if last || answer.closes {
                        break;
                    }
                }
            }
            thread::sleep(self.pause);
        }
        if self.remember {
            tally.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        }
        thread::sleep(self.pause);
    }
}

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer.
#[derive(Debug)]
pub struct PlainResponse {
    /// Such as 200.
    pub status: u16,
    /// The text.
    pub body: String,
    /// It says that the connection ends.
    pub closes: bool,
}

/// Requests a path, and reads the response. With `last`, the server is asked to close the connection.
///
/// ```no_run
/// let mut stream = std::net::TcpStream::connect("127.0.0.1:8800")?;
/// assert_eq!(skep_drill::ask(&mut stream, "/", true)?.status, 200);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn ask(stream: &mut TcpStream, path: &str, last: bool) -> io::Result<PlainResponse> {
    let response = skep_client::exchange(stream, &skep_client::get(path, "localhost", last), false, PATIENCE)?;
    Ok(PlainResponse {
        status: response.status,
        body: String::from_utf8_lossy(&response.body).into_owned(),
        closes: !response.keeps,
    })
}

impl Tally {
    fn lose(&self, counter: &AtomicU64, problem: String) {
        counter.fetch_add(1, Ordering::Relaxed);
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < 10 && !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    /// Counts the time of a request. While its client waited, it did not send what it sends after each `pause`, and
    /// those requests would have waited, too (coordinated omission): they are counted with what was left for them to
    /// wait.
    fn took(&self, time: Duration, pause: Duration) {
        self.slowest.fetch_max(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.times.add(time);
        let mut left = time.saturating_sub(pause);
        while !pause.is_zero() && left >= pause {
            self.times.add(left);
            left -= pause;
        }
    }

    /// The time within which this percentage of the answers came, connecting included, to the next quarter of a
    /// millisecond; what is beyond a second counts as that.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Duration {
        STEP * (self.times.percentile(percent) + 1)
    }

    /// What this counter says now.
    #[must_use]
    pub fn of(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    /// Nothing was refused, cut or answered with an error, and something was asked.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let lost = Self::of(&self.refused) + Self::of(&self.cut) + Self::of(&self.bad);
        lost == 0 && Self::of(&self.good) > 0
    }

    /// All of it in one line.
    #[must_use]
    pub fn text(&self) -> String {
        let [good, refused, cut, bad, guilty] =
            [&self.good, &self.refused, &self.cut, &self.bad, &self.guilty].map(Self::of);
        let slowest = Self::of(&self.slowest) / 1000;
        let problems = self.problems();
        format!(
            "{good} good, {refused} refused, {cut} cut, {bad} bad, {guilty} guilty; slowest {slowest} ms{}{problems}",
            if problems.is_empty() { "" } else { ": " }
        )
    }

    /// The first few ways in which something went wrong, in one line.
    #[must_use]
    pub fn problems(&self) -> String {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).join("; ")
    }

    /// Of each connection the bodies of its answers, in their order.
    #[must_use]
    pub fn seen(&self) -> Vec<Vec<String>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A load that is under way.
#[derive(Debug)]
pub struct Running {
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    /// What has happened so far.
    pub tally: Arc<Tally>,
}

impl Running {
    /// Waits for this number of further good answers.
    pub fn go_on_for(&self, answers: u64) -> Result<()> {
        let until = Tally::of(&self.tally.good) + answers;
        let start = Instant::now();
        while Tally::of(&self.tally.good) < until {
            if start.elapsed() > Duration::from_mins(1) {
                return Err(Error::new(format!("no progress for a minute: {}", self.tally.text())));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Ends it when the requests under way are answered.
    #[must_use]
    pub fn stop(self) -> Arc<Tally> {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // What it did has been counted.
            let _ = thread.join();
        }
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_time_within_which_that_many_were_answered() {
        let tally = Tally::default();
        (0..98).for_each(|_| tally.took(Duration::from_micros(100), Duration::ZERO));
        (0..2).for_each(|_| tally.took(Duration::from_micros(7600), Duration::ZERO));
        assert_eq!((tally.percentile(50), tally.percentile(98)), (STEP, STEP));
        assert_eq!(tally.percentile(99), Duration::from_micros(7750));
        (0..900).for_each(|_| tally.took(Duration::from_mins(1), Duration::ZERO));
        assert!(tally.percentile(99) > Duration::from_secs(1));
    }

    #[test]
    fn a_request_that_takes_long_stands_for_those_that_were_not_sent_meanwhile() {
        let tally = Tally::default();
        (0..100).for_each(|_| tally.took(Duration::from_micros(100), Duration::from_millis(5)));
        tally.took(Duration::from_millis(500), Duration::from_millis(5));
        assert_eq!(tally.percentile(50), STEP);
        assert!(tally.percentile(75) > Duration::from_millis(200), "{:?}", tally.percentile(75));
    }
}
