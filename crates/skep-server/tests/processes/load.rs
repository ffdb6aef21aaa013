//! The least load generator that knows what it lost.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What happened to the requests of a load.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) good: AtomicU64,
    /// Connections that the system refused.
    pub(crate) refused: AtomicU64,
    /// Requests that got no answer, or half of one.
    pub(crate) cut: AtomicU64,
    /// Answers with another status than 200.
    pub(crate) bad: AtomicU64,
    /// Guilty requests that got no answer, as they should.
    pub(crate) guilty: AtomicU64,
    /// The longest that a request took, in microseconds, connecting included.
    pub(crate) slowest: AtomicU64,
    pub(crate) problems: Mutex<Vec<String>>,
    /// Of each connection the bodies of its answers, in their order.
    pub(crate) seen: Mutex<Vec<Vec<String>>>,
}

/// A load: so many connections at a time, each asking again and again.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) address: String,
    pub(crate) path: &'static str,
    pub(crate) connections: usize,
    /// How many requests a connection brings.
    pub(crate) requests: usize,
    /// Every so many requests, of all connections together, this one comes instead.
    pub(crate) guilty: Option<(u64, &'static str)>,
    /// How long each connection waits between two requests.
    pub(crate) pause: Duration,
    /// Keep what was answered.
    pub(crate) remember: bool,
}

impl Load {
    pub(crate) fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            path: "/",
            connections: 8,
            requests: 1,
            guilty: None,
            pause: Duration::ZERO,
            remember: false,
        }
    }

    pub(crate) fn start(&self) -> Running {
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
        Running { threads: threads.collect(), stop, tally, since: Instant::now() }
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
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut seen = Vec::new();
        for number in 1..=self.requests {
            let start = if number == 1 { start } else { Instant::now() };
            let total = count.fetch_add(1, Ordering::Relaxed) + 1;
            let guilty = self.guilty.filter(|(every, _)| total.is_multiple_of(*every));
            let last = number == self.requests || stop.load(Ordering::Relaxed);
            let answer = ask(&mut stream, guilty.map_or(self.path, |(_, path)| path), last);
            match answer {
                Err(_) if guilty.is_some() => {
                    tally.guilty.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                Err(error) => {
                    tally.lose(&tally.cut, format!("request {number} of its connection: {error}"));
                    break;
                }
                Ok(answer) => {
                    let good = answer.status == 200;
                    let counter = if good { &tally.good } else { &tally.bad };
                    counter.fetch_add(1, Ordering::Relaxed);
                    tally.slowest.fetch_max(u64::try_from(start.elapsed().as_micros()).unwrap(), Ordering::Relaxed);
                    seen.push(answer.body);
                    if last || answer.closes {
                        break;
                    }
                }
            }
            thread::sleep(self.pause);
        }
        if self.remember {
            tally.seen.lock().unwrap().push(seen);
        }
        thread::sleep(self.pause);
    }
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) closes: bool,
}

/// Asks, and reads one answer with a length.
pub(crate) fn ask(stream: &mut TcpStream, path: &str, last: bool) -> io::Result<Answer> {
    let connection = if last { "Connection: close\r\n" } else { "" };
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n{connection}\r\n").as_bytes())?;
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("closed after {} bytes", read.len())));
        }
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let field = |name: &str| {
            let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(name));
            line.and_then(|line| line.split_once(": ")).map(|(_, value)| value.to_owned())
        };
        let length: usize = field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        if body.len() >= length {
            let status = head[9..12].parse().map_err(|_| io::Error::other("no status"))?;
            return Ok(Answer {
                status,
                body: body.to_owned(),
                closes: field("connection").as_deref() == Some("close"),
            });
        }
    }
}

impl Tally {
    fn lose(&self, counter: &AtomicU64, problem: String) {
        counter.fetch_add(1, Ordering::Relaxed);
        let mut problems = self.problems.lock().unwrap();
        if problems.len() < 10 {
            problems.push(problem);
        }
    }

    pub(crate) fn of(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    /// Nothing was refused, cut or answered with an error.
    pub(crate) fn assert_nothing_lost(&self) {
        let lost = Self::of(&self.refused) + Self::of(&self.cut) + Self::of(&self.bad);
        assert_eq!(lost, 0, "{}", self.text());
        assert!(Self::of(&self.good) > 0, "nothing was asked");
    }

    pub(crate) fn text(&self) -> String {
        let [good, refused, cut, bad, guilty] =
            [&self.good, &self.refused, &self.cut, &self.bad, &self.guilty].map(Self::of);
        let slowest = Self::of(&self.slowest) / 1000;
        let problems = self.problems.lock().unwrap().join("; ");
        format!(
            "{good} good, {refused} refused, {cut} cut, {bad} bad, {guilty} guilty without an answer; slowest {slowest} ms{}{problems}",
            if problems.is_empty() { "" } else { ": " }
        )
    }
}

/// A load that is under way.
pub(crate) struct Running {
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    pub(crate) tally: Arc<Tally>,
    since: Instant,
}

impl Running {
    /// Waits until so many more answers were good.
    pub(crate) fn go_on_for(&self, answers: u64) {
        let until = Tally::of(&self.tally.good) + answers;
        let start = Instant::now();
        while Tally::of(&self.tally.good) < until {
            assert!(start.elapsed() < Duration::from_mins(1), "no progress: {}", self.tally.text());
            thread::sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn stop(self) -> Arc<Tally> {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        println!("  {} in {:.1} s", self.tally.text(), self.since.elapsed().as_secs_f32());
        self.tally
    }
}
