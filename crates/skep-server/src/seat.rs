//! What a supervised process is given by the one that started it: sockets, a channel, and a place on the board.
//!
//! A worker is the same executable with the same arguments, executed anew; the rest stands in one variable of its environment,
//! and in file descriptors that it inherits.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::listener::{ListenError, Listener, take};
use crate::sys;
use crate::sys::board::{Board, Slot};
use crate::sys::process::TITLE;

/// Not a setting, so it does not begin as settings do.
pub(crate) const VARIABLE: &str = "_SKEP_SEAT";

/// What a process was given.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) plan: Plan,
    pub(crate) channel: UnixStream,
    pub(crate) board: Arc<Board>,
}

/// The same, as numbers that fit into a variable of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The process that watches over this one.
    pub(crate) supervisor: u32,
    /// The number of the worker, for titles and log lines.
    pub(crate) number: u32,
    pub(crate) channel: RawFd,
    pub(crate) board: RawFd,
    pub(crate) slots: usize,
    /// An old version serves meanwhile: migrations that it may not get on with are refused.
    pub(crate) careful: bool,
    /// The number of this build, which the supervisor has from the bytes of the file.
    pub(crate) build: u32,
    /// For each thread its listening sockets.
    pub(crate) listeners: Vec<Vec<RawFd>>,
}

/// A thread's place on the board.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    board: Arc<Board>,
    slot: usize,
}

impl Place {
    pub(crate) fn new(board: &Arc<Board>, slot: usize) -> Self {
        Self { board: Arc::clone(board), slot }
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.board.slots()[self.slot]
    }
}

impl Seat {
    /// The seat of this process, if somebody started it as a worker. A variable that was only passed on, by a worker to a
    /// program that it runs, is none.
    pub(crate) fn of_process() -> io::Result<Option<Self>> {
        let first = std::env::args_os().next().unwrap_or_default();
        let Some(text) = std::env::var_os(VARIABLE).filter(|_| first.as_encoded_bytes().starts_with(TITLE.as_bytes()))
        else {
            return Ok(None);
        };
        let plan = text.to_str().and_then(Plan::parse);
        let plan = plan
            .ok_or_else(|| io::Error::other(format!("{VARIABLE} = {}: not what a supervisor says", text.display())))?;
        sys::process::end_with(plan.supervisor)?;
        let channel = UnixStream::from(sys::take_inherited(plan.channel)?);
        let board = Arc::new(Board::open(sys::take_inherited(plan.board)?, plan.slots)?);
        Ok(Some(Self { plan, channel, board }))
    }

    /// The listening sockets of each thread.
    pub(crate) fn listeners(&self) -> Result<Vec<Vec<Listener>>, ListenError> {
        let of_thread = |sockets: &Vec<RawFd>| sockets.iter().map(|fd| take(*fd).map(|(socket, _)| socket)).collect();
        self.plan.listeners.iter().map(of_thread).collect()
    }

    /// Tells the supervisor. If it is gone, that shows elsewhere.
    pub(crate) fn say(&self, text: &str) {
        let _ = (&self.channel).write_all(line(text).as_bytes());
    }

    /// What `ps` shows.
    pub(crate) fn title(&self, state: &str) {
        sys::process::set_title(&title(self.plan.number, state));
    }

    /// What `ps` shows of a parent that forks.
    pub(crate) fn parent_title(&self, state: &str) {
        sys::process::set_title(&format!("{TITLE} parent {}, {state}", self.plan.number));
    }

    /// What `ps` shows of a process that was forked for this slot.
    pub(crate) fn title_of(&self, slot: usize, state: &str) {
        sys::process::set_title(&format!("{TITLE} worker {}.{}, {state}", self.plan.number, slot + 1));
    }
}

/// One line to the supervisor. A line's end within the text travels as a unit separator.
pub(crate) fn line(text: &str) -> String {
    format!("{}\n", text.replace('\n', "\u{1f}"))
}

/// A text as it was before it became a [`line`].
pub(crate) fn text(line: &str) -> String {
    line.replace('\u{1f}', "\n")
}

/// `skep: worker 2, ready`.
pub(crate) fn title(number: u32, state: &str) -> String {
    format!("{TITLE} worker {number}, {state}")
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads =
            self.listeners.iter().map(|thread| thread.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
        write!(
            f,
            "{} {} {} {} {} {} {} {}",
            self.supervisor,
            self.number,
            self.channel,
            self.board,
            self.slots,
            u8::from(self.careful),
            self.build,
            threads.collect::<Vec<_>>().join("/")
        )
    }
}

impl Plan {
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let &[supervisor, number, channel, board, slots, careful, build, listeners] = words.as_slice() else {
            return None;
        };
        let of_thread = |thread: &str| thread.split(',').map(|fd| fd.parse().ok()).collect::<Option<Vec<RawFd>>>();
        Some(Self {
            supervisor: supervisor.parse().ok()?,
            number: number.parse().ok()?,
            channel: channel.parse().ok()?,
            board: board.parse().ok()?,
            slots: slots.parse().ok()?,
            careful: careful == "1",
            build: build.parse().ok()?,
            listeners: listeners.split('/').map(of_thread).collect::<Option<_>>()?,
        })
    }
}

/// Lets programs that are executed from now on inherit a file descriptor, or not.
pub(crate) fn inherit(fd: &OwnedFd, yes: bool) -> io::Result<RawFd> {
    let flags = if yes { rustix::io::FdFlags::empty() } else { rustix::io::FdFlags::CLOEXEC };
    rustix::io::fcntl_setfd(fd, flags)?;
    Ok(fd.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let plan = Plan {
            supervisor: 7,
            number: 3,
            channel: 5,
            board: 6,
            slots: 2,
            careful: true,
            build: 77,
            listeners: vec![vec![8, 9], vec![10, 11]],
        };
        assert_eq!(Plan::parse(&plan.to_string()), Some(plan));
        assert_eq!(Plan::parse("1 2 3"), None);
    }
}
