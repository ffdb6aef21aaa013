//! How a server is, as text and as JSON.

use std::fmt::{self, Write};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Supervisor;
use super::child::{Child, memory};
use crate::server::quoted;

/// How a server is.
#[derive(Debug)]
pub(super) struct Status {
    name: String,
    process: u32,
    version: String,
    up: Duration,
    urls: Vec<String>,
    memory: Option<u64>,
    deaths: u64,
    crash_loop: Option<u32>,
    last_swap: Option<(Duration, Result<String, String>)>,
    workers: Vec<Worker>,
    application: Application,
}

/// What the application says of itself, in the form that was asked for.
#[derive(Debug)]
enum Application {
    /// Nobody was asked.
    Unasked,
    /// Who was asked did not answer.
    Silent,
    Said(String),
}

/// A worker process: the one of `thread`, or the parent of `prefork` and those that were forked from it.
#[derive(Debug)]
struct Worker {
    number: u32,
    process: i32,
    version: String,
    state: &'static str,
    since: Duration,
    memory: Option<u64>,
    requests: u64,
    places: Vec<Place>,
}

/// A thread, or a process that was forked.
#[derive(Debug)]
struct Place {
    process: u32,
    thread: u32,
    requests: u64,
    connections: u32,
    busy: bool,
}

impl Supervisor {
    /// `json`: the form in which the application is asked.
    pub(super) fn status(&mut self, json: bool) -> Status {
        let application = match &mut self.serving {
            Some(serving) => serving.report(json).map_or(Application::Silent, Application::Said),
            None => Application::Unasked,
        };
        let coming = self.coming.iter().map(|coming| worker(&coming.child, "starting"));
        let serving = self.serving.iter().map(|child| worker(child, "ready"));
        let going = self.going.iter().map(|child| worker(child, "leaving"));
        Status {
            name: self.name.clone(),
            process: std::process::id(),
            version: self.executable.version(),
            up: self.since.elapsed(),
            urls: self.urls.clone(),
            memory: memory(std::process::id().cast_signed()),
            deaths: self.deaths,
            crash_loop: self.backoff.is_crash_loop().then(|| self.backoff.deaths()),
            last_swap: self.last_swap.as_ref().map(|(at, outcome)| (at.elapsed(), outcome.clone())),
            workers: serving.chain(coming).chain(going).collect(),
            application,
        }
    }
}

fn worker(child: &Child, state: &'static str) -> Worker {
    let place = |slot: &crate::sys::board::Slot| Place {
        process: slot.process.load(Ordering::Relaxed),
        thread: slot.thread.load(Ordering::Relaxed),
        requests: slot.requests.load(Ordering::Relaxed),
        connections: slot.connections.load(Ordering::Relaxed),
        busy: slot.busy.load(Ordering::Relaxed) != 0,
    };
    Worker {
        number: child.number,
        process: child.pid.as_raw_nonzero().get(),
        version: child.executable.version(),
        state,
        since: child.ready.unwrap_or(child.started).elapsed(),
        memory: child.memory(),
        requests: child.requests(),
        places: child.taken().map(place).collect(),
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} (version {}), listens on {}", self.name, self.version, self.urls.join(" and "))?;
        writeln!(f, "supervisor: process {}, up {}, {}", self.process, seconds(self.up), mib(self.memory))?;
        if let Some(deaths) = self.crash_loop {
            writeln!(f, "CRASH LOOP: {deaths} workers died young, one after the other")?;
        }
        writeln!(f, "deaths: {}", self.deaths)?;
        match &self.last_swap {
            Some((ago, Ok(text))) => writeln!(f, "last swap: {} ago, {text}", seconds(*ago))?,
            Some((ago, Err(text))) => writeln!(f, "last swap: FAILED {} ago: {text}", seconds(*ago))?,
            None => {}
        }
        for worker in &self.workers {
            writeln!(
                f,
                "worker {}: process {}, version {}, {} for {}, {} requests, {}",
                worker.number,
                worker.process,
                worker.version,
                worker.state,
                seconds(worker.since),
                worker.requests,
                mib(worker.memory)
            )?;
            for place in &worker.places {
                let busy = if place.busy { ", busy" } else { "" };
                writeln!(
                    f,
                    "  process {} thread {}: {} requests, {} connections{busy}",
                    place.process, place.thread, place.requests, place.connections
                )?;
            }
        }
        match &self.application {
            Application::Unasked => Ok(()),
            Application::Silent => writeln!(f, "the application did not say in time how it is"),
            Application::Said(text) => f.write_str(text),
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn mib(bytes: Option<u64>) -> String {
    let kib = bytes.unwrap_or_default() >> 10;
    format!("{}.{} MiB", kib >> 10, ((kib & 1023) * 10) >> 10)
}

impl Status {
    /// One object on one line. Times are in seconds, sizes in bytes.
    pub(super) fn json(&self) -> String {
        let mut out = String::from("{");
        let (ok, why) = match &self.last_swap {
            None => ("null".to_owned(), "null".to_owned()),
            Some((_, outcome)) => (outcome.is_ok().to_string(), quoted(outcome.as_ref().unwrap_or_else(|text| text))),
        };
        let urls: Vec<String> = self.urls.iter().map(|url| quoted(url)).collect();
        let _ = write!(
            out,
            "\"name\":{},\"version\":\"{}\",\"process\":{},\"up\":{:.1},\"memory\":{},\"deaths\":{},\"crash_loop\":{},\"swap_succeeded\":{ok},\"swap\":{why},\"urls\":[{}],\"workers\":[",
            quoted(&self.name),
            self.version,
            self.process,
            self.up.as_secs_f64(),
            self.memory.unwrap_or_default(),
            self.deaths,
            self.crash_loop.is_some(),
            urls.join(",")
        );
        let workers: Vec<String> = self.workers.iter().map(Worker::json).collect();
        let application = match &self.application {
            Application::Unasked => "[]",
            Application::Silent => "null",
            Application::Said(list) => list,
        };
        out + &workers.join(",") + "],\"application\":" + application + "}\n"
    }
}

impl Worker {
    fn json(&self) -> String {
        let places = self.places.iter().map(|place| {
            format!(
                "{{\"process\":{},\"thread\":{},\"requests\":{},\"connections\":{},\"busy\":{}}}",
                place.process, place.thread, place.requests, place.connections, place.busy
            )
        });
        format!(
            "{{\"number\":{},\"process\":{},\"version\":\"{}\",\"state\":\"{}\",\"since\":{:.1},\"requests\":{},\"memory\":{},\"places\":[{}]}}",
            self.number,
            self.process,
            self.version,
            self.state,
            self.since.as_secs_f64(),
            self.requests,
            self.memory.unwrap_or_default(),
            places.collect::<Vec<_>>().join(",")
        )
    }
}
