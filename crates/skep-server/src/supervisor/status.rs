//! The reply to `status`, as text and as JSON.

use std::fmt::Write;
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

/// What the application reports, in the form that was asked for.
#[derive(Debug)]
enum Application {
    /// No worker serves.
    Unavailable,
    /// The worker did not respond in time.
    TimedOut,
    Report(String),
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
        let asked = self.serving.as_ref().filter(|serving| !serving.messages.closed).map(|serving| serving.number);
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

    /// Replies what workers have counted, as JSON.
    pub(super) fn metrics_json(&self) -> String {
        match &self.metrics {
            Some(metrics) => metrics.figures().to_json() + "\n",
            None => "not counted: requests are counted if the setting status.listen is there\n".to_owned(),
        }
    }

    fn reply_status(&mut self, client: UnixStream, json: bool, application: Application) {
        let text = if json { self.status_json(&application) } else { self.status_text(&application) };
        self.clients.reply(client, &text);
    }

    /// All workers, with their states.
    fn worker_states(&self) -> impl Iterator<Item = (&WorkerHandle, &'static str)> {
        let serving = self.serving.iter().map(|worker| (worker, "ready"));
        let starting = self.starting.iter().map(|starting| (&starting.worker, "starting"));
        serving.chain(starting).chain(self.retiring.iter().map(|worker| (worker, "retiring")))
    }

    fn status_text(&self, application: &Application) -> String {
        let (version, urls, process) = (self.executable.version(), self.urls.join(" and "), std::process::id());
        let (uptime, memory) = (seconds(self.started.elapsed()), mib(procfs::memory(process.cast_signed())));
        let mut text = format!("{} (version {version}), listens on {urls}\n", self.name);
        let _ = writeln!(text, "supervisor: process {process}, up {uptime}, {memory}");
        if self.backoff.is_crash_loop() {
            let _ = writeln!(text, "CRASH LOOP: {} workers in a row exited early", self.backoff.early_exits());
        }
        let _ = writeln!(text, "crashes: {}", self.crashes);
        let _ = match &self.last_swap {
            Some((at, Ok(outcome))) => writeln!(text, "last swap: {} ago, {outcome}", seconds(at.elapsed())),
            Some((at, Err(why))) => writeln!(text, "last swap: FAILED {} ago: {why}", seconds(at.elapsed())),
            None => Ok(()),
        };
        text.extend(self.worker_states().map(|(worker, state)| worker_text(worker, state)));
        text + match application {
            Application::Unavailable => "",
            Application::TimedOut => "application: no status report in time\n",
            Application::Report(report) => report,
        }
    }

    /// One object on one line. Times are in seconds, sizes in bytes.
    fn status_json(&self, application: &Application) -> String {
        let (ok, swap) = match &self.last_swap {
            None => ("null".to_owned(), "null".to_owned()),
            Some((_, outcome)) => (outcome.is_ok().to_string(), quoted(outcome.as_ref().unwrap_or_else(|text| text))),
        };
        let (name, version, process) = (quoted(&self.name), self.executable.version(), std::process::id());
        let memory = procfs::memory(process.cast_signed()).unwrap_or_default();
        let uptime = self.started.elapsed().as_secs_f64();
        let (crashes, crash_loop) = (self.crashes, self.backoff.is_crash_loop());
        let swap_age = self
            .last_swap
            .as_ref()
            .map_or_else(|| "null".to_owned(), |(at, _)| format!("{:.1}", at.elapsed().as_secs_f64()));
        let (swaps, replaced, mpm) = (self.swaps, self.replaced, self.config.mpm.name());
        let previous = self.previous.as_ref().map_or_else(|| "null".to_owned(), |version| quoted(version));
        let status_url = self.status_process.as_ref().map_or_else(|| "null".to_owned(), |status| quoted(&status.url));
        let urls = join(self.urls.iter().map(|url| quoted(url)));
        let workers = join(self.worker_states().map(|(worker, state)| worker_json(worker, state)));
        let application = match application {
            Application::Unavailable => "[]",
            Application::TimedOut => "null",
            Application::Report(list) => list,
        };
        format!(
            "{{\"name\":{name},\"version\":\"{version}\",\"process\":{process},\"uptime\":{uptime:.1},\"memory\":{memory},\
             \"crashes\":{crashes},\"crash_loop\":{crash_loop},\"swap_succeeded\":{ok},\"swap\":{swap},\"urls\":[{urls}],\
             \"swap_age\":{swap_age},\"swaps\":{swaps},\"replaced\":{replaced},\"previous\":{previous},\"mpm\":\"{mpm}\",\"status_url\":{status_url},\
             \"workers\":[{workers}],\"application\":{application}}}\n"
        )
    }
}

fn worker_text(worker: &WorkerHandle, state: &str) -> String {
    let (number, process, version) = (worker.number, worker.pid, worker.executable.version());
    let since = seconds(worker.ready.unwrap_or(worker.started).elapsed());
    let (requests, memory) = (worker.requests(), mib(worker.memory()));
    let text = format!(
        "worker {number}: process {process}, version {version}, {state} for {since}, {requests} requests, {memory}\n"
    );
    worker.claimed_slots().fold(text, |text, slot| {
        let Numbers { process, thread, requests, connections, busy, .. } = Numbers::of(slot);
        let busy = if busy { ", busy" } else { "" };
        text + &format!("  process {process} thread {thread}: {requests} requests, {connections} connections{busy}\n")
    })
}

fn worker_json(worker: &WorkerHandle, state: &str) -> String {
    let (number, process, version) = (worker.number, worker.pid, worker.executable.version());
    let since = worker.ready.unwrap_or(worker.started).elapsed().as_secs_f64();
    let (requests, memory) = (worker.requests(), worker.memory().unwrap_or_default());
    let slots = join(worker.claimed_slots().map(|slot| {
        let Numbers { process, thread, requests, connections, busy, running, silent } = Numbers::of(slot);
        format!(
            "{{\"process\":{process},\"thread\":{thread},\"requests\":{requests},\"connections\":{connections},\"busy\":{busy},\
             \"running\":{running},\"silent\":{silent:.1}}}"
        )
    }));
    format!(
        "{{\"number\":{number},\"process\":{process},\"version\":\"{version}\",\"state\":\"{state}\",\"since\":{since:.1},\
         \"requests\":{requests},\"memory\":{memory},\"slots\":[{slots}]}}"
    )
}

/// What a slot says.
struct Numbers {
    process: u32,
    thread: u32,
    requests: u64,
    connections: u32,
    busy: bool,
    /// Requests in flight; 0 if they are not counted.
    running: u32,
    /// Seconds since the last heartbeat of its event loop.
    silent: f64,
}

impl Numbers {
    fn of(slot: &Slot) -> Self {
        Self {
            process: slot.process.load(Ordering::Relaxed),
            thread: slot.thread.load(Ordering::Relaxed),
            requests: slot.requests.load(Ordering::Relaxed),
            connections: slot.connections.load(Ordering::Relaxed),
            busy: slot.busy.load(Ordering::Relaxed) != 0,
            running: slot.running.load(Ordering::Relaxed),
            silent: slot.silent().as_secs_f64(),
        }
    }
}

fn join(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",")
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn mib(bytes: Option<u64>) -> String {
    let kib = bytes.unwrap_or_default() >> 10;
    format!("{}.{} MiB", kib >> 10, ((kib & 1023) * 10) >> 10)
}
