//! What the commands that load a server have in common: requests, connections and pace.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use clap::{Args, value_parser};

use super::turns::MOST_CORES;
use super::{Failure, number, some_time, within};
use crate::load::{Pace, Plan, Replay, RequestSpec, Target, Trust, Version, read_access_log, read_urls};
use crate::record::Record;

/// How a load is made, before there is a target.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The load")]
pub(crate) struct Settings {
    /// Connections
    #[arg(short, long, value_name = "N", default_value_t = 32, value_parser = number::<usize>(1..=60_000))]
    pub(crate) connections: usize,
    /// Threads that share the connections, each with a core of its own
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = number::<usize>(1..=1024))]
    pub(crate) threads: usize,
    /// Requests at once on each connection: pipelined, or streams of HTTP/2
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<usize>(1..=10_000))]
    depth: usize,
    /// Duration of each load, such as 500ms, 10s, 2m [default: 10s; of a variant in each round 3s; of an access log its
    /// length]
    #[arg(short = 'd', long, value_parser = some_time)]
    time: Option<Duration>,
    /// Load before anything counts
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = skep_units::parse_duration)]
    warm_up: Duration,
    /// Stop after this many responses and errors
    #[arg(short = 'n', long = "requests", value_name = "N", value_parser = value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    pace: Rates,
    /// Open a connection for each request
    #[arg(long)]
    close: bool,
    /// Never sleep, so that the server does not pay for waking the load generator; fills its core
    #[arg(long)]
    busy: bool,
    /// Wait for responses under way at the end, and count them
    #[arg(long)]
    drain: bool,
    #[command(flatten)]
    pub(crate) reach: Reach,
    /// Timeout of a response
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = some_time)]
    timeout: Duration,
    /// Largest response that is read, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30, value_parser = value_parser!(u64).range(1..))]
    largest: u64,
    /// Core of the load, or one for each of its threads
    #[arg(long = "load-core", value_name = "CORE,...", value_delimiter = ',', value_parser = number::<usize>(0..=MOST_CORES))]
    pub(crate) load_cores: Vec<usize>,
    #[command(flatten)]
    request: Request,
}

/// When requests are sent; without any of these, as soon as a response has come.
#[derive(Debug, Clone, Args)]
struct Rates {
    /// Open loop: this many requests a second, latency from when each was due
    #[arg(short, long, value_name = "N", conflicts_with = "ramp", value_parser = rate)]
    rate: Option<f64>,
    /// Open loop whose rate changes evenly from one to the other
    #[arg(long, value_name = "FROM..TO", value_parser = ramp)]
    ramp: Option<(f64, f64)>,
    /// Replay the access log this many times faster [default: 1]
    #[arg(long, value_name = "TIMES", value_parser = |text: &str| within(text, 0.001, 1e6))]
    speed: Option<f64>,
}

/// Over what kind of connection.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The connection")]
pub(crate) struct Reach {
    /// Version of HTTP
    #[arg(long, value_name = "1|2", default_value = "1", value_parser = http)]
    pub(crate) http: Version,
    /// Connect to a unix socket; the URL has host and path
    #[arg(long, value_name = "SOCKET")]
    pub(crate) unix: Option<String>,
    /// Trust the authorities in this PEM file only
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(short = 'k', long)]
    insecure: bool,
}

/// What is requested.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The request")]
struct Request {
    /// Method of each request [default: GET]
    #[arg(short, long, value_parser = method)]
    method: Option<String>,
    /// A header field; may be repeated
    #[arg(short = 'H', long = "header", value_name = "'NAME: VALUE'", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Body of each request, or @ and its file
    #[arg(short, long, value_name = "TEXT|@FILE", value_parser = body)]
    body: Option<Bytes>,
    /// Request each line of a file in turn: PATH, URL, or METHOD URL
    #[arg(long, value_name = "FILE", conflicts_with = "access_log")]
    urls: Option<PathBuf>,
    /// Replay a log at its times (common, combined, and Skep's format)
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
}

fn rate(text: &str) -> Result<f64, String> {
    within(text, 0.001, 1e8)
}

fn ramp(text: &str) -> Result<(f64, f64), String> {
    let (from, to) = text.split_once("..").ok_or("expected two rates, such as 100..5000")?;
    Ok((rate(from)?, rate(to)?))
}

fn http(text: &str) -> Result<Version, String> {
    match text {
        "1" | "1.1" => Ok(Version::Http1),
        "2" => Ok(Version::Http2),
        _ => Err("expected 1 or 2".into()),
    }
}

