//! A worker, as its supervisor sees it.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use skep_observe::clock::monotonic_millis;
use skep_observe::log::{LastLines, Logs};
use skep_observe::metrics::Metrics;

use crate::channel::{Command, Lines};
use crate::config::Config;
use crate::executable::Executable;
use crate::handoff::{HandoffSpec, StatusHandoff, TITLE_LENGTH, VARIABLE, set_inheritable, title};
use crate::procfs;
use crate::sys::scoreboard::{Scoreboard, Slot};
use crate::worker_state::WorkerState;

/// How long a successor waits for this worker to stop accepting, so that no client waits long. One of its threads may
/// be busy.
pub(super) const RETIRE_TIMEOUT: Duration = Duration::from_millis(100);

/// How long a swap is not reported after that, because this worker still accepts: on a busy machine it may not have
/// been told yet.
pub(super) const SETTLE_TIMEOUT: Duration = Duration::from_secs(1);

/// A worker process.
#[derive(Debug)]
pub(crate) struct WorkerHandle {
    pub(crate) number: u32,
    pub(crate) pid: Pid,
    pub(crate) executable: Rc<Executable>,
    pub(crate) channel: OwnedFd,
    pub(crate) scoreboard: Scoreboard,
    /// What it has logged and not written yet. None if it was started by a version that did not look after that.
    pub(crate) last_lines: Option<OwnedFd>,
    pub(crate) started: Instant,
    pub(crate) ready: Option<Instant>,
    /// When it is killed.
    pub(crate) deadline: Option<Instant>,
    /// Why it could not start.
    pub(crate) failed: Option<String>,
    /// The name of its application.
    pub(crate) name: Option<String>,
    pub(crate) messages: Lines,
}

impl WorkerHandle {
    /// Executes the file with the arguments that this process was started with. `sockets`: for each thread its
    /// listening sockets.
    pub(crate) fn start(
        number: u32,
        executable: &Rc<Executable>,
        sockets: &[Vec<OwnedFd>],
        slots: usize,
        additive_migrations_only: bool,
        metrics: Option<&Metrics>,
    ) -> io::Result<Self> {
        let (scoreboard, last_lines) = (Scoreboard::new(slots)?, LastLines::file()?);
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let theirs = OwnedFd::from(theirs);
        // This process has one thread, so nothing else is executed while these are inheritable.
        let spec = HandoffSpec {
            supervisor: std::process::id(),
            number,
            channel: set_inheritable(&theirs, true)?,
            scoreboard: set_inheritable(scoreboard.file(), true)?,
            slots,
            additive_migrations_only,
            build: executable.build(),
            metrics: metrics.map(|metrics| set_inheritable(metrics.file(), true)).transpose()?,
            last_lines: set_inheritable(&last_lines, true)?,
            listeners: set_all_inheritable(sockets, true)?,
        };
        let name = title(number, "starting");
        let mut command = executable.command();
        command.arg0(format!("{name:<TITLE_LENGTH$}")).args(std::env::args_os().skip(1));
        command.env(VARIABLE, spec.to_string()).env_remove(StatusHandoff::VARIABLE);
        for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
        {
            command.env_remove(variable);
        }
        let spawned = command.spawn();
        set_inheritable(scoreboard.file(), false)?;
        set_inheritable(&last_lines, false)?;
        metrics.map(|metrics| set_inheritable(metrics.file(), false)).transpose()?;
        set_all_inheritable(sockets, false)?;
        let pid = Pid::from_child(&spawned?);
        Ok(Self::new(number, pid, executable, ours.into(), (scoreboard, Some(last_lines))))
    }

    /// A worker that runs.
    pub(crate) fn new(
        number: u32,
        pid: Pid,
        executable: &Rc<Executable>,
        channel: OwnedFd,
        (scoreboard, last_lines): (Scoreboard, Option<OwnedFd>),
    ) -> Self {
        Self {
            number,
            pid,
            executable: Rc::clone(executable),
            channel,
            scoreboard,
            last_lines,
            started: Instant::now(),
            ready: None,
            deadline: None,
            failed: None,
            name: None,
            messages: Lines::default(),
        }
    }

