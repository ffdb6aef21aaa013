//! One figure of the table: one entrant, once.

mod idle;
mod isolate;
mod processes;

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::{Entrant, label};
use crate::Result;
use crate::cluster::Cluster;
use crate::cores;
use crate::experiment::Load;
use crate::load::{self, Loaded};
use crate::measure::{Measure, Sample, float};
use crate::program::StartOptions;
use crate::server::{self, Server};
use crate::site::Site;
use crate::site::data::Database;
use skep_bench::load::{Silent, Watch};
use skep_bench::server::{Spent, Usage, busy};

/// What a server may do after the load before its memory is read: close its connections.
const SETTLE: Duration = Duration::from_millis(300);

/// How a figure is made.
pub(crate) struct Cell<'a> {
    pub(crate) experiment: &'static str,
    /// Whether the load never sleeps.
    pub(crate) busy: bool,
    pub(crate) load: Load,
    pub(crate) site: &'a Site,
    pub(crate) seconds: f64,
}

impl Cell<'_> {
    /// Puts a running server to work, and forgets what came out.
    pub(crate) fn warm_up(&self, entrant: &Entrant, server: Option<&Server>, time: Duration) -> Result<()> {
        let Some(server) = server else { return Ok(()) };
        self.asked(entrant, server, time, &mut Silent)?;
        server.forget_output()
    }

    /// The figures of one entrant, from its running server or from a new one.
    pub(crate) fn measure(&self, entrant: &Entrant, server: Option<&Server>) -> Result<Sample> {
        match (self.load, server) {
            (_, Some(server)) => self.loaded(entrant, server),
            (Load::Memory { .. }, None) => self.memory(entrant),
            (Load::Start, None) => {
                let server = self.start(entrant)?;
                Ok(Sample::from([(Measure::Start, server.took.as_secs_f64() * 1e3)]))
            }
            (Load::Processes { .. }, None) => processes::memory(self, entrant),
            (Load::Idle { connections }, None) => idle::memory(self, entrant, connections),
            (Load::Held { requests }, None) => isolate::held(self, entrant, requests),
            (Load::Swaps { new }, None) => isolate::swaps(self, entrant, new),
            (Load::Deaths { whose }, None) => processes::deaths(self, entrant, whose),
            (_, None) => self.alone(entrant),
        }
    }

    /// A server under load.
    fn loaded(&self, entrant: &Entrant, server: &Server) -> Result<Sample> {
        let uses_cluster = entrant.variant.program.database() == Some(Database::Postgres);
        let cluster = if uses_cluster { self.site.running_cluster() } else { None };
        let mut span = Span { server, cluster, begun: None, ended: None };
        let time = Duration::from_secs_f64(self.seconds);
        let loaded = server.while_scraped(|| self.asked(entrant, server, time, &mut span))?;
        let mut sample = loaded.sample();
        // Who fails before anything counts has taken nothing that would.
        if let (Some(begun), Some(ended)) = (span.begun, span.ended) {
            sample.extend(ended?.since(&begun?, &loaded));
        }
        server.forget_output()?;
        Ok(sample)
    }

    fn asked(&self, entrant: &Entrant, server: &Server, time: Duration, watch: &mut dyn Watch) -> Result<Loaded> {
        let place = (server.port, entrant.variant.path);
        let loaded = load::measured(self.load.on_servers(), self.busy, place, time, watch);
        loaded.map_err(|error| format!("{}: {error}", entrant.name).into())
    }

    /// A new server, alone: processes of one program share memory, and PSS would halve it.
    fn memory(&self, entrant: &Entrant) -> Result<Sample> {
        let server = self.start(entrant)?;
        self.filled(entrant, &server)
    }

    /// The same of a server that is there already.
    fn filled(&self, entrant: &Entrant, server: &Server) -> Result<Sample> {
        let mut sample = self.loaded(entrant, server)?;
        thread::sleep(SETTLE);
        let sizes = server.watched().sizes()?;
        sample.insert(Measure::Memory, sizes.values().sum());
        sample.insert(Measure::Largest, sizes.values().copied().fold(0.0, f64::max));
        sample.insert(Measure::Processes, float(sizes.len() as u64));
        sample.extend(sizes.get(&server.pid()).map(|size| (Measure::Supervisor, *size)));
        Ok(sample)
    }

    fn start(&self, entrant: &Entrant) -> Result<Server> {
        Server::start(&entrant.variant, &label(self.experiment, entrant), self.site)
    }

    /// A program that is no server: it says itself what it did.
    fn alone(&self, entrant: &Entrant) -> Result<Sample> {
        let place = StartOptions { port: 0, second: 0, dir: self.site.folder(&label(self.experiment, entrant)) };
        let mut command = entrant.variant.program.command(&place, self.site)?;
        // Such programs count whole seconds.
        command.arg(format!("{:.0}", self.seconds.ceil())).stdin(Stdio::null()).stdout(Stdio::piped());
        let output = server::spawn(&mut command)?.wait_with_output()?;
        let line = String::from_utf8_lossy(&output.stdout).into_owned();
        did(&line).ok_or_else(|| format!("{}'s line is not understood: {line:?}", entrant.name).into())
    }
}

