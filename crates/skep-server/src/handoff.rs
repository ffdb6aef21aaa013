//! What a worker inherits from its supervisor: sockets, a channel, a scoreboard.
//!
//! A worker is the same executable with the same arguments. One environment variable names the file descriptors that it inherits.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::channel::encode_line;
use crate::listener::{ListenError, Listener, take};
use crate::sys;
use crate::sys::process::TITLE;
use crate::sys::scoreboard::{Scoreboard, Slot};

/// Not a setting, so it does not begin with `SKEP_`.
pub(crate) const VARIABLE: &str = "_SKEP_WORKER";

/// What this worker has inherited.
#[derive(Debug)]
pub(crate) struct WorkerHandoff {
    pub(crate) spec: HandoffSpec,
    pub(crate) channel: UnixStream,
    pub(crate) scoreboard: Arc<Scoreboard>,
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
}

impl WorkerHandoff {
    /// Takes over what a supervisor has left for this process, if there is one. A program that a worker runs may inherit the variable, but not
    /// the process title, and is no worker.
    pub(crate) fn of_process() -> io::Result<Option<Self>> {
        let first = std::env::args_os().next().unwrap_or_default();
        let Some(text) = std::env::var_os(VARIABLE).filter(|_| first.as_encoded_bytes().starts_with(TITLE.as_bytes()))
        else {
            return Ok(None);
        };
        let spec = text.to_str().and_then(HandoffSpec::parse);
        let spec = spec
            .ok_or_else(|| io::Error::other(format!("{VARIABLE} = {}: not written by a supervisor", text.display())))?;
        sys::process::die_with_parent(spec.supervisor)?;
        let channel = UnixStream::from(sys::take_inherited(spec.channel)?);
        let scoreboard = Arc::new(Scoreboard::open(sys::take_inherited(spec.scoreboard)?, spec.slots)?);
        Ok(Some(Self { spec, channel, scoreboard }))
    }

    /// The listening sockets of each thread.
    pub(crate) fn listeners(&self) -> Result<Vec<Vec<Listener>>, ListenError> {
        let of_thread = |sockets: &Vec<RawFd>| sockets.iter().map(|fd| take(*fd).map(|(socket, _)| socket)).collect();
        self.spec.listeners.iter().map(of_thread).collect()
    }

    /// Sends a line to the supervisor. If it is gone, that shows elsewhere.
    pub(crate) fn send(&self, text: &str) {
        let _ = (&self.channel).write_all(encode_line(text).as_bytes());
    }

    /// Sets the process title of a worker.
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
        let threads =
            self.listeners.iter().map(|thread| thread.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
        write!(
            f,
            "{} {} {} {} {} {} {} {}",
            self.supervisor,
            self.number,
            self.channel,
            self.scoreboard,
            self.slots,
            u8::from(self.additive_migrations_only),
            self.build,
            threads.collect::<Vec<_>>().join("/")
        )
    }
}

impl HandoffSpec {
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let &[supervisor, number, channel, scoreboard, slots, additive_migrations_only, build, listeners] =
            words.as_slice()
        else {
            return None;
        };
        let of_thread = |thread: &str| thread.split(',').map(|fd| fd.parse().ok()).collect::<Option<Vec<RawFd>>>();
        Some(Self {
            supervisor: supervisor.parse().ok()?,
            number: number.parse().ok()?,
            channel: channel.parse().ok()?,
            scoreboard: scoreboard.parse().ok()?,
            slots: slots.parse().ok()?,
            additive_migrations_only: additive_migrations_only == "1",
            build: build.parse().ok()?,
            listeners: listeners.split('/').map(of_thread).collect::<Option<_>>()?,
        })
    }
}

/// Lets the program that is executed next inherit a file descriptor, or not.
pub(crate) fn set_inheritable(fd: &OwnedFd, yes: bool) -> io::Result<RawFd> {
    let flags = if yes { rustix::io::FdFlags::empty() } else { rustix::io::FdFlags::CLOEXEC };
    rustix::io::fcntl_setfd(fd, flags)?;
    Ok(fd.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handoff_is_parsed_as_it_was_written() {
        let spec = HandoffSpec {
            supervisor: 7,
            number: 3,
            channel: 5,
            scoreboard: 6,
            slots: 2,
            additive_migrations_only: true,
            build: 77,
            listeners: vec![vec![8, 9], vec![10, 11]],
        };
        assert_eq!(HandoffSpec::parse(&spec.to_string()), Some(spec));
        assert_eq!(HandoffSpec::parse("1 2 3"), None);
    }
}
