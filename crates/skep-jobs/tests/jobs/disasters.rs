//! The drill: jobs on SQLite while workers and a supervisor are killed, versions are swapped, the clock is set and the
//! disk is full.
//!
//! `DRILLED_JOBS=100000` drills as many jobs. The clock is set if libfaketime is installed, the disk is full if we are
//! root and `DRILLED_JOBS` is set: it is a small file system that is mounted.

use std::fs::{self, File};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use skep_drill::{Server, Subject, TimeOfDay, ask, folder, kill, wait_for};

use crate::application::encoded;
use crate::servers::{exchange, exchange_within, send};

crate::tests![no_job_is_lost_in_disasters];

/// The schedule of an application that has one.
pub(crate) const SCHEDULED: &str = "JOBS_SCHEDULED";

/// How long workers live from their first answer.
const PERIOD: Duration = Duration::from_millis(200);

/// Periods of a drill, at least: jobs are ordered in each of them.
const PERIODS: u64 = 50;

/// Jobs that are ordered at once: in much less than a period.
const AT_ONCE: u64 = 20;

fn no_job_is_lost_in_disasters() {
    Drill::start(&[]).run();
}

fn jobs() -> Option<u64> {
    std::env::var("DRILLED_JOBS").ok().map(|jobs| jobs.parse().expect("DRILLED_JOBS is a number"))
}

/// A server, and what happens to it.
struct Drill {
    subject: Subject,
    arguments: Vec<String>,
    server: Server,
    time: Option<TimeOfDay>,
    disk: Option<Disk>,
    jobs: u64,
}

impl Drill {
    fn start(arguments: &[&str]) -> Self {
        let (subject, folder) = (Subject::ours().unwrap(), folder().unwrap());
        let time = TimeOfDay::new(&folder).unwrap();
        let disk = jobs().filter(|_| rustix::process::geteuid().is_root()).map(|_| Disk::new(&folder.join("data")));
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let server = start(&subject, folder, &arguments, time.as_ref());
        Self { subject, arguments, server, time, disk, jobs: jobs().unwrap_or(2_000) }
    }

    fn run(mut self) {
        let client = Client::start(self.server.address.clone(), self.jobs);
        let (began, mut period) = (Instant::now(), 0);
        while period < PERIODS || client.done.load(Ordering::Relaxed) < self.jobs * 9 / 10 {
            period += 1;
            client.wanted.store((self.jobs * period / PERIODS).min(self.jobs), Ordering::Relaxed);
            self.live(period);
            self.server.family().into_iter().for_each(|pid| kill(pid, Signal::KILL));
            match period {
                10 => self.disk.iter().for_each(Disk::fill),
                14 => self.disk.iter().for_each(Disk::free),
                20 => self.kill_supervisor(),
                // Every five seconds.
                _ if period % 25 == 0 => self.server.signal(Signal::HUP),
                _ => self.set_clock(period),
            }
        }
        self.set_time("+0");
        client.stop();
        let killed = began.elapsed();
        let asked = self.assert_whole();
        let whole = began.elapsed();
        println!("{asked} jobs, {period} periods in {killed:?}, {whole:?} in all; {}", self.left_out());
    }

