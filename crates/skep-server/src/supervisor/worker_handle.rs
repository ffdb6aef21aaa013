//! A worker, as its supervisor sees it.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::channel::Command;
use crate::executable::Executable;
use crate::handoff::{HandoffSpec, VARIABLE, set_inheritable, title};
use crate::procfs;
use crate::sys::scoreboard::{self, Scoreboard, Slot};
use crate::worker_state::WorkerState;

/// The maximal length of a process title; the first argument of a worker is padded to it.
const TITLE_LENGTH: usize = 48;

/// How long a successor waits for this worker to stop accepting. One of its threads may be busy.
const RETIRE_TIMEOUT: Duration = Duration::from_millis(100);

/// A worker process.
#[derive(Debug)]
pub(crate) struct WorkerHandle {
    pub(crate) number: u32,
    pub(crate) pid: Pid,
    pub(crate) executable: Rc<Executable>,
    pub(crate) channel: OwnedFd,
    pub(crate) scoreboard: Arc<Scoreboard>,
    pub(crate) slots: usize,
    pub(crate) started: Instant,
    pub(crate) ready: Option<Instant>,
    /// When it is killed.
    pub(crate) deadline: Option<Instant>,
    /// Why it could not start.
    pub(crate) failed: Option<String>,
    /// The name of its application.
    pub(crate) name: Option<String>,
    /// The worker has closed its end of the channel.
    pub(crate) closed: bool,
    read: Vec<u8>,
}

/// What a worker is started with.
pub(crate) struct Start<'s> {
    pub(crate) number: u32,
    pub(crate) executable: &'s Rc<Executable>,
    /// For each thread its listening sockets.
    pub(crate) sockets: &'s [Vec<OwnedFd>],
    pub(crate) slots: usize,
    pub(crate) additive_migrations_only: bool,
}

impl WorkerHandle {
    /// Executes the file with the arguments that this process was started with.
    pub(crate) fn start(start: &Start<'_>) -> io::Result<Self> {
        let scoreboard = Arc::new(Scoreboard::new(start.slots)?);
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let theirs = OwnedFd::from(theirs);
        // This process has one thread, so nothing else is executed while these are inheritable.
        let spec = HandoffSpec {
            supervisor: std::process::id(),
            number: start.number,
            channel: set_inheritable(&theirs, true)?,
            scoreboard: set_inheritable(scoreboard.file(), true)?,
            slots: start.slots,
            additive_migrations_only: start.additive_migrations_only,
            build: start.executable.build(),
            listeners: set_all_inheritable(start.sockets, true)?,
        };
        let name = title(start.number, "starting");
        let mut command = start.executable.command();
        command.arg0(format!("{name:<TITLE_LENGTH$}")).args(std::env::args_os().skip(1));
        command.env(VARIABLE, spec.to_string());
        for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
        {
            command.env_remove(variable);
        }
        let spawned = command.spawn();
        set_inheritable(scoreboard.file(), false)?;
        set_all_inheritable(start.sockets, false)?;
        let pid = Pid::from_child(&spawned?);
        Ok(Self::new(start.number, pid, start.executable, ours.into(), scoreboard, start.slots))
    }

    /// A worker that was ready before the supervisor was upgraded.
    pub(crate) fn adopt(
        number: u32,
        pid: Pid,
        executable: &Rc<Executable>,
        channel: OwnedFd,
        scoreboard: Scoreboard,
        slots: usize,
    ) -> Self {
        let worker = Self::new(number, pid, executable, channel, Arc::new(scoreboard), slots);
        Self { ready: Some(worker.started), ..worker }
    }

    fn new(
        number: u32,
        pid: Pid,
        executable: &Rc<Executable>,
        channel: OwnedFd,
        scoreboard: Arc<Scoreboard>,
        slots: usize,
    ) -> Self {
        Self {
            number,
            pid,
            executable: Rc::clone(executable),
            channel,
            scoreboard,
            slots,
            started: Instant::now(),
            ready: None,
            deadline: None,
            failed: None,
            name: None,
            closed: false,
            read: Vec::new(),
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
        let mut buffer = [0; 4096];
        while !self.closed {
            match rustix::io::read(&self.channel, &mut buffer) {
                Ok(count @ 1..) => self.read.extend_from_slice(&buffer[..count]),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => break,
                Ok(_) | Err(_) => self.closed = true,
            }
        }
        let Some(end) = self.read.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let lines: Vec<u8> = self.read.drain(..=end).collect();
        String::from_utf8_lossy(&lines).lines().map(ToOwned::to_owned).collect()
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
        procfs::memory(self.pid.as_raw_nonzero().get())
    }

    /// The first thread whose heartbeat is older than `timeout`.
    pub(crate) fn hung_thread(&self, timeout: Duration) -> Option<u32> {
        let timeout = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let is_hung = |slot: &&Slot| scoreboard::now().saturating_sub(slot.heartbeat.load(Ordering::Relaxed)) > timeout;
        self.claimed_slots().find(is_hung).map(|slot| slot.thread.load(Ordering::Relaxed))
    }

    /// Makes the worker stop accepting, and waits a moment until it has, so that one version at a time accepts.
    pub(crate) fn retire(&self) {
        self.send(&Command::State(WorkerState::Retiring));
        let deadline = Instant::now() + RETIRE_TIMEOUT;
        let accepts = |slot: &Slot| slot.retiring.load(Ordering::Acquire) == 0;
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
