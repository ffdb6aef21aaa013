//! What a worker inherits from its supervisor: sockets, a channel, a scoreboard, memory for metrics and last lines.
//!
//! A worker is the same executable with the same arguments. One environment variable names the file descriptors that it
//! inherits.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::process::Signal;
use skep_observe::log::{self, LastLines};
use skep_observe::metrics::Metrics;

use crate::channel::encode_line;
use crate::error::StartError;
use crate::listener::{Listener, take};
use crate::sys;
use crate::sys::process::TITLE;
use crate::sys::scoreboard::{Scoreboard, Slot};

/// The maximal length of a process title; the first argument of a process is padded to it.
pub(crate) const TITLE_LENGTH: usize = 48;

/// Not a setting, so it does not begin with `SKEP_`.
pub(crate) const VARIABLE: &str = "_SKEP_WORKER";

/// What this worker has inherited.
#[derive(Debug)]
pub(crate) struct WorkerHandoff {
    pub(crate) spec: HandoffSpec,
    pub(crate) channel: UnixStream,
    pub(crate) scoreboard: Arc<Scoreboard>,
    /// What counts requests, if something does, and if this version can.
    pub(crate) metrics: Option<Arc<Metrics>>,
    /// For lines that the supervisor writes if this process is killed.
    last_lines: OwnedFd,
}

/// The same as numbers, which fit into an environment variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HandoffSpec {
    /// The process id of the supervisor.
    pub(crate) supervisor: u32,
    /// The number of the worker, for titles and log lines.
    pub(crate) number: u32,
    pub(crate) channel: RawFd,
    pub(crate) scoreboard: RawFd,
    pub(crate) slots: usize,
    /// An old version still uses the database, so breaking migrations are refused.
    pub(crate) additive_migrations_only: bool,
    /// The number of this build: a hash of the executable.
    pub(crate) build: u32,
    /// The memory of metrics, if requests are counted.
    pub(crate) metrics: Option<RawFd>,
    pub(crate) last_lines: RawFd,
    /// For each thread its listening sockets.
    pub(crate) listeners: Vec<Vec<RawFd>>,
}

/// A thread's slot of the scoreboard.
#[derive(Clone, Debug)]
pub(crate) struct SlotRef {
    scoreboard: Arc<Scoreboard>,
    index: usize,
}

impl SlotRef {
    pub(crate) fn new(scoreboard: &Arc<Scoreboard>, index: usize) -> Self {
        Self { scoreboard: Arc::clone(scoreboard), index }
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.scoreboard.slots()[self.index]
    }

    /// Says for the supervisor, which asks when this thread hangs, what it serves.
    pub(crate) fn tell(&self, text: &str) {
        self.scoreboard.tell(self.index, text);
    }
}

impl WorkerHandoff {
    /// Takes over what a supervisor has left for this process, if there is one. A program that a worker runs may
    /// inherit the variable, but not the process title, and is no worker.
    pub(crate) fn of_process() -> Result<Option<Self>, StartError> {
        let first = std::env::args_os().next().unwrap_or_default();
        let Some(text) = std::env::var_os(VARIABLE).filter(|_| first.as_encoded_bytes().starts_with(TITLE.as_bytes()))
        else {
            return Ok(None);
        };
        let spec = text.to_str().and_then(HandoffSpec::parse);
        let spec = spec.ok_or_else(|| StartError::of_variable(VARIABLE, &text))?;
        sys::process::die_with_parent(spec.supervisor)?;
        let channel = UnixStream::from(sys::take_inherited(spec.channel)?);
        let scoreboard = Arc::new(Scoreboard::open(sys::take_inherited(spec.scoreboard)?, spec.slots)?);
        let open = |fd| sys::take_inherited(fd).and_then(Metrics::open);
        // Where the supervisor's version counts in another way, this worker counts nothing until `upgrade` has replaced
        // that version.
        let metrics = spec.metrics.map(open).transpose()?.flatten().map(Arc::new);
        metrics.iter().for_each(Metrics::take_log_records);
        let last_lines = sys::take_inherited(spec.last_lines)?;
        Ok(Some(Self { spec, channel, scoreboard, metrics, last_lines }))
    }

    /// Memory for the last lines of this number of processes with this number of threads each.
    pub(crate) fn last_lines(
        &self,
        settings: &log::Settings,
        processes: usize,
        threads: usize,
    ) -> io::Result<Arc<LastLines>> {
        settings.last_lines(self.last_lines.try_clone()?, processes, threads)
    }

    pub(crate) fn listeners(&self) -> Result<Vec<Vec<Listener>>, StartError> {
        let of_thread = |sockets: &Vec<RawFd>| sockets.iter().map(|fd| take(*fd).map(|(socket, _)| socket)).collect();
        self.spec.listeners.iter().map(of_thread).collect()
    }

