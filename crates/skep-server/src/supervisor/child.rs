//! A worker, as its supervisor sees it.

use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitStatus};

use super::executable::Executable;
use crate::seat::{self, Plan, VARIABLE, inherit, title};
use crate::signals::Order;
use crate::sys;
use crate::sys::board::{self, Board, Slot};

/// How long a title may be; the first argument of a worker has room for it.
const TITLE_ROOM: usize = 48;

/// How long a worker may take to say how its application is: meanwhile the supervisor does nothing else. Less than a second.
const PATIENCE: Duration = Duration::from_millis(250);

/// A worker process, as its supervisor sees it.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) number: u32,
    pub(crate) pid: Pid,
    pub(crate) executable: Rc<Executable>,
    pub(crate) channel: OwnedFd,
    pub(crate) board: Arc<Board>,
    pub(crate) slots: usize,
    pub(crate) started: Instant,
    pub(crate) ready: Option<Instant>,
    /// It is killed then.
    pub(crate) deadline: Option<Instant>,
    /// Why it could not start, in its own words.
    pub(crate) failed: Option<String>,
    /// What its application is called, if that says so.
    pub(crate) name: Option<String>,
    /// It has hung up: nothing more is heard of it.
    pub(crate) silent: bool,
    read: Vec<u8>,
}

/// What a worker is started with.
pub(crate) struct Start<'s> {
    pub(crate) number: u32,
    pub(crate) executable: &'s Rc<Executable>,
    /// For each thread its listening sockets.
    pub(crate) sockets: &'s [Vec<OwnedFd>],
    pub(crate) slots: usize,
    pub(crate) careful: bool,
}

impl Child {
    /// Executes the executable with the arguments that this process was started with.
    pub(crate) fn start(start: &Start<'_>) -> io::Result<Self> {
        let board = Arc::new(Board::new(start.slots)?);
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let theirs = OwnedFd::from(theirs);
        // This process has one thread, and starts nothing else meanwhile that could inherit them.
        let plan = Plan {
            supervisor: std::process::id(),
            number: start.number,
            channel: inherit(&theirs, true)?,
            board: inherit(board.file(), true)?,
            slots: start.slots,
            careful: start.careful,
            build: start.executable.build(),
            listeners: inherit_all(start.sockets, true)?,
        };
        let name = title(start.number, "starting");
        let mut command = start.executable.command();
        command.arg0(format!("{name:<TITLE_ROOM$}")).args(std::env::args_os().skip(1));
        command.env(VARIABLE, plan.to_string());
        for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]
        {
            command.env_remove(variable);
        }
        let spawned = command.spawn();
        inherit(board.file(), false)?;
        inherit_all(start.sockets, false)?;
        let pid = Pid::from_child(&spawned?);
        Ok(Self {
            number: start.number,
            pid,
            executable: Rc::clone(start.executable),
            channel: ours.into(),
            board,
            slots: start.slots,
            started: Instant::now(),
            ready: None,
            deadline: None,
            failed: None,
            name: None,
            silent: false,
            read: Vec::new(),
        })
    }

    /// One that a former program of this process has started.
    pub(crate) fn adopt(
        number: u32,
        pid: Pid,
        executable: &Rc<Executable>,
        channel: OwnedFd,
        board: Board,
        slots: usize,
    ) -> Self {
        let now = Instant::now();
        Self {
            number,
            pid,
            executable: Rc::clone(executable),
            channel,
            board: Arc::new(board),
            slots,
            started: now,
            ready: Some(now),
            deadline: None,
            failed: None,
            name: None,
            silent: false,
            read: Vec::new(),
        }
    }

    /// Says what to do. A worker that cannot be told is dying, and that shows elsewhere.
    pub(crate) fn order(&self, order: &Order) {
        let _ = rustix::io::write(&self.channel, format!("{order}\n").as_bytes());
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process(self.pid, signal);
    }

    /// Lines that it has said since.
    pub(crate) fn hear(&mut self) -> Vec<String> {
        let mut buffer = [0; 4096];
        loop {
            match rustix::io::read(&self.channel, &mut buffer) {
                Ok(count @ 1..) => self.read.extend_from_slice(&buffer[..count]),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => break,
                Ok(_) | Err(_) => {
                    self.silent = true;
                    break;
                }
            }
        }
        let Some(end) = self.read.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let lines: Vec<u8> = self.read.drain(..=end).collect();
        String::from_utf8_lossy(&lines).lines().map(ToOwned::to_owned).collect()
    }

    /// What its application says of itself, if it does so at once.
    pub(crate) fn report(&mut self, json: bool) -> Option<String> {
        // No other question has this number, nor one of a former program of this process.
        let number = board::now();
        self.order(&Order::Status { number, json });
        let (said, until) = (format!("status {number} "), Instant::now() + PATIENCE);
        while !self.silent {
            if let Some(line) = self.hear().iter().find_map(|line| line.strip_prefix(&said)) {
                return Some(seat::text(line));
            }
            let left = until.checked_duration_since(Instant::now())?;
            let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
            let _ = poll(&mut [PollFd::new(&self.channel, PollFlags::IN)], Some(&left));
        }
        None
    }

    /// Threads that serve, or with `prefork` processes.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &Slot> {
        self.board.slots().iter().filter(|slot| slot.is_taken())
    }

    /// Those of processes that have ended are among them.
    pub(crate) fn requests(&self) -> u64 {
        self.board.slots().iter().map(Slot::all_requests).sum()
    }

    /// Proportional set size in bytes.
    pub(crate) fn memory(&self) -> Option<u64> {
        memory(self.pid.as_raw_nonzero().get())
    }

    /// The first thread that has not shown itself for so long.
    pub(crate) fn hung(&self, patience: Duration) -> Option<u32> {
        let patience = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        let is_hung = |slot: &&Slot| board::now().saturating_sub(slot.beat.load(Ordering::Relaxed)) > patience;
        self.taken().find(is_hung).map(|slot| slot.thread.load(Ordering::Relaxed))
    }

    /// Asks it to accept nothing more, and waits until it does not: not longer than a moment, since a thread may be busy.
    pub(crate) fn leave(&self) {
        self.order(&Order::Life(crate::worker::Life::Leave));
        let until = Instant::now() + Duration::from_millis(100);
        let accepts = |slot: &Slot| slot.leaving.load(Ordering::Acquire) == 0;
        while Instant::now() < until && self.taken().any(accepts) {
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

impl fmt::Display for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {} (process {}, version {})", self.number, self.pid, self.executable.version())
    }
}

