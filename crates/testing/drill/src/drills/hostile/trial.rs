//! A server with normal clients, and with hostile ones for a while: what that costs, and what is left of it.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Client, Cpu, Hostile, Tally};
use crate::client::Browser;
use crate::drills::{SOON, Stage, THREADS, in_time};
use crate::error::{Error, Result};
use crate::load::{self, Load};
use crate::process::{cpu_time, may_open, memory};
use crate::report::Report;
use crate::server::{Server, folder};

/// How long the server is looked at before the hostile clients come.
const CALM: Duration = Duration::from_secs(1);

/// How long it may take until the memory is given back.
const AFTERWARDS: Duration = Duration::from_secs(30);

/// A neighbour does something this often.
const NEIGHBOUR: Duration = Duration::from_millis(50);

/// Lines of the log that hostile clients may cause, a second.
const LINES: u64 = 100;

/// With default settings, a server defends itself within this time against everything: some time limits are 30 s.
const DEFENDED: Duration = Duration::from_mins(2);

/// File descriptors of this process for all else.
const SPARE: u64 = 3000;

/// These hostile clients only, each with bounds of its own.
pub(super) fn alone(
    hostile: &'static Hostile,
    name: &'static str,
    version: &str,
    stage: &Stage<'_>,
    report: &mut Report,
) -> Result<()> {
    let about = [&[hostile.model.name, version][..], hostile.settings].concat();
    report.case(name, &about.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "));
    let settings = hostile.settings.iter().flat_map(|setting| ["--set", *setting]);
    let arguments: Vec<&str> = hostile.model.arguments.iter().copied().chain(settings).collect();
    let mut trial = Trial::new(stage, start(stage, version, &arguments)?)?;
    trial.asked = hostile.asked;
    let parties = trial.run(&[(name, hostile)], Duration::from_secs(2 * stage.scale))?;
    let [party] = &parties[..] else { return Err(Error::new("nobody came")) };
    party.report(report, true);
    let more = trial.peak.saturating_sub(trial.before);
    report.expect("MiB more than before", at_most(hostile.memory), mib(more), more <= hostile.memory << 10);
    trial.report_cpu(report, party);
    trial.report_others(report, &parties, hostile.soon);
    // A fifth, and what an allocator of two threads has besides.
    trial.report_memory(report, trial.before / 5 + ((8 + hostile.keeps) << 10))
}

/// All of these at the same time, against a server with default settings.
pub(crate) fn together(
    hostile: &[(&'static str, &'static Hostile)],
    time: Duration,
    stage: &Stage<'_>,
    report: &mut Report,
) -> Result<()> {
    report.case("together", &format!("{}, {}", THREADS.name, skep_units::format_duration(time)));
    let version = if stage.subject.is_ours() { "once db" } else { "" };
    let server = start(stage, version, THREADS.arguments)?;
    if stage.subject.is_ours() {
        // In ordinary use the cache is full.
        let mut browser = Browser::new(Ipv4Addr::LOCALHOST, address(&server)?);
        (0..6000).try_for_each(|number| browser.get(&format!("/article/{number}")).map(drop))?;
    }
    let mut trial = Trial::new(stage, server)?;
    let parties = trial.run(hostile, time)?;
    for party in &parties {
        party.report(report, time >= DEFENDED);
    }
    report.note("MiB before, and at the most", format_args!("{}, {}", mib(trial.before), mib(trial.peak)));
    trial.report_others(report, &parties, SOON);
    trial.report_memory(report, trial.before / 5)
}

fn start(stage: &Stage<'_>, version: &str, arguments: &[&str]) -> Result<Server> {
    // The server has the limits of this process.
    may_open();
    let folder = folder()?;
    if !version.is_empty() {
        stage.subject.deploy(&folder, version)?;
    }
    Server::start_in(stage.subject, folder, arguments)
}

fn address(server: &Server) -> Result<SocketAddrV4> {
    server.address.parse().map_err(|_| Error::new(format!("{} is no IPv4 address and port", server.address)))
}

/// A server, and what is known of it.
struct Trial<'s> {
    stage: &'s Stage<'s>,
    server: Server,
    address: SocketAddrV4,
    /// What normal clients ask for, if that is not the page of the stage.
    asked: Option<&'static str>,
    /// What it held with normal clients only, in KiB.
    before: u64,
    /// The CPU time that normal clients cost in [`CALM`].
    calm: Duration,
    /// The most that it held, in KiB.
    peak: u64,
    /// CPU time with hostile clients, without that of normal ones.
    cpu: Duration,
    time: Duration,
    lines: u64,
    normal: Arc<load::Tally>,
}