fn method(text: &str) -> Result<String, String> {
    RequestSpec::get("/").method(text)?;
    Ok(text.to_owned())
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("expected a header field, such as \"accept: text/html\"")?;
    RequestSpec::get("/").header(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

fn body(text: &str) -> Result<Bytes, String> {
    match text.strip_prefix('@') {
        Some(path) => fs::read(path).map(Bytes::from).map_err(|error| format!("{path}: {error}")),
        None => Ok(text.to_owned().into()),
    }
}

impl Reach {
    pub(crate) fn trust(&self) -> Trust {
        match &self.ca {
            _ if self.insecure => Trust::All,
            Some(file) => Trust::File(file.clone()),
            None => Trust::System,
        }
    }
}

impl Rates {
    fn pace(&self) -> Pace {
        match (self.rate, self.ramp) {
            (Some(per_second), _) => Pace::Open { per_second },
            (None, Some((from, to))) => Pace::Ramp { from, to },
            (None, None) => Pace::Closed,
        }
    }
}

impl Settings {
    /// The requests of this load, and what of an access log could not be sent.
    pub(crate) fn requests(&self, target: &Target) -> Result<(Vec<RequestSpec>, Option<Replay>), Failure> {
        let usage = |flag: &str, text: String| Failure::Usage(format!("{flag}: {text}"));
        let read = |path: &PathBuf| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        let (specs, replay) = match (&self.request.urls, &self.request.access_log) {
            (Some(path), _) => {
                let specs = read(path).and_then(|text| read_urls(&text));
                (specs.map_err(|error| usage("--urls", error))?, None)
            }
            (None, Some(path)) => {
                let replay = read(path).and_then(|text| read_access_log(&text));
                let replay = replay.map_err(|error| usage("--access-log", error))?;
                (replay.requests.clone(), Some(replay))
            }
            (None, None) => (vec![RequestSpec::get(target.path())], None),
        };
        let dress = |mut spec: RequestSpec| -> Result<RequestSpec, String> {
            if let Some(method) = &self.request.method {
                spec = spec.method(method)?;
            }
            for (name, value) in &self.request.headers {
                spec = spec.header(name, value)?;
            }
            Ok(match &self.request.body {
                Some(body) => spec.body(body.clone()),
                None => spec,
            })
        };
        let specs = specs.into_iter().map(dress).collect::<Result<_, _>>().map_err(Failure::Usage)?;
        Ok((specs, replay))
    }

    /// The plan for this target. A log is replayed as long as it is.
    pub(crate) fn plan(&self, target: Target, seconds: u64) -> Result<Plan, Failure> {
        let (requests, replay) = self.requests(&target)?;
        let (pace, own_time) = match (self.pace.pace(), &replay) {
            (Pace::Closed, Some(replay)) => {
                let speed = self.pace.speed.unwrap_or(1.0);
                let last = replay.requests.last().map_or(Duration::ZERO, |request| request.at);
                (Pace::Replay { speed }, Some(last.div_f64(speed) + Duration::from_millis(1)))
            }
            (_, Some(_)) if self.pace.speed.is_some() => {
                return Err(Failure::Usage(
                    "--speed is for the times of a log, and --rate or --ramp is another pace".into(),
                ));
            }
            (pace, _) => (pace, None),
        };
        if self.pace.speed.is_some() && replay.is_none() {
            return Err(Failure::Usage("--speed is for a log (--access-log)".into()));
        }
        let time = self.time.or(own_time).unwrap_or(Duration::from_secs(seconds));
        let plan = Plan {
            target,
            http: self.reach.http,
            connections: self.connections,
            threads: self.threads,
            depth: self.depth,
            reuse: !self.close,
            pace,
            busy: self.busy,
            drain: self.drain,
            warm_up: self.warm_up,
            time,
            count: self.count,
            requests,
            pin: self.load_cores.clone(),
            timeout: self.timeout,
            largest: self.largest,
            trust: self.reach.trust(),
        };
        plan.check().map_err(Failure::Usage)?;
        Ok(plan)
    }

    /// The target of a URL, over a unix socket if one was named.
    pub(crate) fn target(&self, url: &str, socket: Option<String>) -> Result<Target, Failure> {
        let target: Target = url.parse().map_err(Failure::Usage)?;
        Ok(match socket.or_else(|| self.reach.unix.clone()) {
            Some(socket) => target.over_unix(socket),
            None => target,
        })
    }
}

/// Notes in a record how a load was made.
pub(crate) fn note(record: &mut Record, plan: &Plan) {
    let pace = match plan.pace {
        Pace::Closed => "closed loop".to_owned(),
        Pace::Open { per_second } => format!("open loop, {per_second} a second"),
        Pace::Ramp { from, to } => format!("open loop, from {from} to {to} a second"),
        Pace::Replay { speed } => format!("the times of a log, {speed} times as fast"),
    };
    record.set("pace", pace);
    record.set("http", if plan.http == Version::Http1 { "1.1" } else { "2" });
    record.set("connections", plan.connections);
    record.set("depth", plan.depth);
    record.set("keep_alive", plan.reuse);
    record.set("busy", plan.busy);
    record.set("drain", plan.drain);
    record.set("warm_up", format!("{:?}", plan.warm_up));
    record.set("time", format!("{:?}", plan.time));
    record.set("requests", plan.requests.len());
    if plan.threads > 1 {
        record.set("threads", plan.threads);
    }
    if !plan.pin.is_empty() {
        record.set("load_core", plan.pin.iter().map(usize::to_string).collect::<Vec<_>>().join(", "));
    }
}
