//! Another version of the supervisor itself: it executes the new file in its own process, and keeps sockets and workers.
//!
//! The workers do not notice. The number of the process stays, and so does what systemd knows of it.

use std::fmt::Write;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use rustix::process::Pid;

use super::child::{Child, inherit_all};
use super::control::Control;
use super::{PidFile, Supervisor};
use crate::config::Config;
use crate::listener::SocketFile;
use crate::seat::inherit;
use crate::server::StartError;
use crate::sys;
use crate::sys::board::Board;

/// Not a setting, so it does not begin as settings do.
const VARIABLE: &str = "_SKEP_SUPERVISOR";

/// What a former program of this process has left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Heritage {
    process: u32,
    number: u32,
    deaths: u64,
    name: String,
    control: Option<RawFd>,
    sockets: Vec<Vec<RawFd>>,
    child: Option<(u32, i32, RawFd, RawFd, usize)>,
    urls: Vec<String>,
}

impl Heritage {
    /// Whether there is one: the variable is for this very process, and not for those that it starts.
    pub(super) fn of_process() -> Result<Option<Self>, StartError> {
        let Some(text) = std::env::var_os(VARIABLE) else { return Ok(None) };
        let heritage = text.to_str().and_then(Self::parse);
        let heritage = heritage
            .ok_or_else(|| StartError(format!("{VARIABLE} = {}: not what a supervisor leaves", text.display())))?;
        Ok(Some(heritage).filter(|heritage| heritage.process == std::process::id()))
    }