    /// Sends a line to the supervisor. If it is gone, that shows elsewhere.
    pub(crate) fn send(&self, text: &str) {
        let _ = (&self.channel).write_all(encode_line(text).as_bytes());
    }

    pub(crate) fn title(&self, state: &str) {
        sys::process::set_title(&title(self.spec.number, state));
    }

    /// Sets the process title of a parent that forks.
    pub(crate) fn parent_title(&self, state: &str) {
        sys::process::set_title(&format!("{TITLE} parent {}, {state}", self.spec.number));
    }

    /// Sets the process title of a child that was forked for this slot.
    pub(crate) fn child_title(&self, slot: usize, state: &str) {
        sys::process::set_title(&format!("{TITLE} worker {}.{}, {state}", self.spec.number, slot + 1));
    }
}

/// `skep: worker 2, ready`.
pub(crate) fn title(number: u32, state: &str) -> String {
    format!("{TITLE} worker {number}, {state}")
}

impl fmt::Display for HandoffSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { supervisor, number, channel, scoreboard, slots, build, last_lines, .. } = self;
        let (additive, listeners) = (u8::from(self.additive_migrations_only), sockets_to_text(&self.listeners));
        let metrics = self.metrics.unwrap_or(-1);
        write!(
            f,
            "{supervisor} {number} {channel} {scoreboard} {slots} {additive} {build} {metrics} {last_lines} {listeners}"
        )
    }
}

impl HandoffSpec {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let spec = Self {
            supervisor: words.next()?.parse().ok()?,
            number: words.next()?.parse().ok()?,
            channel: words.next()?.parse().ok()?,
            scoreboard: words.next()?.parse().ok()?,
            slots: words.next()?.parse().ok()?,
            additive_migrations_only: words.next()? == "1",
            build: words.next()?.parse().ok()?,
            metrics: words.next()?.parse().ok().filter(|fd| *fd >= 0),
            last_lines: words.next()?.parse().ok()?,
            listeners: sockets_of_text(words.next()?)?,
        };
        words.next().is_none().then_some(spec)
    }
}

/// What the process of the status page has inherited, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatusHandoff {
    /// The process id of the supervisor.
    pub(crate) supervisor: u32,
    /// None if it only exports.
    pub(crate) listener: Option<RawFd>,
    pub(crate) metrics: RawFd,
}

/// What ends a process that exports, after the last spans. At shutdown systemd sends SIGTERM to all processes, and this
/// one is to be the last.
pub(crate) const STOP_EXPORTER: Signal = Signal::USR1;

impl StatusHandoff {
    /// Not a setting, so it does not begin with `SKEP_`.
    pub(crate) const VARIABLE: &str = "_SKEP_STATUS";

    /// What a supervisor has left for this process, if it is that process.
    pub(crate) fn of_process() -> Result<Option<Self>, StartError> {
        let first = std::env::args_os().next().unwrap_or_default();
        let Some(text) =
            std::env::var_os(Self::VARIABLE).filter(|_| first.as_encoded_bytes().starts_with(TITLE.as_bytes()))
        else {
            return Ok(None);
        };
        let handoff =
            text.to_str().and_then(Self::parse).ok_or_else(|| StartError::of_variable(Self::VARIABLE, &text))?;
        sys::process::die_with_parent(handoff.supervisor)?;
        Ok(Some(handoff))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut number = || words.next()?.parse::<i32>().ok();
        let (supervisor, listener, metrics) = (number()?.try_into().ok()?, number()?, number()?);
        let listener = Some(listener).filter(|fd| *fd >= 0);
        words.next().is_none().then_some(Self { supervisor, listener, metrics })
    }
}

impl fmt::Display for StatusHandoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.supervisor, self.listener.unwrap_or(-1), self.metrics)
    }
}

/// The sockets of each thread: `8,9/10,11`.
pub(crate) fn sockets_to_text(threads: &[Vec<RawFd>]) -> String {
    let join = |thread: &Vec<RawFd>| thread.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    threads.iter().map(join).collect::<Vec<_>>().join("/")
}

/// What [`sockets_to_text`] wrote.
pub(crate) fn sockets_of_text(text: &str) -> Option<Vec<Vec<RawFd>>> {
    text.split('/').map(|thread| thread.split(',').map(|fd| fd.parse().ok()).collect()).collect()
}

/// Lets the program that is executed next inherit a file descriptor, or not.
pub(crate) fn set_inheritable(fd: impl AsFd, yes: bool) -> io::Result<RawFd> {
    let flags = if yes { rustix::io::FdFlags::empty() } else { rustix::io::FdFlags::CLOEXEC };
    rustix::io::fcntl_setfd(&fd, flags)?;
    Ok(fd.as_fd().as_raw_fd())
}

#[cfg(test)]
#[path = "../tests/unit/handoff.rs"]
mod tests;
