//! The channel between a supervisor and a worker: lines of text, in both directions.
//!
//! The supervisor sends [`Command`]s. A worker sends `name NAME`, `ready`, `failed REASON` and `status ID REPORT`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::task::{Context, Poll};

use rustix::io::Errno;
use skep_observe::log::{LevelChange, Raise, StreamFiles};
use tokio::io::unix::AsyncFd;

use crate::sys;
use crate::worker_state::WorkerState;

/// What a supervisor can ask of a worker. [`Display`](std::fmt::Display) writes what [`Command::parse`] reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// `serve`, `retire`, `drain`.
    State(WorkerState),
    Quit,
    Reopen(StreamFiles),
    Level(LevelChange),
    Raise(Raise),
    /// Fork one more process (`prefork`).
    Add,
    /// Replace this one of the forked processes (`prefork`), as soon as it has finished its requests.
    Drain {
        process: u32,
    },
    /// Report the status of the application. The report carries the same id.
    Status {
        id: u64,
        json: bool,
    },
}

impl Command {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "serve" => Self::State(WorkerState::Serving),
            "retire" => Self::State(WorkerState::Retiring),
            "drain" => Self::State(WorkerState::Draining),
            "quit" => Self::Quit,
            "reopen" => Self::Reopen(StreamFiles::parse(rest)),
            "level" => Self::Level(rest.parse().ok()?),
            "raise" => Self::Raise(Raise::of_line(rest)?),
            "add" => Self::Add,
            "drain-process" => Self::Drain { process: rest.parse().ok()? },
            "status" => match rest.split_once(' ')? {
                (id, form @ ("text" | "json")) => Self::Status { id: id.parse().ok()?, json: form == "json" },
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Executes the commands that concern the whole process: log levels and log files.
    pub(crate) fn execute(&self) {
        match self {
            Self::Level(change) => change.apply(),
            Self::Raise(raise) => raise.apply(),
            Self::Reopen(files) => {
                if let Err(error) = files.reopen() {
                    tracing::error!(%error, "cannot reopen the log files");
                }
            }
            _ => {}
        }
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::State(WorkerState::Serving | WorkerState::Standby) => f.write_str("serve"),
            Self::State(WorkerState::Draining) => f.write_str("drain"),
            Self::State(WorkerState::Retiring) => f.write_str("retire"),
            Self::Quit => f.write_str("quit"),
            Self::Reopen(files) => write!(f, "reopen {}", files.to_line()),
            Self::Level(level) => write!(f, "level {level}"),
            Self::Raise(raise) => write!(f, "raise {}", raise.to_line()),
            Self::Add => f.write_str("add"),
            Self::Drain { process } => write!(f, "drain-process {process}"),
            Self::Status { id, json } => write!(f, "status {id} {}", if *json { "json" } else { "text" }),
        }
    }
}

/// One line for the channel. Line breaks within the text are sent as unit separators.
pub(crate) fn encode_line(text: &str) -> String {
    format!("{}\n", text.replace('\n', "\u{1f}"))
}

/// The text of a line that [`encode_line`] wrote.
pub(crate) fn decode_line(line: &str) -> String {
    line.replace('\u{1f}', "\n")
}

/// Lines that arrive at a non-blocking file descriptor.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// The other end of the channel is closed.
    pub(crate) closed: bool,
}

impl Lines {
    /// Reads what has arrived.
    pub(crate) fn read(&mut self, channel: impl AsFd) {
        let mut buffer = [0; 4096];
        while !self.closed {
            match rustix::io::read(&channel, &mut buffer) {
                Ok(count @ 1..) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => self.closed = true,
            }
        }
    }
}

/// Complete lines, without their ends.
impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.bytes.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line[..end]).into_owned())
    }
}

/// A worker's end of the channel.
pub(crate) struct CommandReader {
    channel: AsyncFd<OwnedFd>,
    lines: Lines,
    /// The worker knows that the supervisor is gone.
    ended: bool,
}

impl CommandReader {
    pub(crate) fn new(channel: UnixStream) -> io::Result<Self> {
        channel.set_nonblocking(true)?;
        Ok(Self { channel: sys::async_fd(channel.into())?, lines: Lines::default(), ended: false })
    }

    /// Sends a line to the supervisor. The socket has room: a supervisor that does not read sends no further query.
    pub(crate) fn send(&self, line: &str) {
        let _ = rustix::io::write(self.channel.get_ref(), encode_line(line).as_bytes());
    }

    /// The next command. When the supervisor is gone, the worker drains.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Command> {
        loop {
            if let Some(command) = self.lines.find_map(|line| Command::parse(&line)) {
                return Poll::Ready(command);
            }
            if self.lines.closed {
                let known = std::mem::replace(&mut self.ended, true);
                return if known { Poll::Pending } else { Poll::Ready(Command::State(WorkerState::Draining)) };
            }
            // An error means that the runtime is shutting down.
            let Poll::Ready(Ok(mut ready)) = self.channel.poll_read_ready(cx) else { return Poll::Pending };
            self.lines.read(ready.get_inner());
            ready.clear_ready();
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/channel.rs"]
mod tests;
