//! The parent: it forks processes, and replaces those that exit.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use skep_observe::clock::monotonic_millis;
use skep_observe::log::Logs;

use super::{Common, child};
use crate::backoff::Backoff;
use crate::channel::{Command, Lines};
use crate::procfs;
use crate::recycling::{HUNG_AFTER, jittered, while_serving};
use crate::resources::worker_count;
use crate::sys::{self, scoreboard};
use crate::worker_state::{LINGER, WorkerState};

/// A forked process, as its parent sees it.
#[derive(Debug)]
struct ChildProcess {
    pid: Pid,
    role: Role,
    started: Instant,
    /// It was asked to exit.
    retiring: bool,
    /// When it is killed.
    deadline: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Serves, with this slot of the scoreboard.
    Serve(usize),
    /// Runs periodic jobs.
    Jobs,
    /// Reports the status of the application, and exits.
    Status,
}

pub(super) struct Parent<'h> {
    common: Common<'h>,
    logs: Logs,
    signals: OwnedFd,
    /// An eventfd: a child writes to it when it takes a request and few children are free.
    wakeup: OwnedFd,
    commands: Lines,
    state: WorkerState,
    children: Vec<ChildProcess>,
    /// The minimal number of serving children.
    wanted: usize,
    backoff: Backoff,
    start_at: Instant,
    /// The last crash that counted for the backoff.
    last_crash: Option<Instant>,
    last_check: Instant,
    last_reap: Instant,
}

/// Children that exit within this time are collected together: waking up for each costs more than collecting it.
const REAP_INTERVAL: Duration = Duration::from_millis(2);

/// How often children are checked, and how often while some are busy.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
const BUSY_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// A child counts as busy after this many milliseconds. Most requests take less.
const BUSY_AFTER: u64 = 10;

/// How long a hung child has to write its backtrace: finding the names in a debug build, on a loaded machine, takes
/// seconds.
const BACKTRACE_TIMEOUT: Duration = Duration::from_secs(5);

const SIGNALS: [i32; 3] = [libc::SIGTERM, libc::SIGQUIT, libc::SIGCHLD];

