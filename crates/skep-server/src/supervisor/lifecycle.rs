//! The life of workers: start, readiness, replacement, exit.

use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};
use skep_observe::log::{LevelChange, Raise};

use super::swap::Swap;
use super::worker_handle::{RETIRE_TIMEOUT, SETTLE_TIMEOUT, WorkerHandle};
use super::{CHECK_INTERVAL, EXIT_TIMEOUT, Shutdown, StartingWorker, Supervisor};
use crate::channel::{self, Command};
use crate::config::{Config, Model};
use crate::executable::Executable;
use crate::listener;
use crate::procfs;
use crate::recycling::{HUNG_AFTER, jittered, while_serving};
use crate::resources::worker_count;
use crate::sys;
use crate::worker_state::{LINGER, WorkerState};

/// A worker that has handled this many requests did not crash because of how it starts.
const USEFUL_REQUESTS: u64 = 100;

/// Nor did one that has handled any request and served this many times as long as its start took: starting such workers
/// over and over uses at most this part of a core.
const START_RATIO: u32 = 10;

/// A server that was never ready gives up after this many crashes, with this exit code (`EX_SOFTWARE`).
const START_ATTEMPTS: u32 = 5;
const NEVER_READY: u8 = 70;

/// The most categories whose level was changed at run time; the oldest changes are forgotten first.
const MAX_LEVEL_CHANGES: usize = 100;

impl Supervisor {
    /// Starts the first worker, or the successor of one that crashed.
    pub(super) fn start_if_due(&mut self) {
        let due = self.start_at.is_some_and(|at| at <= Instant::now());
        if due && self.shutdown.is_none() && self.starting.is_none() {
            self.start_at = None;
            let executable = Rc::clone(&self.executable);
            if let Err((error, _)) = self.start_worker(&executable, None) {
                self.on_failed_start(None, &format!("cannot be started: {error}"), Duration::ZERO, true);
            }
        }
    }

    /// Starts a worker of this version. It takes over when it is ready. During a swap only additive migrations run,
    /// unless others are allowed: the old version still uses the database.
    pub(super) fn start_worker(
        &mut self,
        executable: &Rc<Executable>,
        swap: Option<Swap>,
    ) -> Result<(), (io::Error, Option<Swap>)> {
        self.last_number += 1;
        let allowed =
            self.config.app.allow_breaking_migration || swap.as_ref().is_some_and(|swap| swap.allow_breaking_migration);
        let slots = match self.config.mpm {
            Model::Thread => self.sockets.len(),
            // One more, for the process that runs jobs.
            Model::Prefork => self.config.max_workers.max(worker_count(&self.config)) + 1,
        };
        let additive_only = swap.is_some() && self.serving.is_some() && !allowed;
        let metrics = self.metrics.as_deref();
        match WorkerHandle::start(self.last_number, executable, &self.sockets, slots, additive_only, metrics) {
            Ok(worker) => {
                tracing::debug!("{worker} is starting");
                self.level_changes.iter().for_each(|change| worker.send(&Command::Level(change.clone())));
                self.raises.iter().for_each(|raise| worker.send(&Command::Raise(raise.clone())));
                self.starting = Some(StartingWorker { worker, swap });
                Ok(())
            }
            Err(error) => Err((error, swap)),
        }
    }

    /// Reads the messages of the workers that send any.
    pub(super) fn read_messages(&mut self) {
        let messages = self.serving.as_mut().map(WorkerHandle::read_messages).unwrap_or_default();
        for line in messages {
            if let Some((id, report)) = line.strip_prefix("status ").and_then(|rest| rest.split_once(' ')) {
                self.on_status_report(id, &channel::decode_line(report));
            }
        }
        let Some(starting) = &mut self.starting else { return };
        for line in starting.worker.read_messages() {
            if let Some(reason) = line.strip_prefix("failed ") {
                starting.worker.failed = Some(channel::decode_line(reason));
            }
            if let Some(name) = line.strip_prefix("name ") {
                starting.worker.name = Some(name.to_owned());
            }
            if line == "ready" {
                return self.activate();
            }
        }
    }

