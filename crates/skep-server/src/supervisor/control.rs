//! Commands to a running server, over a unix socket that only its user can open.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use skep_observe::log::{LevelChange, Raise};

use super::drain::WorkerName;
use crate::config::Config;
use crate::error::StartError;
use crate::listener::{SocketFile, bind_unix};

/// The file in the data directory.
const FILE: &str = "control";

/// The number of clients at a time; others wait in the queue of the socket.
pub(super) const MAX_CLIENTS: usize = 32;

/// How long a client may take to send its command, and then to read the reply.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);

const MAX_LINE: usize = 256;

/// The listening socket.
#[derive(Debug)]
pub(crate) struct Control {
    socket: UnixListener,
    _file: SocketFile,
}

/// What a client can ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ControlCommand {
    Status { json: bool },
    Metrics,
    Swap { allow_breaking_migration: bool },
    Upgrade,
    Add,
    Drain(WorkerName),
    Reopen,
    Stop,
    Level(LevelChange),
    Raise(Raise),
}

const COMMANDS: &str = "status, status json, metrics, swap, swap --allow-breaking-migration, upgrade, add, drain WORKER, reopen, stop, log LEVEL, log CATEGORY LEVEL, log user NAME LEVEL TIME, log address NETWORK LEVEL TIME";

impl ControlCommand {
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        Ok(match words.as_slice() {
            ["status"] => Self::Status { json: false },
            ["status", "json"] => Self::Status { json: true },
            ["metrics"] => Self::Metrics,
            ["swap"] => Self::Swap { allow_breaking_migration: false },
            ["swap", "--allow-breaking-migration"] => Self::Swap { allow_breaking_migration: true },
            ["upgrade"] => Self::Upgrade,
            ["add"] => Self::Add,
            ["drain", name] => Self::Drain(name.parse()?),
            ["drain"] => return Err("expected drain WORKER, such as drain 3: status lists the workers".to_owned()),
            ["reopen"] => Self::Reopen,
            ["stop"] => Self::Stop,
            // With one word more it is a category of this name.
            ["log", "user" | "address"] | ["log", "user" | "address", _, _, ..] => {
                Self::Raise(Raise::parse(&words[1..])?)
            }
            ["log", change @ ..] => Self::Level(LevelChange::parse(change)?),
            _ => return Err(format!("unknown command \"{line}\": expected one of {COMMANDS}")),
        })
    }
}

impl Control {
    /// Opens the socket. If the default path is too long for a socket, that is only a warning.
    pub(super) fn listen(config: &Config) -> Result<Option<Self>, StartError> {
        let path = path(config);
        match bind_unix(&path, 16) {
            Ok((socket, file)) => Ok(Some(Self { socket, _file: file })),
            Err(error) if config.control.is_none() => {
                tracing::warn!("there is no control socket, so --control will not work: {error}");
                Ok(None)
            }
            Err(error) => Err(StartError::new(format!("control = {}: {error}", path.display()))),
        }
    }

    /// The socket that the supervisor opened before it was upgraded.
    pub(super) fn inherit(socket: UnixListener, config: &Config) -> io::Result<Self> {
        Ok(Self { socket, _file: SocketFile::at(&path(config))? })
    }

