//! The reply to `status`, as text and as JSON.

use std::fmt::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Supervisor;
use super::worker_handle::WorkerHandle;
use crate::app_status::quoted;
use crate::channel::Command;
use crate::procfs;
use crate::sys::scoreboard::{self, Slot};

/// How long the worker may take to report the status of its application. The parent of `prefork` takes less.
const REPORT_TIMEOUT: Duration = Duration::from_millis(500);

/// A client that waits for the status of the application.
#[derive(Debug)]
pub(super) struct Query {
    client: UnixStream,
    id: u64,
    json: bool,
    /// The number of the worker that was asked.
    worker: u32,
    pub(super) deadline: Instant,
}

/// The status of a server.
#[derive(Debug)]
pub(super) struct Status {
    name: String,
    process: u32,
    version: String,
    uptime: Duration,
    urls: Vec<String>,
    memory: Option<u64>,
    crashes: u64,
    crash_loop: Option<u32>,
    last_swap: Option<(Duration, Result<String, String>)>,
    workers: Vec<WorkerStatus>,
    application: Application,
}

/// What the application reports, in the form that was asked for.
#[derive(Debug)]
enum Application {
    /// No worker serves.
    Unavailable,
    /// The worker did not respond in time.
    TimedOut,
    Report(String),
}

/// A worker process: the one of `thread`, or the parent of `prefork` with its children.
#[derive(Debug)]
struct WorkerStatus {
    number: u32,
    process: i32,
    version: String,
    state: &'static str,
    since: Duration,
    memory: Option<u64>,
    requests: u64,
    slots: Vec<SlotStatus>,
}

/// A thread, or a forked process.
#[derive(Debug)]
struct SlotStatus {
    process: u32,
    thread: u32,
    requests: u64,
    connections: u32,
    busy: bool,
}

impl Supervisor {
    /// Asks the worker for the status of its application; the client gets its reply when the worker responds, or after a timeout.
    pub(super) fn query_status(&mut self, client: UnixStream, json: bool) {
        // Unique also across an upgrade of the supervisor.
        let id = scoreboard::now().max(self.last_query + 1);
        self.last_query = id;
        let Some(serving) = &self.serving else { return self.reply_status(client, json, Application::Unavailable) };
        serving.send(&Command::Status { id, json });
        let query = Query { client, id, json, worker: serving.number, deadline: Instant::now() + REPORT_TIMEOUT };
        self.status_queries.push(query);
    }

    pub(super) fn on_status_report(&mut self, id: &str, report: &str) {
        let at = self.status_queries.iter().position(|query| id.parse() == Ok(query.id));
        if let Some(at) = at {
            let Query { client, json, .. } = self.status_queries.remove(at);
            self.reply_status(client, json, Application::Report(report.to_owned()));
        }
    }

    /// Replies to clients whose worker has not responded in time, or cannot any more.
    pub(super) fn finish_status_queries(&mut self) {
        let now = Instant::now();
        let asked = self.serving.as_ref().filter(|serving| !serving.closed).map(|serving| serving.number);
        let late = |query: &mut Query| query.deadline <= now || asked != Some(query.worker);
        let late: Vec<Query> = self.status_queries.extract_if(.., late).collect();
        for query in late {
            self.reply_status(query.client, query.json, Application::TimedOut);
        }
    }

    /// Replies to all clients now.
    pub(super) fn abandon_status_queries(&mut self) {
        self.status_queries.iter_mut().for_each(|query| query.deadline = Instant::now());
        self.finish_status_queries();
    }

    fn reply_status(&mut self, client: UnixStream, json: bool, application: Application) {
        let status = self.status(application);
        let text = if json { status.json() } else { status.to_string() };
        self.clients.reply(client, &text);
    }

    fn status(&self, application: Application) -> Status {
        let starting = self.starting.iter().map(|starting| WorkerStatus::of(&starting.worker, "starting"));
        let serving = self.serving.iter().map(|worker| WorkerStatus::of(worker, "ready"));
        let retiring = self.retiring.iter().map(|worker| WorkerStatus::of(worker, "retiring"));
        Status {
            name: self.name.clone(),
            process: std::process::id(),
            version: self.executable.version(),
            uptime: self.started.elapsed(),
            urls: self.urls.clone(),
            memory: procfs::memory(std::process::id().cast_signed()),
            crashes: self.crashes,
            crash_loop: self.backoff.is_crash_loop().then(|| self.backoff.early_exits()),
            last_swap: self.last_swap.as_ref().map(|(at, outcome)| (at.elapsed(), outcome.clone())),
            workers: serving.chain(starting).chain(retiring).collect(),
            application,
        }
    }
}

