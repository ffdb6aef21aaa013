//! The reply to `status`, as text and as JSON.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use skep_observe::clock::monotonic_millis;
use skep_observe::overview::{Overview, SlotOverview, WorkerOverview};
use skep_units::escape_unprintable;

use super::Supervisor;
use super::worker_handle::WorkerHandle;
use crate::channel::Command;
use crate::sys::scoreboard::Slot;

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
    /// Asks the worker for the status of its application; the client gets its reply when the worker responds, or after
    /// a timeout.
    pub(super) fn query_status(&mut self, client: UnixStream, json: bool) {
        // Unique also across an upgrade of the supervisor.
        let id = monotonic_millis().max(self.last_query + 1);
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
        let Some(metrics) = &self.metrics else {
            return "not counted: requests are counted if the setting status.listen is there\n".to_owned();
        };
        let slots = || self.workers().flat_map(WorkerHandle::claimed_slots);
        metrics.to_json(|process| slots().any(|slot| slot.is_busy_process(process))) + "\n"
    }

    fn reply_status(&mut self, client: UnixStream, json: bool, application: Application) {
        let text = if json { self.status_json(&application) } else { self.status_text(&application) };
        self.clients.reply(client, &if json { text.into() } else { escape_unprintable(&text) });
    }

    /// All workers, with their states.
    fn worker_states(&self) -> impl Iterator<Item = (&WorkerHandle, &'static str)> {
        let serving = self.serving.iter().map(|worker| (worker, "ready"));
        let starting = self.starting.iter().map(|starting| (&starting.worker, "starting"));
        serving.chain(starting).chain(self.retiring.iter().map(|worker| (worker, "retiring")))
    }

    fn status_text(&self, application: &Application) -> String {
        let overview = self.overview();
        let Overview { name, version, process, uptime, memory, crashes, .. } = &overview;
        let mut text = format!("{name} (version {version}), listens on {}\n", overview.urls.join(" and "));
        let _ = writeln!(text, "supervisor: process {process}, up {uptime:.1} s, {}", mib(*memory));
        if overview.crash_loop {
            let _ = writeln!(text, "CRASH LOOP: {} workers in a row exited early", self.backoff.early_exits());
        }
        let _ = writeln!(text, "crashes: {crashes}");
        let _ = match &self.last_swap {
            Some((at, Ok(outcome))) => writeln!(text, "last swap: {:.1} s ago, {outcome}", at.elapsed().as_secs_f64()),
            Some((at, Err(why))) => writeln!(text, "last swap: FAILED {:.1} s ago: {why}", at.elapsed().as_secs_f64()),
            None => Ok(()),
        };
        text.extend(overview.raised.iter().map(|raise| format!("log level raised: {raise}\n")));
        text.extend(overview.workers.iter().map(worker_text));
        text + match application {
            Application::Unavailable => "",
            Application::TimedOut => "application: no status report in time\n",
            Application::Report(report) => report,
        }
    }

    /// One object on one line.
    fn status_json(&self, application: &Application) -> String {
        let application = match application {
            Application::Unavailable => Some(Vec::new()),
            Application::TimedOut => None,
            Application::Report(list) => serde_json::from_str(list).ok(),
        };
        let overview = Overview { application, ..self.overview() };
        serde_json::to_string(&overview).unwrap_or_default() + "\n"
    }

    /// All but what the application reports.
    fn overview(&self) -> Overview {
        let process = std::process::id();
        Overview {
            name: self.name.clone(),
            version: self.executable.version(),
            previous: self.previous.clone(),
            mpm: self.config.mpm.word().to_owned(),
            process,
            uptime: seconds(self.started),
            memory: skep_observe::process::memory(process.cast_signed()).unwrap_or_default(),
            crashes: self.crashes,
            crash_loop: self.backoff.is_crash_loop(),
            swaps: self.swaps,
            replaced: self.replaced,
            swap_succeeded: self.last_swap.as_ref().map(|(_, outcome)| outcome.is_ok()),
            swap: self.last_swap.as_ref().map(|(_, outcome)| outcome.as_ref().unwrap_or_else(|text| text).clone()),
            swap_age: self.last_swap.as_ref().map(|(at, _)| seconds(*at)),
            urls: self.urls.clone(),
            status_url: self.status_process.as_ref().and_then(|status| status.url.clone()),
            workers: self.worker_states().map(|(worker, state)| worker_overview(worker, state)).collect(),
            raised: self.raises.iter().filter(|raise| !raise.is_over()).map(ToString::to_string).collect(),
            application: None,
        }
    }
}

fn worker_overview(worker: &WorkerHandle, state: &str) -> WorkerOverview {
    let process = worker.pid.as_raw_nonzero().get().cast_unsigned();
    let slots = Slot::overviews(worker.scoreboard.slots());
    let processes: BTreeSet<u32> = slots.iter().map(|slot| slot.process).chain([process]).collect();
    let millis: u64 = processes.into_iter().filter_map(skep_observe::process::processor_time).sum();
    WorkerOverview {
        number: worker.number,
        process,
        version: worker.executable.version(),
        state: state.to_owned(),
        since: seconds(worker.ready.unwrap_or(worker.started)),
        requests: worker.requests(),
        memory: worker.memory().unwrap_or_default(),
        processor: Duration::from_millis(millis).as_secs_f64(),
        slots,
    }
}

fn worker_text(worker: &WorkerOverview) -> String {
    let WorkerOverview { number, process, version, state, since, requests, .. } = worker;
    let text = format!(
        "worker {number}: process {process}, version {version}, {state} for {since:.1} s, {requests} requests, {}\n",
        mib(worker.memory)
    );
    worker.slots.iter().fold(text, |text, slot| {
        let SlotOverview { number: part, process, thread, requests, connections, .. } = slot;
        let busy = if slot.busy { ", busy" } else { "" };
        let retiring = if slot.retiring { ", retiring" } else { "" };
        text + &format!(
            "  {number}.{part}: process {process} thread {thread}, {requests} requests, {connections} connections{busy}{retiring}\n"
        )
    })
}

/// The seconds since a moment, with one digit after the point.
fn seconds(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 10.0).round() / 10.0
}

fn mib(bytes: u64) -> String {
    let kib = bytes >> 10;
    format!("{}.{} MiB", kib >> 10, ((kib & 1023) * 10) >> 10)
}