    fn to_text(&self) -> String {
        let (process, number, deaths, name) = (self.process, self.number, self.deaths, &self.name);
        let mut text = format!("{process}\n{number}\n{deaths}\n{name}\n{}\n", self.control.unwrap_or(-1));
        let threads =
            self.sockets.iter().map(|thread| thread.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
        text += &threads.collect::<Vec<_>>().join("/");
        let (number, pid, channel, board, slots) = self.child.unwrap_or_default();
        let _ = write!(text, "\n{number} {pid} {channel} {board} {slots}\n{}", self.urls.join("\n"));
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut next = || lines.next();
        let of_thread = |thread: &str| thread.split(',').map(|fd| fd.parse().ok()).collect::<Option<Vec<RawFd>>>();
        let (process, number, deaths) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
        let name = next()?.to_owned();
        let control = next()?.parse().ok().filter(|fd| *fd >= 0);
        let sockets = next()?.split('/').map(of_thread).collect::<Option<_>>()?;
        let words: Vec<i64> = next()?.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let &[worker, pid, channel, board, slots] = words.as_slice() else { return None };
        let child = (pid != 0).then_some(()).and_then(|()| {
            Some((
                worker.try_into().ok()?,
                pid.try_into().ok()?,
                channel.try_into().ok()?,
                board.try_into().ok()?,
                slots.try_into().ok()?,
            ))
        });
        let urls = lines.map(ToOwned::to_owned).collect();
        Some(Self { process, number, deaths, name, control, sockets, child, urls })
    }
}

/// Whether the new version reads its settings: if it does not, it must not take this process over.
pub(super) fn prepare(supervisor: &Supervisor) -> Result<(), String> {
    let mut command = supervisor.executable.command();
    command.args(std::env::args_os().skip(1)).arg("--print-config").stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

/// Executes the new version here. It comes back only if that fails.
pub(super) fn execute(supervisor: &mut Supervisor) {
    match hand_over(supervisor) {
        Ok(heritage) => {
            let mut command = supervisor.executable.command();
            command.args(std::env::args_os().skip(1)).env(VARIABLE, heritage.to_text());
            command.arg0(supervisor.executable.path());
            let error = command.exec();
            tracing::error!(%error, "the supervisor stays as it is: it could not execute the new version");
        }
        Err(error) => tracing::error!(%error, "the supervisor stays as it is"),
    }
    let _ = keep(supervisor, false);
}

fn hand_over(supervisor: &Supervisor) -> io::Result<Heritage> {
    keep(supervisor, true)?;
    let child = supervisor.serving.as_ref().map(|child| {
        let (channel, board) = (child.channel.as_raw_fd(), child.board.file().as_raw_fd());
        (child.number, child.pid.as_raw_nonzero().get(), channel, board, child.slots)
    });
    Ok(Heritage {
        process: std::process::id(),
        number: supervisor.number,
        deaths: supervisor.deaths,
        name: supervisor.name.clone(),
        control: supervisor.control.as_ref().map(|control| control.as_fd().as_raw_fd()),
        sockets: supervisor.sockets.iter().map(|thread| thread.iter().map(AsRawFd::as_raw_fd).collect()).collect(),
        child,
        urls: supervisor.urls.clone(),
    })
}

/// Whether what this supervisor holds outlives the program that it runs.
fn keep(supervisor: &Supervisor, yes: bool) -> io::Result<()> {
    inherit_all(&supervisor.sockets, yes)?;
    if let Some(control) = &supervisor.control {
        let flags = if yes { rustix::io::FdFlags::empty() } else { rustix::io::FdFlags::CLOEXEC };
        rustix::io::fcntl_setfd(control, flags)?;
    }
    // Those that leave end by themselves, and are collected by whoever has this process.
    if let Some(child) = &supervisor.serving {
        inherit(&child.channel, yes)?;
        inherit(child.board.file(), yes)?;
    }
    Ok(())
}

impl Supervisor {
    /// Goes on where a former program of this process has stopped.
    pub(super) fn inherit(config: Config, heritage: Heritage) -> Result<Self, StartError> {
        let take = |fd: &RawFd| sys::take_inherited(*fd);
        let of_thread = |thread: &Vec<RawFd>| thread.iter().map(take).collect::<io::Result<Vec<OwnedFd>>>();
        let sockets = heritage.sockets.iter().map(of_thread).collect::<io::Result<_>>()?;
        let control =
            heritage.control.as_ref().map(|fd| Control::inherit(UnixListener::from(take(fd)?), &config)).transpose()?;
        let pid_file = config.pid_file.clone().map(PidFile::write).transpose()?;
        let paths = heritage.urls.iter().filter_map(|url| url.strip_prefix("unix:"));
        // One that is gone is nobody's to remove.
        let files = paths.filter_map(|path| SocketFile::at(Path::new(path)).ok()).collect();
        let mut supervisor = Self::new(heritage.name, config, heritage.urls, sockets, (files, pid_file, control))?;
        supervisor.number = heritage.number;
        supervisor.deaths = heritage.deaths;
        supervisor.was_ready = true;
        if let Some((number, pid, channel, board, slots)) = heritage.child
            && let Some(pid) = Pid::from_raw(pid)
        {
            let board = Board::open(take(&board)?, slots)?;
            let executable = std::rc::Rc::clone(&supervisor.executable);
            supervisor.serving = Some(Child::adopt(number, pid, &executable, take(&channel)?, board, slots));
            supervisor.start_at = None;
        }
        tracing::info!("the supervisor is version {} now", supervisor.executable.version());
        supervisor.systemd.ready(&format!("listens on {}", supervisor.urls.join(" and ")));
        Ok(supervisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heritage_is_read_as_it_was_written() {
        let heritage = Heritage {
            process: 5,
            number: 7,
            deaths: 1,
            name: "blog 1.0".into(),
            control: Some(9),
            sockets: vec![vec![3, 4], vec![5, 6]],
            child: Some((7, 123, 10, 11, 2)),
            urls: vec!["http://localhost:80 (on every address)".into(), "unix:/a b".into()],
        };
        assert_eq!(Heritage::parse(&heritage.to_text()), Some(heritage.clone()));
        let without = Heritage { child: None, control: None, ..heritage };
        assert_eq!(Heritage::parse(&without.to_text()), Some(without));
        assert_eq!(Heritage::parse("1\n2"), None);
    }
}