impl SlotStatus {
    fn of(slot: &Slot) -> Self {
        Self {
            process: slot.process.load(Ordering::Relaxed),
            thread: slot.thread.load(Ordering::Relaxed),
            requests: slot.requests.load(Ordering::Relaxed),
            connections: slot.connections.load(Ordering::Relaxed),
            busy: slot.busy.load(Ordering::Relaxed) != 0,
        }
    }

    fn json(&self) -> String {
        format!(
            "{{\"process\":{},\"thread\":{},\"requests\":{},\"connections\":{},\"busy\":{}}}",
            self.process, self.thread, self.requests, self.connections, self.busy
        )
    }
}

impl fmt::Display for SlotStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let busy = if self.busy { ", busy" } else { "" };
        let Self { process, thread, requests, connections, .. } = self;
        writeln!(f, "  process {process} thread {thread}: {requests} requests, {connections} connections{busy}")
    }
}

impl WorkerStatus {
    fn of(worker: &WorkerHandle, state: &'static str) -> Self {
        Self {
            number: worker.number,
            process: worker.pid.as_raw_nonzero().get(),
            version: worker.executable.version(),
            state,
            since: worker.ready.unwrap_or(worker.started).elapsed(),
            memory: worker.memory(),
            requests: worker.requests(),
            slots: worker.claimed_slots().map(SlotStatus::of).collect(),
        }
    }

    fn json(&self) -> String {
        let slots: Vec<String> = self.slots.iter().map(SlotStatus::json).collect();
        format!(
            "{{\"number\":{},\"process\":{},\"version\":\"{}\",\"state\":\"{}\",\"since\":{:.1},\"requests\":{},\"memory\":{},\"slots\":[{}]}}",
            self.number,
            self.process,
            self.version,
            self.state,
            self.since.as_secs_f64(),
            self.requests,
            self.memory.unwrap_or_default(),
            slots.join(",")
        )
    }
}

impl fmt::Display for WorkerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "worker {}: process {}, version {}, {} for {}, {} requests, {}",
            self.number,
            self.process,
            self.version,
            self.state,
            seconds(self.since),
            self.requests,
            mib(self.memory)
        )?;
        self.slots.iter().try_for_each(|slot| slot.fmt(f))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} (version {}), listens on {}", self.name, self.version, self.urls.join(" and "))?;
        writeln!(f, "supervisor: process {}, up {}, {}", self.process, seconds(self.uptime), mib(self.memory))?;
        if let Some(exits) = self.crash_loop {
            writeln!(f, "CRASH LOOP: {exits} workers in a row exited early")?;
        }
        writeln!(f, "crashes: {}", self.crashes)?;
        match &self.last_swap {
            Some((ago, Ok(text))) => writeln!(f, "last swap: {} ago, {text}", seconds(*ago))?,
            Some((ago, Err(text))) => writeln!(f, "last swap: FAILED {} ago: {text}", seconds(*ago))?,
            None => {}
        }
        self.workers.iter().try_for_each(|worker| worker.fmt(f))?;
        match &self.application {
            Application::Unavailable => Ok(()),
            Application::TimedOut => writeln!(f, "application: no status report in time"),
            Application::Report(text) => f.write_str(text),
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
        let (ok, text) = match &self.last_swap {
            None => ("null".to_owned(), "null".to_owned()),
            Some((_, outcome)) => (outcome.is_ok().to_string(), quoted(outcome.as_ref().unwrap_or_else(|text| text))),
        };
        let urls: Vec<String> = self.urls.iter().map(|url| quoted(url)).collect();
        let _ = write!(
            out,
            "\"name\":{},\"version\":\"{}\",\"process\":{},\"uptime\":{:.1},\"memory\":{},\"crashes\":{},\"crash_loop\":{},\"swap_succeeded\":{ok},\"swap\":{text},\"urls\":[{}],\"workers\":[",
            quoted(&self.name),
            self.version,
            self.process,
            self.uptime.as_secs_f64(),
            self.memory.unwrap_or_default(),
            self.crashes,
            self.crash_loop.is_some(),
            urls.join(",")
        );
        let workers: Vec<String> = self.workers.iter().map(WorkerStatus::json).collect();
        let application = match &self.application {
            Application::Unavailable => "[]",
            Application::TimedOut => "null",
            Application::Report(list) => list,
        };
        out + &workers.join(",") + "],\"application\":" + application + "}\n"
    }
}