    /// Waits for an answer, and then sends requests for a period: a worker that has answered much is replaced at once.
    /// Without a disk, none starts.
    fn live(&self, period: u64) {
        let most = if matches!(period, 11..=14) { PERIOD } else { Duration::from_mins(1) };
        let address = &self.server.address;
        let request = format!("GET /no-such-page HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        let began = Instant::now();
        while began.elapsed() < most && exchange_within(address, &request, most).is_empty() {
            thread::yield_now();
        }
        let answered = Instant::now();
        while let Ok(mut stream) = TcpStream::connect(address)
            && answered.elapsed() < PERIOD
        {
            while answered.elapsed() < PERIOD && ask(&mut stream, "/no-such-page", false).is_ok() {}
        }
    }

    fn left_out(&self) -> String {
        let clock = if self.time.is_some() { "the clock was set" } else { "the clock was not set (libfaketime)" };
        format!("{clock}; {}", if self.disk.is_some() { "the disk was full" } else { "the disk was never full" })
    }

    fn set_clock(&self, period: u64) {
        match period % 24 {
            5 => self.set_time("+1h"),
            11 | 23 => self.set_time("+0"),
            17 => self.set_time("-1h"),
            _ => {}
        }
    }

    /// Its workers end by themselves, and then somebody starts another one.
    fn kill_supervisor(&mut self) {
        self.server.signal(Signal::KILL);
        let address = self.server.address.clone();
        wait_for(Duration::from_secs(30), || "its workers do not end".into(), || TcpListener::bind(&address).is_ok());
        let listen = ["--listen".to_owned(), self.server.address.clone()];
        // The folder is to stay when the old one is dropped.
        let folder = std::mem::take(&mut self.server.folder);
        let arguments = [&self.arguments[..], &listen].concat();
        self.server = start(&self.subject, folder, &arguments, self.time.as_ref());
    }

    fn set_time(&self, step: &str) {
        self.time.iter().for_each(|time| time.set(step).unwrap());
    }

    fn wait_until_done(&self, which: &str) {
        let address = &self.server.address;
        let is_over = || {
            // Of a job that ran twice when its process was killed.
            change(address, "update skep_job set state = 0, crashes = 0 where state = 2");
            send(address, "/notes/look");
            number(address, &format!("count(*) from skep_job where {which}")) == Some(0)
        };
        wait_for(Duration::from_mins(5), || format!("jobs are left: {}", self.server.errors()), is_over);
    }

    fn ask(&self, what: &str) -> Option<u64> {
        number(&self.server.address, what)
    }

    /// All are done, each once. Gives how many there were.
    fn assert_whole(&self) -> u64 {
        self.wait_until_done("kind <> 'minute' and payload not like '%look%'");
        // Minutes of the hour that was too early are due in it.
        self.set_time("+1h");
        self.wait_until_done("payload not like '%look%'");
        let asked = self.ask("sum(jobs) from asked").unwrap();
        assert!(asked >= self.jobs, "{asked}");
        assert_eq!(self.ask("count(*) from effect where note = 'many'"), Some(asked));
        assert_eq!(self.ask("count(distinct job) from effect where note = 'many'"), Some(asked));
        assert_eq!(self.ask("count(*) from effect where note like 'end%'"), self.ask("count(*) from asked"));
        let minutes = self.ask("count(*) from minute").unwrap();
        assert_eq!(self.ask("count(distinct at) from minute"), Some(minutes));
        let step = if self.time.is_some() { 60 } else { 1 };
        if minutes > 0 {
            assert_eq!(self.ask(&format!("(max(at) - min(at)) / {step} + 1 from minute")), Some(minutes));
        }
        assert!(self.time.is_none() || minutes >= 59, "an hour has its minutes: {minutes}");
        asked
    }
}

pub(crate) fn start(subject: &Subject, folder: PathBuf, arguments: &[String], time: Option<&TimeOfDay>) -> Server {
    let quiet = ["--listen", "127.0.0.1:0", "--set", "log.access=false", "--set", "grace=2s"];
    let all: Vec<&str> = quiet.into_iter().chain(arguments.iter().map(String::as_str)).collect();
    let mut command = subject.command(&folder, &all);
    // The clock is set by hours: it has few moments of a schedule.
    command.env(SCHEDULED, if time.is_some() { "* * * * *" } else { "* * * * * *" });
    if let Some(time) = time {
        time.give(&mut command);
    }
    Server::start_command(subject, command, folder).unwrap()
}

/// What is counted, if somebody answers.
pub(crate) fn number(address: &str, what: &str) -> Option<u64> {
    let (value, rows) = what.split_once(" from ")?;
    let sql = encoded(&format!("select cast(coalesce({value}, 0) as text) from {rows}"));
    let request = format!("GET /ask?sql={sql} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    exchange(address, &request).rsplit("\r\n").next()?.trim().parse().ok()
}

fn change(address: &str, sql: &str) {
    send(address, &format!("/change?sql={}", encoded(sql)));
}

/// Orders jobs, and looks how many are done. What it asks for may be cut off, so it believes the database only.
struct Client {
    wanted: Arc<AtomicU64>,
    done: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Client {
    fn start(address: String, jobs: u64) -> Self {
        let (wanted, done, is_over) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default(), Arc::default());
        let (want, count, over) = (Arc::clone(&wanted), Arc::clone(&done), Arc::<AtomicBool>::clone(&is_over));
        let order = move || {
            let mut asked = 0;
            while asked < jobs || !over.load(Ordering::Relaxed) {
                if asked < want.load(Ordering::Relaxed) {
                    send(&address, &format!("/ordered/{AT_ONCE}"));
                }
                asked = number(&address, "sum(jobs) from asked").unwrap_or(asked);
                let effects = number(&address, "count(*) from effect where note = 'many'");
                count.fetch_max(effects.unwrap_or_default(), Ordering::Relaxed);
            }
        };
        Self { wanted, done, is_over, thread: thread::spawn(order) }
    }

    fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// A small file system with the data.
struct Disk(PathBuf);

impl Disk {
    fn new(folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=256m,mode=700", "tmpfs"];
        assert!(Command::new("mount").args(mount).arg(folder).status().unwrap().success());
        Self(folder.to_owned())
    }

    /// Writes until nothing more can be.
    fn fill(&self) {
        let mut file = File::create(self.0.join("fill")).unwrap();
        for size in [1 << 20, 4096, 1] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
    }

    fn free(&self) {
        fs::remove_file(self.0.join("fill")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // What uses it may end a moment later.
        _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
