//! What the words that load a server have in common: requests, connections, pace, and where the result goes.

mod flags;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::Failure;
use super::output::Output;
use crate::load::{Bound, Pace, Plan, Replay, RequestSpec, Target, Trust, Version, read_access_log, read_urls};
use crate::record::Record;
pub(crate) use flags::{flags, reach};

/// How a load is made, before there is a target.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) connections: usize,
    pub(crate) threads: usize,
    pub(crate) depth: usize,
    pub(crate) http: Version,
    pub(crate) reuse: bool,
    pub(crate) time: Option<Duration>,
    pub(crate) warm_up: Duration,
    pub(crate) count: Option<u64>,
    pub(crate) pace: Pace,
    pub(crate) busy: bool,
    pub(crate) drain: bool,
    pub(crate) speed: Option<f64>,
    pub(crate) find: Option<Bound>,
    pub(crate) timeout: Duration,
    pub(crate) largest: u64,
    pub(crate) trust: Trust,
    pub(crate) method: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) urls: Option<PathBuf>,
    pub(crate) access_log: Option<PathBuf>,
    pub(crate) unix: Option<String>,
    pub(crate) load_cores: Vec<usize>,
    pub(crate) output: Output,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connections: 32,
            threads: 1,
            depth: 1,
            http: Version::Http1,
            reuse: true,
            time: None,
            warm_up: Duration::from_secs(1),
            count: None,
            pace: Pace::Closed,
            busy: false,
            drain: false,
            speed: None,
            find: None,
            timeout: Duration::from_secs(10),
            largest: 1 << 30,
            trust: Trust::System,
            method: None,
            headers: Vec::new(),
            body: Vec::new(),
            urls: None,
            access_log: None,
            unix: None,
            load_cores: Vec::new(),
            output: Output::default(),
        }
    }
}

/// Whoever has these settings among others.
pub(crate) trait HasSettings {
    fn settings(&mut self) -> &mut Settings;
}

impl Settings {
    /// The requests of this load, and what of an access log could not be sent.
    pub(crate) fn requests(&self, target: &Target) -> Result<(Vec<RequestSpec>, Option<Replay>), Failure> {
        let usage = |flag: &str, text: String| Failure::Usage(format!("{flag}: {text}"));
        let read = |path: &PathBuf| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        let (specs, replay) = match (&self.urls, &self.access_log) {
            (Some(_), Some(_)) => {
                return Err(Failure::Usage(
                    "--urls and --access-log both say what is asked for; one of them can".into(),
                ));
            }
            (Some(path), None) => {
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
            if let Some(method) = &self.method {
                spec = spec.method(method)?;
            }
            for (name, value) in &self.headers {
                spec = spec.header(name, value)?;
            }
            Ok(if self.body.is_empty() { spec } else { spec.body(self.body.clone()) })
        };
        let specs = specs.into_iter().map(dress).collect::<Result<_, _>>().map_err(Failure::Usage)?;
        Ok((specs, replay))
    }

    /// The plan for this target. A log is replayed as long as it is.
    pub(crate) fn plan(&self, target: Target, seconds: u64) -> Result<Plan, Failure> {
        let (requests, replay) = self.requests(&target)?;
        let (pace, own_time) = match (self.pace, &replay) {
            (Pace::Closed, Some(replay)) => {
                let speed = self.speed.unwrap_or(1.0);
                let last = replay.requests.last().map_or(Duration::ZERO, |request| request.at);
                (Pace::Replay { speed }, Some(last.div_f64(speed) + Duration::from_millis(1)))
            }
            (_, Some(_)) if self.speed.is_some() => {
                return Err(Failure::Usage(
                    "--speed is for the times of a log, and --rate or --ramp is another pace".into(),
                ));
            }
            (pace, _) => (pace, None),
        };
        if self.speed.is_some() && replay.is_none() {
            return Err(Failure::Usage("--speed is for a log (--access-log)".into()));
        }
        let time = self.time.or(own_time).unwrap_or(Duration::from_secs(seconds));
        let plan = Plan {
            target,
            http: self.http,
            connections: self.connections,
            threads: self.threads,
            depth: self.depth,
            reuse: self.reuse,
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
            trust: self.trust.clone(),
        };
        plan.check().map_err(Failure::Usage)?;
        Ok(plan)
    }

    /// The target of a URL, over a unix socket if one was named.
    pub(crate) fn target(&self, url: &str, socket: Option<String>) -> Result<Target, Failure> {
        let target: Target = url.parse().map_err(Failure::Usage)?;
        Ok(match socket.or_else(|| self.unix.clone()) {
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