/// Lets what is executed next inherit all sockets, or not.
pub(crate) fn inherit_all(sockets: &[Vec<OwnedFd>], yes: bool) -> io::Result<Vec<Vec<i32>>> {
    sockets.iter().map(|thread| thread.iter().map(|socket| inherit(socket, yes)).collect()).collect()
}

/// Proportional set size of a process in bytes: memory that several share counts in parts.
pub(crate) fn memory(pid: i32) -> Option<u64> {
    let mut text = String::new();
    std::fs::File::open(format!("/proc/{pid}/smaps_rollup")).ok()?.read_to_string(&mut text).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// `exit code 1`, `signal 11 (SEGV, memory that is not its own)`.
pub(crate) fn how_it_ended(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => sys::signals::name(signal),
        _ => "it ended".to_owned(),
    }
}

/// Writes what can be seen of a thread from outside to the log: where the kernel has it.
pub(crate) fn where_it_is(process: i32, thread: u32) -> String {
    let read =
        |what: &str| std::fs::read_to_string(format!("/proc/{process}/task/{thread}/{what}")).unwrap_or_default();
    let state =
        read("status").lines().find(|line| line.starts_with("State:")).unwrap_or_default().replace("State:\t", "");
    let stack: Vec<String> = read("stack").lines().map(|line| line.trim_start_matches("[<0>] ").to_owned()).collect();
    format!("state {state}, in the kernel at {}, {}", read("wchan"), stack.join(" < "))
}

/// Sends what makes a thread write its own stack.
pub(crate) fn ask_for_stack(process: i32, thread: u32) {
    let _ = sys::signals::send_to_thread(process, thread.cast_signed(), stack_signal());
}

/// The signal that makes a thread of a worker write its stack to standard error.
pub(crate) fn stack_signal() -> i32 {
    libc::SIGRTMIN() + 1
}

/// Answers somebody on the control socket.
pub(crate) fn answer(mut asker: UnixStream, text: &str) {
    let _ = asker.write_all(text.as_bytes());
}