impl<'h> Parent<'h> {
    pub(super) fn new(common: Common<'h>, logs: Logs) -> io::Result<Self> {
        for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
            sys::signals::ignore(signal)?;
        }
        common.handoff.channel.set_nonblocking(true)?;
        let now = Instant::now();
        Ok(Self {
            wanted: worker_count(common.config),
            common,
            logs,
            signals: sys::signals::catch(&SIGNALS)?,
            wakeup: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            commands: Lines::default(),
            state: WorkerState::Standby,
            children: Vec::new(),
            backoff: Backoff::default(),
            start_at: now,
            last_crash: None,
            last_check: now,
            last_reap: now,
        })
    }

    pub(super) fn run(mut self) -> ExitCode {
        self.common.handoff.parent_title("ready");
        self.common.handoff.send("ready");
        loop {
            self.fork_missing();
            if self.state > WorkerState::Serving && self.children.is_empty() {
                return ExitCode::SUCCESS;
            }
            self.wait();
            for signal in sys::signals::received(&self.signals) {
                match signal {
                    libc::SIGTERM => self.stop(WorkerState::Draining),
                    libc::SIGQUIT => return self.quit(),
                    _ => {}
                }
            }
            if self.read_commands() {
                return self.quit();
            }
            self.reap();
            self.common.status_query.finish(self.common.handoff);
            self.check_children();
        }
    }

    fn wait(&self) {
        let is_busy = |child| self.slot(child).is_some_and(|slot| slot.busy.load(Ordering::Relaxed) != 0);
        let busy = self.children.iter().any(|child| is_busy(child) || child.deadline.is_some());
        let interval = if busy { BUSY_CHECK_INTERVAL } else { CHECK_INTERVAL };
        let timeout = match self.start_at.saturating_duration_since(Instant::now()) {
            Duration::ZERO => interval,
            until => until.min(interval),
        };
        let timeout = self.common.status_query.timeout().map_or(timeout, |query| query.min(timeout));
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.wakeup, PollFlags::IN)];
        if let Some(reports) = self.common.status_query.socket() {
            fds.push(PollFd::from_borrowed_fd(reports, PollFlags::IN));
        }
        if !self.commands.closed {
            fds.push(PollFd::from_borrowed_fd(self.common.handoff.channel.as_fd(), PollFlags::IN));
        }
        // EINTR: a signal has arrived.
        let _ = match REAP_INTERVAL.checked_sub(self.last_reap.elapsed()) {
            Some(rest) => {
                let timeout = Timespec::try_from(timeout.min(rest)).ok();
                sys::process::with_signal_blocked(libc::SIGCHLD, || poll(&mut fds, timeout.as_ref()))
            }
            None => Ok(poll(&mut fds, Timespec::try_from(timeout).ok().as_ref())),
        };
        let _ = rustix::io::read(&self.wakeup, &mut [0; 8]);
    }

    /// Forks as many children as are missing, and retires one that is not needed.
    fn fork_missing(&mut self) {
        if self.state != WorkerState::Serving || Instant::now() < self.start_at {
            return;
        }
        let has_jobs = !self.common.site.jobs().is_empty() || !self.common.site.background().is_empty();
        if has_jobs && !self.children.iter().any(|child| child.role == Role::Jobs) {
            self.fork(Role::Jobs);
        }
        let config = self.common.config;
        let serving = self.serving().count();
        let free = self.serving().filter(|child| !self.is_busy(child)).count();
        let (low, enough) = if self.common.config.is_process_per_request() {
            // Each request uses up a process, so several are forked before the last one is in use.
            (config.min_spare.max(config.max_spare / 2), config.max_spare.max(config.min_spare))
        } else {
            (config.min_spare, config.min_spare)
        };
        let missing = if free < low { enough - free } else { 0 };
        let missing = missing.max(self.wanted.saturating_sub(serving));
        for _ in 0..missing.min(config.max_workers.max(self.wanted).saturating_sub(serving)) {
            let slots = self.common.handoff.scoreboard.slots();
            let in_use = |slot| self.children.iter().any(|child| child.role == Role::Serve(slot));
            let Some(slot) = (0..slots.len()).find(|slot| !in_use(*slot)) else { return };
            self.fork(Role::Serve(slot));
        }
        if !self.common.config.is_process_per_request() && free > config.max_spare && serving > self.wanted {
            let serves = |child: &&mut ChildProcess| !child.retiring && matches!(child.role, Role::Serve(_));
            if let Some(child) = self.children.iter_mut().rev().find(serves) {
                retire(child, config.grace);
            }
        }
    }

    /// Children that serve and are not retiring.
    fn serving(&self) -> impl Iterator<Item = &ChildProcess> {
        self.children.iter().filter(|child| matches!(child.role, Role::Serve(_)) && !child.retiring)
    }

    fn is_busy(&self, child: &ChildProcess) -> bool {
        let after = if self.common.config.is_process_per_request() { 0 } else { BUSY_AFTER };
        let is_busy = |since: u64| since != 0 && monotonic_millis().saturating_sub(since) >= after;
        self.slot(child).is_some_and(|slot| is_busy(slot.busy.load(Ordering::Relaxed)))
    }

    fn slot(&self, child: &ChildProcess) -> Option<&scoreboard::Slot> {
        match child.role {
            Role::Serve(slot) => self.common.handoff.scoreboard.slots().get(slot),
            Role::Jobs | Role::Status => None,
        }
    }

    /// The number of a process that writes its log with a thread.
    fn number_of(&self, role: Role) -> Option<usize> {
        match role {
            Role::Serve(slot) => Some(slot).filter(|_| !self.common.config.is_process_per_request()),
            Role::Jobs => Some(self.common.handoff.spec.slots),
            Role::Status => None,
        }
    }

    fn fork(&mut self, role: Role) -> Option<&mut ChildProcess> {
        // Drawn before the fork: all children would draw the same number.
        let quota = jittered(self.common.config.requests_per_worker);
        let parent = std::process::id();
        let (common, logs, wakeup) = (&mut self.common, &self.logs, &self.wakeup);
        let forked = sys::process::fork(|| match role {
            Role::Serve(slot) => child::serve(common, logs, parent, slot, quota, wakeup),
            Role::Jobs => child::run_jobs(common, logs, parent),
            Role::Status => child::report_status(common, logs, parent),
        });
        match forked {
            Ok(pid) => {
                let started = Instant::now();
                self.children.push(ChildProcess { pid, role, started, retiring: false, deadline: None });
                self.children.last_mut()
            }
            Err(error) => {
                tracing::error!(%error, "cannot fork");
                self.start_at = Instant::now() + self.backoff.record_exit(Duration::ZERO, false);
                None
            }
        }
    }

    /// Executes the commands of the supervisor. True if it wants the parent to exit at once.
    fn read_commands(&mut self) -> bool {
        self.commands.read(&self.common.handoff.channel);
        if self.commands.closed {
            // The supervisor is gone.
            self.stop(WorkerState::Draining);
        }
        while let Some(line) = self.commands.next() {
            match Command::parse(&line) {
                Some(Command::State(WorkerState::Serving)) => self.state = WorkerState::Serving,
                Some(Command::State(state)) => self.stop(state),
                Some(Command::Quit) => return true,
                Some(Command::Add) => self.wanted += 1,
                Some(Command::Drain { process }) => self.drain(process),
                None => {}
                Some(Command::Status { id, json }) => self.query_status(id, json),
                Some(command) => {
                    command.execute();
                    // Children that are forked from now on inherit it from here.
                    let grace = self.common.config.grace;
                    let stale = self.children.iter_mut().filter(|child| !child.retiring);
                    stale.for_each(|child| retire(child, grace));
                }
            }
        }
        false
    }

    /// Retires one child; another one is forked for it.
    fn drain(&mut self, process: u32) {
        let (grace, number) = (self.common.config.grace, self.common.handoff.spec.number);
        let is_it = |child: &&mut ChildProcess| matches!(child.role, Role::Serve(slot) if slot + 1 == process as usize);
        if let Some(child) = self.children.iter_mut().filter(|child| !child.retiring).find(is_it) {
            tracing::info!("process {} (worker {number}.{process}) is drained on request", child.pid);
            retire(child, grace);
        }
    }

    /// Requests reports from the children that know the status of the application.
    fn query_status(&mut self, id: u64, json: bool) {
        let single = self.common.config.is_process_per_request();
        let knows = |child: &&ChildProcess| {
            !child.retiring && (child.role == Role::Jobs || !single && matches!(child.role, Role::Serve(_)))
        };
        let mut asked: Vec<Pid> = self.children.iter().filter(knows).map(|child| child.pid).collect();
        // Those that come too late for their query must not answer this one.
        self.common.status_query.receive();
        for pid in &asked {
            let _ = kill_process(*pid, Signal::USR2);
        }
        if single
            && self.state == WorkerState::Serving
            && let Some(child) = self.fork(Role::Status)
        {
            (child.retiring, child.deadline) = (true, Some(child.started + BACKTRACE_TIMEOUT));
            asked.push(child.pid);
        }
        self.common.status_query.start(id, json, asked);
    }

    fn stop(&mut self, state: WorkerState) {
        if self.state >= state {
            return;
        }
        self.state = state;
        // New clients are refused once the last listener is closed, and do not wait in vain.
        self.common.listeners.clear();
        let deadline = Instant::now() + self.common.config.grace + LINGER + BACKTRACE_TIMEOUT;
        for child in &mut self.children {
            child.retiring = true;
            child.deadline = Some(deadline);
            let _ = kill_process(child.pid, signal_for(state));
        }
    }

    fn quit(&self) -> ExitCode {
        for child in &self.children {
            let _ = kill_process(child.pid, Signal::KILL);
        }
        ExitCode::from(131)
    }

    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.last_reap = Instant::now();
            self.common.status_query.on_exit(pid);
            if let Some(at) = self.children.iter().position(|child| child.pid == pid) {
                let child = self.children.remove(at);
                self.on_exit(&child, status);
            }
        }
    }

    fn on_exit(&mut self, child: &ChildProcess, status: WaitStatus) {
        if let Some(process) = self.number_of(child.role) {
            let pid = child.pid.as_raw_nonzero().get().cast_unsigned();
            self.logs.write_last_lines(&self.common.last_lines.areas(process), |owner| owner == pid);
        }
        let requests = self.slot(child).map_or(0, |slot| slot.requests.load(Ordering::Relaxed));
        if let Some(slot) = self.slot(child) {
            slot.release();
        }
        if status.exit_status() == Some(0) {
            if requests > 0 {
                self.backoff = Backoff::default();
            }
            self.backoff.note_uptime(child.started.elapsed());
            return;
        }
        let (pid, number) = (child.pid, self.common.handoff.spec.number);
        tracing::error!("process {pid} of worker {number} crashed: {}", procfs::describe_exit(status));
        if child.retiring {
            return;
        }
        // Children that already ran when another one crashed say nothing new about how children start.
        if self.last_crash.is_some_and(|crash| child.started <= crash) && requests == 0 {
            return;
        }
        self.last_crash = Some(Instant::now());
        // A child that crashed because of a request is replaced at once, however often.
        let delay = self.backoff.record_exit(child.started.elapsed(), requests > 0);
        if self.backoff.is_crash_loop() {
            let exits = self.backoff.early_exits();
            tracing::error!("crash loop: {exits} processes exited early; restarting in {:.1} s", delay.as_secs_f32());
        }
        self.start_at = Instant::now() + delay;
    }

    /// Enforces deadlines, and checks the children twice a second.
    fn check_children(&mut self) {
        let now = Instant::now();
        for child in &self.children {
            if child.deadline.is_some_and(|deadline| deadline <= now) {
                let _ = kill_process(child.pid, Signal::KILL);
            }
        }
        if now < self.last_check + CHECK_INTERVAL {
            return;
        }
        self.last_check = now;
        // All are asked before the first answer is waited for, and have the same time.
        let hung: Vec<Option<usize>> = self.children.iter().map(|child| self.ask_if_hung(child)).collect();
        let until = Instant::now() + scoreboard::ANSWER;
        let reasons = self.children.iter().zip(hung).map(|(child, hung)| match hung {
            Some(slot) => Some((hangs(child, self.common.handoff.scoreboard.answer(slot, until)), true)),
            None => self.why_replace(child).map(|reason| (reason, false)),
        });
        let reasons: Vec<_> = reasons.collect();
        let (number, grace) = (self.common.handoff.spec.number, self.common.config.grace);
        for (child, reason) in self.children.iter_mut().zip(reasons) {
            let Some((reason, hangs)) = reason else { continue };
            tracing::info!("replacing process {} of worker {number}: {reason}", child.pid);
            retire(child, grace);
            if hangs {
                child.deadline = Some(now + BACKTRACE_TIMEOUT);
            }
        }
    }

    /// Asks a child whose heartbeat is too old for its backtrace, and in its slot what it serves.
    fn ask_if_hung(&self, child: &ChildProcess) -> Option<usize> {
        let (Role::Serve(index), slot) = (child.role, self.slot(child)?) else { return None };
        let timeout = self.common.config.hang_timeout?.mul_f64(HUNG_AFTER);
        let silence = monotonic_millis().saturating_sub(slot.heartbeat.load(Ordering::Relaxed));
        if child.retiring || !slot.is_claimed() || u128::from(silence) <= timeout.as_millis() {
            return None;
        }
        let pid = child.pid.as_raw_nonzero().get();
        self.common.handoff.scoreboard.begin_to_ask(index, || procfs::request_backtrace(pid, pid.cast_unsigned()));
        Some(index)
    }

    /// Why this child should be replaced although it does not hang.
    fn why_replace(&self, child: &ChildProcess) -> Option<String> {
        if child.retiring || self.slot(child).is_none() {
            return None;
        }
        let config = self.common.config;
        if let Some(age) = config.max_age.filter(|age| child.started.elapsed() > *age) {
            return Some(format!("it is older than {age:?}"));
        }
        let pid = child.pid.as_raw_nonzero().get();
        let memory =
            config.max_memory.and_then(|most| skep_observe::process::memory(pid).filter(|memory| *memory > most))?;
        Some(format!("it uses {} MiB", memory >> 20))
    }
}

/// Why a child is replaced that hangs, with what it said that it serves.
fn hangs(child: &ChildProcess, serving: Option<String>) -> String {
    let pid = child.pid.as_raw_nonzero().get();
    format!("it hangs{} ({})", while_serving(serving), procfs::kernel_stack(pid, pid.cast_unsigned()))
}

/// Asks a child to accept nothing more, and to finish its requests.
fn retire(child: &mut ChildProcess, grace: Duration) {
    child.retiring = true;
    child.deadline = Some(Instant::now() + grace + LINGER + BACKTRACE_TIMEOUT);
    let _ = kill_process(child.pid, signal_for(WorkerState::Retiring));
}

/// The signal that puts a child into a state.
fn signal_for(state: WorkerState) -> Signal {
    if state == WorkerState::Draining { Signal::TERM } else { Signal::USR1 }
}