    /// The worker that was starting replaces the one that serves.
    fn activate(&mut self) {
        let Some(StartingWorker { mut worker, swap }) = self.starting.take() else { return };
        worker.ready = Some(Instant::now());
        let old = self.serving.take();
        if let Some(old) = &old {
            old.retire();
            old.await_retired(RETIRE_TIMEOUT, &self.config);
        }
        worker.send(&Command::State(WorkerState::Serving));
        tracing::debug!("{worker} serves, {} ms after its start", worker.started.elapsed().as_millis());
        self.request_quota = jittered(self.config.requests_per_worker);
        let before = std::mem::replace(&mut self.executable, Rc::clone(&worker.executable));
        self.note_version(&before, swap.is_some());
        if let Some(name) = worker.name.take() {
            self.name = name;
        }
        self.serving = Some(worker);
        self.start_at = None;
        if !std::mem::replace(&mut self.was_ready, true) {
            self.announce();
        }
        if let Some(old) = old {
            // A client that hears of a swap reaches the new version from then on.
            if swap.is_some() {
                old.await_retired(SETTLE_TIMEOUT, &self.config);
            }
            self.await_exit(old);
        }
        if let Some(swap) = swap {
            self.on_swapped(swap);
        }
        // The supervisor only waits from here on, and needs little of its code.
        sys::program_pages::release_program_pages();
    }

    /// Kills a retiring worker if it has not exited in time.
    pub(super) fn await_exit(&mut self, mut old: WorkerHandle) {
        old.deadline = Some(Instant::now() + self.config.grace + LINGER + EXIT_TIMEOUT);
        self.retiring.push(old);
    }