impl Load {
    /// What servers get in an experiment that also has a program without one.
    fn on_servers(self) -> Self {
        if self == Self::Loop { Self::KeepAlive { connections: 32 } } else { self }
    }
}

/// What is measured of a load: from the first request that counts to the last answer.
struct Span<'a> {
    server: &'a Server,
    cluster: Option<&'a Cluster>,
    begun: Option<Result<Reading>>,
    ended: Option<Result<Reading>>,
}

impl Watch for Span<'_> {
    fn begins(&mut self) {
        self.begun = Some(Reading::take(self.server, self.cluster));
    }

    fn ends(&mut self) {
        self.ended = Some(Reading::take(self.server, self.cluster));
    }
}

/// The totals at one moment.
struct Reading {
    at: Instant,
    server: Usage,
    /// Of PostgreSQL, if the server asks it.
    cluster: Option<Usage>,
    server_core: f64,
    load_core: f64,
}

impl Reading {
    fn take(server: &Server, cluster: Option<&Cluster>) -> Result<Self> {
        Ok(Self {
            at: Instant::now(),
            server: server.watched().usage()?,
            cluster: cluster.map(|cluster| cluster.watched().usage()).transpose()?,
            server_core: core(cores::SERVER)?,
            load_core: core(cores::LOAD)?,
        })
    }

    /// The figures between two moments, for what was answered in between.
    fn since(&self, before: &Self, loaded: &Loaded) -> Sample {
        let elapsed = (self.at - before.at).as_secs_f64() * 1e6;
        let percent = |micros: f64| (micros / elapsed * 100.0).clamp(0.0, 100.0);
        let spent = self.server.since(&before.server);
        let load = loaded.own_cpu();
        let mut sample = per_request(spent, loaded.requests());
        let cluster = self.cluster.as_ref().zip(before.cluster.as_ref());
        let cluster = cluster.map(|(now, before)| now.since(before).cpu_us);
        sample.extend(
            cluster.filter(|_| loaded.requests() > 0).map(|cpu| (Measure::Database, cpu / float(loaded.requests()))),
        );
        sample.insert(Measure::Busy, percent(spent.cpu_us));
        sample.insert(Measure::Load, percent(loaded.work()));
        sample.insert(
            Measure::ServerOthers,
            percent(self.server_core - before.server_core - spent.cpu_us - cluster.unwrap_or(0.0)),
        );
        sample.insert(Measure::LoadOthers, percent(self.load_core - before.load_core - load));
        sample
    }
}

/// For how many microseconds it was not idle.
fn core(core: usize) -> Result<f64> {
    busy(Some(core)).ok_or_else(|| format!("/proc/stat has no line of core {core}").into())
}

/// CPU time by request; missing without requests.
fn per_request(spent: Spent, requests: u64) -> Sample {
    if requests == 0 {
        return Sample::new();
    }
    let cpu = spent.cpu_us / float(requests);
    let user = cpu * spent.user_share;
    Sample::from([(Measure::Cpu, cpu), (Measure::User, user), (Measure::System, cpu - user)])
}

/// `41900 renders in 1.000 s, 998120 us of CPU, ...`; another word may stand for the renders.
fn did(line: &str) -> Option<Sample> {
    let (renders, rest) = line.split_once(" in ")?;
    let (renders, _what) = renders.split_once(' ')?;
    let (seconds, rest) = rest.split_once(" s, ")?;
    let cpu: f64 = rest.split_once(" us of CPU")?.0.parse().ok()?;
    let (renders, seconds): (f64, f64) = (renders.parse().ok()?, seconds.parse().ok()?);
    Some(Sample::from([(Measure::Rate, renders / seconds), (Measure::Cpu, cpu / renders)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_shared_out_among_the_requests() {
        let sample = per_request(Spent { cpu_us: 1000.0, user_share: 0.25, switches: 0.0 }, 100);
        let expected = [(Measure::Cpu, 10.0), (Measure::User, 2.5), (Measure::System, 7.5)];
        assert_eq!(sample, Sample::from(expected));
        assert!(per_request(Spent { cpu_us: 1000.0, user_share: 0.5, switches: 0.0 }, 0).is_empty());
    }

    #[test]
    fn the_line_of_a_program_that_works_alone_is_read() {
        let line = "41900 renders in 2.000 s, 1676000 us of CPU, 20950 renders/s, 40.00 us each\n";
        let expected = [(Measure::Rate, 20_950.0), (Measure::Cpu, 40.0)];
        assert_eq!(did(line), Some(Sample::from(expected)));
        assert_eq!(did("segmentation fault"), None);
    }
}
