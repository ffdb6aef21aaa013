//! Words to a server that runs, over a unix socket that only its user can open.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::Config;
use crate::listener::{SocketFile, bind_unix};
use crate::server::StartError;

/// The file in the folder for data.
const FILE: &str = "control";

/// How long one who has connected may take to say a word. It is the supervisor's only thread that waits.
const PATIENCE: Duration = Duration::from_millis(500);

const LONGEST_WORD: u64 = 256;

/// The socket that words come from.
#[derive(Debug)]
pub(crate) struct Control {
    socket: UnixListener,
    path: PathBuf,
    _file: SocketFile,
}

/// What a server can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Status { json: bool },
    Swap { allow_breaking_migration: bool },
    Upgrade,
    Add,
    Reopen,
    Stop,
    Level(tracing::Level),
}

const WORDS: &str = "status, status json, swap, swap --allow-breaking-migration, upgrade, add, reopen, stop, log LEVEL";

impl Word {
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        Ok(match words.as_slice() {
            ["status"] => Self::Status { json: false },
            ["status", "json"] => Self::Status { json: true },
            ["swap"] => Self::Swap { allow_breaking_migration: false },
            ["swap", "--allow-breaking-migration"] => Self::Swap { allow_breaking_migration: true },
            ["upgrade"] => Self::Upgrade,
            ["add"] => Self::Add,
            ["reopen"] => Self::Reopen,
            ["stop"] => Self::Stop,
            ["log", level] => Self::Level(
                level.parse().map_err(|_| format!("\"{level}\" is no level: error, warn, info, debug, trace"))?,
            ),
            _ => return Err(format!("\"{line}\" is no word for a server; there are: {WORDS}")),
        })
    }
}

impl Control {
    /// Opens the socket. A path that nobody chose, and that is too long for one, is only a warning.
    pub(super) fn listen(config: &Config) -> Result<Option<Self>, StartError> {
        let path = path(config);
        let bound = bind_unix(&path, 16).and_then(|(socket, file)| {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            Ok((socket, file))
        });
        match bound {
            Ok((socket, file)) => Ok(Some(Self { socket, path, _file: file })),
            Err(error) if config.control.is_none() => {
                tracing::warn!("nobody can talk to this server (--control): {error}");
                Ok(None)
            }
            Err(error) => Err(StartError(format!("control = {}: {error}", path.display()))),
        }
    }

    /// The same socket, from a former program of this process.
    pub(super) fn inherit(socket: UnixListener, config: &Config) -> io::Result<Self> {
        let path = path(config);
        Ok(Self { socket, _file: SocketFile::at(&path)?, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn accept(&self) -> Option<UnixStream> {
        let (stream, _) = self.socket.accept().ok()?;
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.set_write_timeout(Some(PATIENCE)).ok()?;
        Some(stream)
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn path(config: &Config) -> PathBuf {
    config.control.clone().unwrap_or_else(|| config.data.join(FILE))
}

/// What somebody says.
pub(super) fn read(asker: &UnixStream) -> Option<String> {
    let mut line = String::new();
    BufReader::new(asker.take(LONGEST_WORD)).read_line(&mut line).ok()?;
    Some(line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Says a word to the server that runs with this configuration, and gives back its answer.
pub(crate) fn ask(config: &Config, word: &str) -> Result<String, String> {
    let mut word = word.trim().to_owned();
    if word == "swap" && config.swap.allow_breaking_migration {
        word += " --allow-breaking-migration";
    }
    // What is wrong with the word is said without a server, too.
    Word::parse(&word)?;
    let path = path(config);
    let problem = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => format!(
            "no server listens on {}: is it running, with the same settings for `data` and `control`?",
            path.display()
        ),
        _ => format!("{}: {error}", path.display()),
    };
    let mut stream = UnixStream::connect(&path).map_err(problem)?;
    stream.write_all(format!("{word}\n").as_bytes()).map_err(problem)?;
    stream.shutdown(Shutdown::Write).map_err(problem)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(problem)?;
    if answer.starts_with("not ") { Err(answer.trim_end().to_owned()) } else { Ok(answer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_or_listed() {
        assert_eq!(Word::parse("status json"), Ok(Word::Status { json: true }));
        assert_eq!(Word::parse("log debug"), Ok(Word::Level(tracing::Level::DEBUG)));
        assert!(Word::parse("restart").unwrap_err().contains("there are: status"));
        assert!(Word::parse("log loud").unwrap_err().contains("error, warn"));
    }
}