/// Hostile clients of one kind, and a neighbour.
struct Party {
    name: &'static str,
    hostile: &'static Hostile,
    tally: Arc<Tally>,
    neighbour: Arc<Neighbour>,
}

/// What a neighbour did, and what was done to it.
#[derive(Default)]
struct Neighbour {
    problems: Mutex<Vec<String>>,
    good: AtomicU64,
    lost: AtomicU64,
}

impl<'s> Trial<'s> {
    fn new(stage: &'s Stage<'s>, server: Server) -> Result<Self> {
        let address = address(&server)?;
        let mut trial = Self {
            stage,
            server,
            address,
            asked: None,
            before: 0,
            calm: Duration::ZERO,
            peak: 0,
            cpu: Duration::ZERO,
            time: Duration::ZERO,
            lines: 0,
            normal: Arc::default(),
        };
        let running = trial.normal_load().start();
        running.go_on_for(100)?;
        let before = trial.cpu_time();
        thread::sleep(CALM);
        trial.calm = trial.cpu_time().saturating_sub(before);
        trial.before = trial.held();
        drop(running.stop());
        Ok(trial)
    }

    /// What others ask for meanwhile.
    fn normal_load(&self) -> Load {
        let load = self.stage.load(&self.server);
        let path = self.asked.map_or_else(|| load.path.clone(), str::to_owned);
        Load { connections: 4, requests: 20, pause: Duration::from_millis(5), path, ..load }
    }

    fn held(&self) -> u64 {
        self.server.family().into_iter().map(memory).sum()
    }

    fn cpu_time(&self) -> Duration {
        self.server.family().into_iter().chain([self.server.pid()]).map(cpu_time).sum()
    }

    fn run(&mut self, hostile: &[(&'static str, &'static Hostile)], time: Duration) -> Result<Vec<Party>> {
        let (cpu, lines, start) = (self.cpu_time(), self.server.error_lines(), Instant::now());
        let normal = self.normal_load().start();
        let crowd = Crowd::gather(hostile, self.address, self.stage.scale);
        while start.elapsed() < time {
            self.peak = self.peak.max(self.held());
            thread::sleep(Duration::from_millis(20));
        }
        self.normal = normal.stop();
        self.time = start.elapsed();
        let calm = self.calm.mul_f64(self.time.as_secs_f64() / CALM.as_secs_f64());
        self.cpu = self.cpu_time().saturating_sub(cpu).saturating_sub(calm);
        self.lines = self.server.error_lines() - lines;
        crowd.disperse()
    }

    fn report_cpu(&self, report: &mut Report, party: &Party) {
        let used = self.cpu.as_micros();
        report.note("seconds of CPU", format_args!("{:.2} in {:.2}", self.cpu.as_secs_f64(), self.time.as_secs_f64()));
        let (what, was, most) = match party.hostile.cpu {
            Cpu::Each(most) => {
                let done = party.tally.done.load(Ordering::Relaxed).max(1);
                (format!("us of CPU for each of the {}", party.hostile.unit), used / u128::from(done), most)
            }
            Cpu::Share(most) => ("percent of a core".into(), used * 100 / self.time.as_micros().max(1), most),
        };
        // As with times, only optimised builds are judged.
        if cfg!(debug_assertions) {
            return report.note(&what, was);
        }
        report.expect(&what, at_most(most), was, was <= most.into());
    }

    /// Normal clients lost nothing and did not wait, and the log can be read.
    fn report_others(&self, report: &mut Report, parties: &[Party], soon: Duration) {
        report.nothing_lost(&self.normal);
        in_time(report, "p99 of a normal client", soon, self.normal.percentile(99));
        for party in parties.iter().filter(|party| party.hostile.neighbour.is_some()) {
            party.neighbour.report(report, party.name);
        }
        let hung = self.server.errors().lines().filter(|line| line.contains(" hangs")).count();
        report.expect("workers replaced because they hang", 0, hung, hung == 0);
        let lines = self.lines / self.time.as_secs().max(1);
        report.expect("log lines a second", at_most(LINES), lines, lines <= LINES);
    }

    /// The memory was given back, but for this many KiB.
    fn report_memory(&mut self, report: &mut Report, more: u64) -> Result<()> {
        let (start, most) = (Instant::now(), self.before + more);
        let mut held = self.held();
        while held > most && start.elapsed() < AFTERWARDS {
            thread::sleep(Duration::from_millis(100));
            held = self.held();
        }
        report.expect("MiB afterwards", format_args!("at most {}", mib(most)), mib(held), held <= most);
        // Whatever happened, it serves.
        self.server.get(self.stage.subject.asked()).map(drop)
    }
}