    /// Sends a command. If the worker cannot receive it, it is exiting, which shows elsewhere.
    pub(crate) fn send(&self, command: &Command) {
        let _ = rustix::io::write(&self.channel, format!("{command}\n").as_bytes());
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process(self.pid, signal);
    }

    /// Complete lines that have arrived from the worker.
    pub(crate) fn read_messages(&mut self) -> Vec<String> {
        self.messages.read(&self.channel);
        self.messages.by_ref().collect()
    }

    /// Has what it left behind written; it has exited. Processes that it forked may still run, and write for
    /// themselves.
    pub(crate) fn write_last_lines(&self, logs: &Logs) {
        let open = |file: &OwnedFd| LastLines::open(file.try_clone()?);
        let Ok(Some(lines)) = self.last_lines.as_ref().map_or(Ok(None), open) else { return };
        let own = self.pid.as_raw_nonzero().get().cast_unsigned();
        logs.write_last_lines(&lines.all(), |process| process == own || !procfs::is_running(process));
    }

    /// The slots of its threads, or with `prefork` of its processes.
    pub(crate) fn claimed_slots(&self) -> impl Iterator<Item = &Slot> {
        self.scoreboard.slots().iter().filter(|slot| slot.is_claimed())
    }

    /// The number of requests, those of forked processes that have exited included.
    pub(crate) fn requests(&self) -> u64 {
        self.scoreboard.slots().iter().map(Slot::total_requests).sum()
    }

    /// Proportional set size in bytes.
    pub(crate) fn memory(&self) -> Option<u64> {
        skep_observe::process::memory(self.pid.as_raw_nonzero().get())
    }

    /// The first thread whose heartbeat is older than `timeout`. It is asked for its backtrace, and what it serves, if
    /// it can say so.
    pub(crate) fn hung_thread(&self, timeout: Duration) -> Option<(u32, Option<String>)> {
        let timeout = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let is_hung = |slot: &Slot| monotonic_millis().saturating_sub(slot.heartbeat.load(Ordering::Relaxed)) > timeout;
        let mut slots = self.scoreboard.slots().iter().enumerate();
        let (index, slot) = slots.find(|(_, slot)| slot.is_claimed() && is_hung(slot))?;
        let thread = slot.thread.load(Ordering::Relaxed);
        let process = self.pid.as_raw_nonzero().get();
        Some((thread, self.scoreboard.ask(index, || procfs::request_backtrace(process, thread))))
    }

    /// Tells the worker to stop accepting.
    pub(super) fn retire(&self) {
        self.send(&Command::State(WorkerState::Retiring));
    }

    /// Waits until the worker accepts nothing more, so that one version at a time accepts, but not longer than this.
    pub(super) fn await_retired(&self, timeout: Duration, config: &Config) {
        let deadline = Instant::now() + timeout;
        // A process with its only request does not accept another one, however long that takes.
        let is_last = |slot: &Slot| config.is_process_per_request() && slot.busy.load(Ordering::Relaxed) != 0;
        let accepts = |slot: &Slot| slot.retiring.load(Ordering::Acquire) == 0 && !is_last(slot);
        while Instant::now() < deadline && self.claimed_slots().any(accepts) {
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

impl fmt::Display for WorkerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {} (process {}, version {})", self.number, self.pid, self.executable.version())
    }
}

/// Lets the program that is executed next inherit all these sockets, or not.
pub(crate) fn set_all_inheritable(sockets: &[Vec<OwnedFd>], yes: bool) -> io::Result<Vec<Vec<i32>>> {
    sockets.iter().map(|thread| thread.iter().map(|socket| set_inheritable(socket, yes)).collect()).collect()
}