    pub(super) fn accept(&self) -> Option<UnixStream> {
        let (stream, _) = self.socket.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The path of the socket.
pub(super) fn path(config: &Config) -> PathBuf {
    config.control.clone().unwrap_or_else(|| config.app.data.join(FILE))
}

/// Clients that send a command or read a reply. None of them can block the supervisor.
#[derive(Debug, Default)]
pub(super) struct Clients {
    sending: Vec<Client>,
    receiving: Vec<Client>,
}

/// One client, with what it has sent so far or what it has yet to receive.
#[derive(Debug)]
struct Client {
    stream: UnixStream,
    bytes: Vec<u8>,
    deadline: Instant,
}

/// The state of a client after an attempt to read or to write.
enum Progress {
    Pending,
    Line(String),
    Closed,
}

impl Clients {
    /// Reads a command from this client.
    pub(super) fn add(&mut self, stream: UnixStream) {
        self.sending.push(Client { stream, bytes: Vec::new(), deadline: Instant::now() + CLIENT_TIMEOUT });
    }

    pub(super) fn len(&self) -> usize {
        self.sending.len() + self.receiving.len()
    }

    pub(super) fn add_to<'c>(&'c self, fds: &mut Vec<PollFd<'c>>) {
        fds.extend(self.sending.iter().map(|client| PollFd::new(&client.stream, PollFlags::IN)));
        fds.extend(self.receiving.iter().map(|client| PollFd::new(&client.stream, PollFlags::OUT)));
    }

    pub(super) fn deadlines(&self) -> impl Iterator<Item = Instant> {
        self.sending.iter().chain(&self.receiving).map(|client| client.deadline)
    }

    /// Reads what has arrived, and returns each complete command with its client.
    pub(super) fn read_lines(&mut self) -> Vec<(UnixStream, String)> {
        let mut complete = Vec::new();
        for mut client in std::mem::take(&mut self.sending) {
            match client.read() {
                Progress::Pending => self.sending.push(client),
                Progress::Line(line) => complete.push((client.stream, line)),
                Progress::Closed => {}
            }
        }
        complete
    }

    /// Sends a reply, as much of it as the socket takes now, and closes the connection after it.
    pub(super) fn reply(&mut self, stream: UnixStream, text: &str) {
        let deadline = Instant::now() + CLIENT_TIMEOUT;
        self.receiving.push(Client { stream, bytes: text.as_bytes().to_vec(), deadline });
        self.flush();
    }

    /// Continues with replies that did not fit into the socket's buffer.
    pub(super) fn flush(&mut self) {
        self.receiving.retain_mut(|client| matches!(client.write(), Progress::Pending));
    }
}

impl Client {
    fn read(&mut self) -> Progress {
        let mut buffer = [0; MAX_LINE];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(count) => {
                    self.bytes.extend_from_slice(&buffer[..count]);
                    let end = self.bytes.iter().position(|byte| *byte == b'\n');
                    if end.is_none() && count > 0 && self.bytes.len() < MAX_LINE {
                        continue;
                    }
                    let line = String::from_utf8_lossy(&self.bytes[..end.unwrap_or(self.bytes.len())]);
                    let line = line.trim().to_owned();
                    return if line.is_empty() { Progress::Closed } else { Progress::Line(line) };
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < self.deadline => {
                    return Progress::Pending;
                }
                Err(_) => return Progress::Closed,
            }
        }
    }

    fn write(&mut self) -> Progress {
        while !self.bytes.is_empty() {
            match self.stream.write(&self.bytes) {
                Ok(count @ 1..) => drop(self.bytes.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < self.deadline => {
                    return Progress::Pending;
                }
                Ok(_) | Err(_) => return Progress::Closed,
            }
        }
        Progress::Closed
    }
}

/// Sends a command to the server that runs with this configuration, and returns its reply.
pub(crate) fn send_command(config: &Config, line: &str) -> Result<String, String> {
    let mut line = line.trim().to_owned();
    if line == "swap" && config.app.allow_breaking_migration {
        line += " --allow-breaking-migration";
    }
    // An unknown command is an error even if no server runs.
    ControlCommand::parse(&line)?;
    let path = path(config);
    let problem = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => format!(
            "no server listens on {}: is it running, with the same settings for `data` and `control`?",
            path.display()
        ),
        _ => format!("{}: {error}", path.display()),
    };
    let mut stream = UnixStream::connect(&path).map_err(problem)?;
    stream.write_all(format!("{line}\n").as_bytes()).map_err(problem)?;
    stream.shutdown(Shutdown::Write).map_err(problem)?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).map_err(problem)?;
    if reply.starts_with("not ") { Err(reply.trim_end().to_owned()) } else { Ok(reply) }
}

#[cfg(test)]
#[path = "../../tests/unit/supervisor/control.rs"]
mod tests;