    /// Collects children that have exited: workers, and as process 1 orphans.
    pub(super) fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.on_exit(pid, status);
        }
    }

    fn on_exit(&mut self, pid: Pid, status: WaitStatus) {
        if self.on_status_exit(pid, status) {
            return;
        }
        if let Some(worker) = self.workers().find(|worker| worker.pid == pid) {
            worker.write_last_lines(&self.logs);
        }
        if let Some(at) = self.retiring.iter().position(|worker| worker.pid == pid) {
            let worker = self.retiring.remove(at);
            if status.exit_status() != Some(0) && worker.deadline.is_some_and(|deadline| deadline > Instant::now()) {
                tracing::warn!("{worker} crashed while it was retiring: {}", procfs::describe_exit(status));
            }
        } else if self.starting.as_ref().is_some_and(|starting| starting.worker.pid == pid) {
            // Its last message may have arrived together with its exit.
            self.read_messages();
            let Some(StartingWorker { worker, swap }) = self.starting.take() else { return self.on_exit(pid, status) };
            let reported = worker.failed.clone();
            let reason = reported
                .clone()
                .unwrap_or_else(|| format!("exited before it was ready: {}", procfs::describe_exit(status)));
            self.on_failed_start(swap, &reason, worker.started.elapsed(), reported.is_none());
        } else if let Some(worker) = self.serving.take_if(|worker| worker.pid == pid) {
            self.on_crash(&worker, status);
        }
    }

    /// The serving worker has exited.
    fn on_crash(&mut self, worker: &WorkerHandle, status: WaitStatus) {
        self.crashes += 1;
        if self.shutdown.is_some() {
            return;
        }
        let delay = self.backoff.record_exit(worker.started.elapsed(), was_useful(worker));
        tracing::error!("{worker} crashed: {}", procfs::describe_exit(status));
        self.start_after(delay);
    }

    fn start_after(&mut self, delay: Duration) {
        if self.backoff.is_crash_loop() {
            tracing::error!(
                "crash loop: {} workers exited early; restarting in {:.1} s",
                self.backoff.early_exits(),
                delay.as_secs_f32()
            );
        }
        self.start_at = Some(Instant::now() + delay);
    }

    /// `unexplained`: the worker has not reported why.
    fn on_failed_start(&mut self, swap: Option<Swap>, reason: &str, lived: Duration, unexplained: bool) {
        if self.shutdown.is_some() {
            return;
        }
        if let Some(swap) = swap {
            self.on_swap_failed(swap, reason);
            // If the serving worker has crashed meanwhile, the old version starts again.
            if self.serving.is_none() && self.start_at.is_none() {
                self.start_at = Some(Instant::now());
            }
            return;
        }
        self.crashes += 1;
        let delay = self.backoff.record_exit(lived, false);
        if !self.was_ready && (!unexplained || self.backoff.early_exits() >= START_ATTEMPTS) {
            let _ = writeln!(io::stderr(), "{reason}");
            self.shut_down(if unexplained { NEVER_READY } else { 1 });
            return;
        }
        tracing::error!("a worker did not start: {reason}");
        self.start_after(delay);
    }

    /// Enforces deadlines, and checks the workers twice a second.
    pub(super) fn check_workers(&mut self) {
        let now = Instant::now();
        self.kill_overdue(now);
        if now < self.last_check + CHECK_INTERVAL {
            return;
        }
        self.last_check = now;
        let mut healthy = self.serving.is_some();
        if let Some(serving) = &self.serving {
            self.backoff.note_uptime(serving.ready.map_or(Duration::ZERO, |ready| ready.elapsed()));
            let reason = why_replace(serving, &self.config, self.request_quota);
            if let Some(reason) = reason.filter(|_| self.starting.is_none() && self.shutdown.is_none()) {
                tracing::info!("replacing {serving}: {reason}");
                self.replaced += 1;
                healthy = self.replace().is_ok();
            }
        }
        self.check_start_timeout();
        self.watch();
        if healthy {
            self.systemd.alive();
        }
    }

    fn kill_overdue(&mut self, now: Instant) {
        for worker in self.workers() {
            if worker.deadline.is_some_and(|deadline| deadline <= now) {
                tracing::warn!("{worker} did not exit in time and is killed");
                worker.signal(Signal::KILL);
            }
        }
        let postpone = |deadline: Instant| if deadline <= now { now + EXIT_TIMEOUT } else { deadline };
        self.retiring.iter_mut().for_each(|worker| worker.deadline = worker.deadline.map(postpone));
        if let Some(shutdown) = &mut self.shutdown
            && shutdown.deadline <= now
        {
            shutdown.deadline = now + EXIT_TIMEOUT;
            self.workers().for_each(|worker| worker.signal(Signal::KILL));
        }
    }

    /// Starts a worker of the same version, which takes over.
    pub(super) fn replace(&mut self) -> io::Result<()> {
        let executable = Rc::clone(&self.executable);
        self.start_worker(&executable, None).map_err(|(error, _)| error)
    }

    fn check_start_timeout(&mut self) {
        let timeout = self.config.start_timeout;
        let Some(starting) = &mut self.starting else { return };
        if starting.worker.started.elapsed() > timeout && starting.worker.failed.is_none() {
            starting.worker.failed = Some(format!("was not ready within {timeout:?}"));
            starting.worker.signal(Signal::KILL);
        }
    }

    /// Shuts down gracefully: workers accept nothing more and finish their requests.
    pub(super) fn shut_down(&mut self, code: u8) {
        if self.shutdown.is_some() {
            return;
        }
        if self.workers().next().is_some() {
            tracing::info!("shutting down: waiting for requests in progress");
        }
        self.systemd.stopping();
        self.sockets.clear();
        self.control = None;
        self.stop_status_unless_exporting();
        self.shutdown = Some(Shutdown { code, deadline: Instant::now() + self.config.grace + EXIT_TIMEOUT });
        self.broadcast(&Command::State(WorkerState::Draining));
        if let Some(starting) = &self.starting {
            starting.worker.signal(Signal::KILL);
        }
    }

    /// Shuts down at once; workers only flush their logs.
    pub(super) fn quit(&mut self, code: u8) {
        self.sockets.clear();
        self.control = None;
        self.stop_status();
        self.shutdown = Some(Shutdown { code, deadline: Instant::now() + EXIT_TIMEOUT / 2 });
        self.broadcast(&Command::Quit);
    }

    pub(super) fn broadcast(&self, command: &Command) {
        self.workers().for_each(|worker| worker.send(command));
    }

    /// Changes the log level of a category in all processes, until the supervisor stops. Returns what has changed.
    pub(super) fn change_level(&mut self, change: LevelChange) -> String {
        change.apply();
        self.level_changes.retain(|earlier| earlier.category != change.category);
        if self.level_changes.len() >= MAX_LEVEL_CHANGES {
            self.level_changes.remove(0);
        }
        self.level_changes.push(change.clone());
        let text = change.describe();
        self.broadcast(&Command::Level(change));
        text
    }

    /// Raises the level of one user's or network's requests in all workers. Returns what has changed.
    pub(super) fn raise_level(&mut self, raise: Raise) -> String {
        raise.put_into(&mut self.raises);
        let text = raise.describe();
        self.broadcast(&Command::Raise(raise));
        text
    }

    pub(super) fn reopen_logs(&self) {
        Command::Reopen(self.log_files.clone()).execute();
        self.broadcast(&Command::Reopen(self.log_files.clone()));
    }

    /// Adds a process; with `thread`, starts a worker with one more thread, which takes over. Returns what happens now.
    pub(super) fn add_worker(&mut self) -> Result<&'static str, String> {
        if self.config.mpm == Model::Prefork {
            self.broadcast(&Command::Add);
            return Ok("adding a process");
        }
        if self.shutdown.is_some() || self.starting.is_some() || self.serving.is_none() {
            return Err("not added: another worker is starting or the server is shutting down; try again later".into());
        }
        let sockets = self.sockets.first().into_iter().flatten();
        let sockets = sockets.map(|socket| listener::another(socket, self.config.backlog)).collect::<io::Result<_>>();
        self.sockets.push(sockets.map_err(|error| format!("not added: cannot open another socket: {error}"))?);
        self.replace().map_err(|error| {
            self.sockets.pop();
            format!("not added: {error}")
        })?;
        Ok("adding a thread: a new worker takes over")
    }
}