impl Party {
    /// What they did; with `defended`, the server must have done something against it.
    fn report(&self, report: &mut Report, defended: bool) {
        let [done, refused] = [&self.tally.done, &self.tally.refused].map(|counter| counter.load(Ordering::Relaxed));
        report.expect(&format!("{}: {}", self.name, self.hostile.unit), "some", done, done > 0);
        match self.hostile.defence {
            Some(defence) if defended => {
                report.expect(&format!("{}: {defence}", self.name), "some", refused, refused > 0);
            }
            other => report.note(&format!("{}: {}", self.name, other.unwrap_or("turned away")), refused),
        }
    }
}

/// Threads of hostile clients and their neighbours.
struct Crowd {
    stop: Arc<AtomicBool>,
    parties: Vec<Party>,
    threads: Vec<JoinHandle<io::Result<()>>>,
}

impl Crowd {
    fn gather(hostile: &[(&'static str, &'static Hostile)], to: SocketAddrV4, scale: u64) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let (mut parties, mut threads) = (Vec::new(), Vec::new());
        let mut from = u32::from(Ipv4Addr::LOCALHOST);
        for &(name, hostile) in hostile {
            let party = Party { name, hostile, tally: Arc::default(), neighbour: Arc::default() };
            for number in 0..hostile.clients {
                from += 1;
                let from = Ipv4Addr::from(from);
                let client = Client {
                    number,
                    from,
                    to,
                    scale,
                    files: may_open().saturating_sub(SPARE),
                    turn: 0,
                    sent: 0,
                    streams: Vec::new(),
                    silent: Vec::new(),
                    http2: Vec::new(),
                    browser: Browser::new(from, to),
                    tally: Arc::clone(&party.tally),
                };
                let stop = Arc::clone(&stop);
                threads.push(thread::spawn(move || attack(hostile, client, &stop)));
            }
            if let Some(act) = hostile.neighbour {
                let (stop, neighbour) = (Arc::clone(&stop), Arc::clone(&party.neighbour));
                let browser = Browser::new(Ipv4Addr::LOCALHOST, to);
                threads.push(thread::spawn(move || {
                    neighbour.live(act, browser, &stop);
                    Ok(())
                }));
            }
            parties.push(party);
        }
        Self { stop, parties, threads }
    }

    /// Ends them. An error is what kept hostile clients from being hostile.
    fn disperse(self) -> Result<Vec<Party>> {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().map_err(|_| Error::new("a hostile client panicked"))??;
        }
        Ok(self.parties)
    }
}

/// Does it over and over. What the server does against it is counted; any other error ends it.
fn attack(hostile: &Hostile, mut client: Client, stop: &AtomicBool) -> io::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        match (hostile.turn)(&mut client) {
            Err(error) if is_of_server(&error) => client.refused(1),
            other => other?,
        }
        client.turn += 1;
        thread::sleep(hostile.pause);
    }
    Ok(())
}

/// True if the server has closed the connection, or lets it wait.
fn is_of_server(error: &io::Error) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock,
    };
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionRefused | ConnectionReset | TimedOut | UnexpectedEof | WouldBlock
    )
}

impl Neighbour {
    fn live(&self, act: fn(&mut Browser) -> std::result::Result<(), String>, mut browser: Browser, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            match act(&mut browser) {
                Ok(()) => drop(self.good.fetch_add(1, Ordering::Relaxed)),
                Err(problem) => {
                    self.lost.fetch_add(1, Ordering::Relaxed);
                    let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
                    if problems.len() < 3 && !problems.contains(&problem) {
                        problems.push(problem);
                    }
                }
            }
            thread::sleep(NEIGHBOUR);
        }
    }

    fn report(&self, report: &mut Report, name: &str) {
        let [good, lost] = [&self.good, &self.lost].map(|counter| counter.load(Ordering::Relaxed));
        let problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner).join("; ");
        let was = if lost == 0 { format!("0 of {good}") } else { format!("{lost} of {}: {problems}", good + lost) };
        report.expect(&format!("{name}: lost by a neighbour"), 0, was, lost == 0 && good > 0);
    }
}

fn at_most(most: u64) -> String {
    format!("at most {most}")
}

/// KiB as MiB.
fn mib(kib: u64) -> String {
    format!("{}.{}", kib / 1024, kib % 1024 * 10 / 1024)
}
