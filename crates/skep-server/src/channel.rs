//! The channel between a supervisor and a worker: lines of text, in both directions.
//!
//! The supervisor sends [`Command`]s. A worker sends `name NAME`, `ready`, `failed REASON` and `status ID REPORT`.

use std::io;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use crate::log::{Files, Logs};
use crate::worker_state::WorkerState;

/// What a supervisor can ask of a worker. [`Display`](std::fmt::Display) writes what [`Command::parse`] reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// `serve`, `retire`, `drain`.
    State(WorkerState),
    Quit,
    Reopen(Files),
    Level(tracing::Level),
    /// Fork one more process (`prefork`).
    Add,
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
            "reopen" => Self::Reopen(Files::parse(rest)),
            "level" => Self::Level(rest.parse().ok()?),
            "add" => Self::Add,
            "status" => match rest.split_once(' ')? {
                (id, form @ ("text" | "json")) => Self::Status { id: id.parse().ok()?, json: form == "json" },
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Executes the commands that concern the whole process: the log level and log files.
    pub(crate) fn execute(&self) {
        match self {
            Self::Level(level) => Logs::change_level(*level),
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
            Self::Add => f.write_str("add"),
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

/// A worker's end of the channel.
pub(crate) struct CommandReader {
    channel: tokio::net::UnixStream,
    read: Vec<u8>,
    closed: bool,
}

impl CommandReader {
    pub(crate) fn new(channel: UnixStream) -> io::Result<Self> {
        channel.set_nonblocking(true)?;
        Ok(Self { channel: tokio::net::UnixStream::from_std(channel)?, read: Vec::new(), closed: false })
    }

    /// Sends a line to the supervisor. The socket has room: a supervisor that does not read sends no further query.
    pub(crate) fn send(&self, line: &str) {
        let _ = self.channel.try_write(encode_line(line).as_bytes());
    }

    /// The next command. When the supervisor is gone, the worker drains.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Command> {
        while !self.closed {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                match std::str::from_utf8(&line[..end]).ok().and_then(Command::parse) {
                    Some(command) => return Poll::Ready(command),
                    None => continue,
                }
            }
            let mut bytes = [0; 256];
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.channel).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => self.read.extend_from_slice(buffer.filled()),
                Poll::Ready(_) => {
                    self.closed = true;
                    return Poll::Ready(Command::State(WorkerState::Draining));
                }
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_parsed_as_it_was_written() {
        let states = [WorkerState::Serving, WorkerState::Retiring, WorkerState::Draining].map(Command::State);
        let others = [
            Command::Quit,
            Command::Level(tracing::Level::DEBUG),
            Command::Add,
            Command::Reopen(Files::default()),
            Command::Status { id: 7, json: true },
        ];
        for command in states.into_iter().chain(others) {
            assert_eq!(Command::parse(&command.to_string()), Some(command));
        }
        assert_eq!(Command::parse("dance"), None);
        assert_eq!(decode_line(encode_line("a\nb").trim_end()), "a\nb");
    }
}