/// True if this worker's crash says nothing about how workers start.
fn was_useful(worker: &WorkerHandle) -> bool {
    let Some(ready) = worker.ready else { return false };
    justified_its_start(ready - worker.started, ready.elapsed(), worker.requests())
}

fn justified_its_start(start: Duration, served: Duration, requests: u64) -> bool {
    requests >= USEFUL_REQUESTS || requests > 0 && served >= start * START_RATIO
}

/// Why the serving worker should be replaced. With `prefork`, its parent decides this for each process.
fn why_replace(worker: &WorkerHandle, config: &Config, request_quota: u64) -> Option<String> {
    if config.mpm == Model::Prefork {
        return None;
    }
    let hung = config.hang_timeout.and_then(|timeout| worker.hung_thread(timeout.mul_f64(HUNG_AFTER)));
    if let Some((thread, serving)) = hung {
        let stack = procfs::kernel_stack(worker.pid.as_raw_nonzero().get(), thread);
        return Some(format!("thread {thread} hangs{} ({stack})", while_serving(serving)));
    }
    if worker.requests() >= request_quota {
        return Some(format!("it has handled {} requests", worker.requests()));
    }
    if let Some(age) = config.max_age.filter(|age| worker.ready.is_some_and(|ready| ready.elapsed() > *age)) {
        return Some(format!("it is older than {age:?}"));
    }
    let memory = config.max_memory.and_then(|most| worker.memory().filter(|memory| *memory > most))?;
    Some(format!("it uses {} MiB", memory >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_served_longer_than_its_start_took_is_replaced_without_backoff() {
        let millis = Duration::from_millis;
        assert!(justified_its_start(millis(20), millis(200), 1), "starts use at most a tenth of a core");
        assert!(!justified_its_start(millis(20), millis(199), 99));
        assert!(justified_its_start(millis(20), millis(1), 100));
        assert!(!justified_its_start(millis(20), millis(10_000), 0), "it handled nothing");
    }
}
