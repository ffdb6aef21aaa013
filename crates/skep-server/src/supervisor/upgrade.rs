//! Replacing the supervisor's own program: it executes the new file in its own process, and keeps sockets and workers.
//!
//! Workers are not affected, and the process id stays, as does what systemd knows about it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use skep_observe::log::{LevelChange, Logs, Raise};

use super::control::Control;
use super::status_process::{InheritedStatus, StatusProcess};
use super::worker_handle::{WorkerHandle, set_all_inheritable};
use super::{OwnFiles, PidFile, Supervisor};
use crate::channel::{decode_line, encode_line};
use crate::config::Config;
use crate::error::StartError;
use crate::handoff::{set_inheritable, sockets_of_text, sockets_to_text};
use crate::listener::SocketFile;
use crate::sys;
use crate::sys::scoreboard::Scoreboard;

/// Not a setting, so it does not begin with `SKEP_`.
const VARIABLE: &str = "_SKEP_SUPERVISOR";

/// What the new program inherits from the old one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UpgradeState {
    process: u32,
    last_number: u32,
    crashes: u64,
    name: String,
    control: Option<RawFd>,
    sockets: Vec<Vec<RawFd>>,
    status: InheritedStatus,
    /// The serving worker, and those that retire: each closes its connections at once if its channel is closed.
    workers: Vec<InheritedWorker>,
    urls: Vec<String>,
    /// What was changed at run time: workers that start later are to have it, too. Clocks go on, so raised levels end
    /// when they would have.
    level_changes: Vec<LevelChange>,
    raises: Vec<Raise>,
    /// What the status says of swaps; of the last one, how many milliseconds ago it was.
    swaps: u64,
    replaced: u64,
    previous: Option<String>,
    last_swap: Option<(u64, Result<String, String>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InheritedWorker {
    serving: bool,
    number: u32,
    pid: i32,
    channel: RawFd,
    scoreboard: RawFd,
    slots: usize,
    last_lines: Option<RawFd>,
}

impl UpgradeState {
    /// The state for this process. A child process may have inherited the variable, but it is not for it.
    pub(super) fn of_process() -> Result<Option<Self>, StartError> {
        let Some(text) = std::env::var_os(VARIABLE) else { return Ok(None) };
        let state = text.to_str().and_then(Self::parse).ok_or_else(|| StartError::of_variable(VARIABLE, &text))?;
        Ok(Some(state).filter(|state| state.process == std::process::id()))
    }

    fn to_text(&self) -> String {
        let Self { process, last_number, crashes, name, .. } = self;
        let (control, sockets) = (self.control.unwrap_or(-1), sockets_to_text(&self.sockets));
        let workers = self.workers.iter().map(ToString::to_string).collect::<Vec<_>>().join("/");
        let urls = self.urls.iter().map(|url| format!("url {url}\n"));
        let levels = self.level_changes.iter().map(|change| format!("level {change}\n"));
        let raises = self.raises.iter().map(|raise| format!("raise {}\n", raise.to_line()));
        let swaps = [("swaps", self.swaps), ("replaced", self.replaced)];
        let swaps = swaps.map(|(name, number)| format!("{name} {number}\n"));
        let previous = self.previous.iter().map(|version| format!("previous {version}\n"));
        let last = self.last_swap.iter().map(|(age, outcome)| {
            let (word, text) = outcome.as_ref().map_or_else(|text| ("failed", text), |text| ("swapped", text));
            // An environment variable has no NUL.
            format!("{word} {age} {}", encode_line(&text.replace('\0', "")))
        });
        let exporter = self.status.process.iter().map(|process| format!("status-process {process}\n"));
        let lists = urls.chain(levels).chain(raises).chain(swaps).chain(previous).chain(last).chain(exporter);
        let lists: String = lists.collect();
        let (metrics, status) = (self.status.metrics.unwrap_or(-1), self.status.socket.unwrap_or(-1));
        format!(
            "{process}\n{last_number}\n{crashes}\n{name}\n{control}\n{sockets}\n{metrics}\n{status}\n{workers}\n{lists}"
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut state = Self {
            process: lines.next()?.parse().ok()?,
            last_number: lines.next()?.parse().ok()?,
            crashes: lines.next()?.parse().ok()?,
            name: lines.next()?.to_owned(),
            control: lines.next()?.parse().ok().filter(|fd| *fd >= 0),
            sockets: sockets_of_text(lines.next()?)?,
            status: InheritedStatus {
                metrics: lines.next()?.parse().ok().filter(|fd| *fd >= 0),
                socket: lines.next()?.parse().ok().filter(|fd| *fd >= 0),
                process: None,
            },
            workers: lines.next()?.split_terminator('/').map(InheritedWorker::parse).collect::<Option<_>>()?,
            ..Self::default()
        };
        for line in lines {
            match line.split_once(' ')? {
                ("url", url) => state.urls.push(url.to_owned()),
                ("level", change) => state.level_changes.push(change.parse().ok()?),
                ("raise", raise) => state.raises.push(Raise::of_line(raise)?),
                ("swaps", number) => state.swaps = number.parse().ok()?,
                ("replaced", number) => state.replaced = number.parse().ok()?,
                ("previous", version) => state.previous = Some(version.to_owned()),
                (word @ ("swapped" | "failed"), rest) => {
                    let (age, text) = rest.split_once(' ')?;
                    let text = decode_line(text);
                    state.last_swap = Some((age.parse().ok()?, if word == "swapped" { Ok(text) } else { Err(text) }));
                }
                ("status-process", process) => state.status.process = process.parse().ok(),
                // A later version has more to say, and an earlier one does without it.
                _ => {}
            }
        }
        Some(state)
    }
}

impl InheritedWorker {
    fn of(worker: &WorkerHandle, serving: bool) -> Self {
        Self {
            serving,
            number: worker.number,
            pid: worker.pid.as_raw_nonzero().get(),
            channel: worker.channel.as_raw_fd(),
            scoreboard: worker.scoreboard.file().as_raw_fd(),
            slots: worker.scoreboard.slots().len(),
            last_lines: worker.last_lines.as_ref().map(AsRawFd::as_raw_fd),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let worker = Self {
            serving: words.next()? == "1",
            number: words.next()?.parse().ok()?,
            pid: words.next()?.parse().ok()?,
            channel: words.next()?.parse().ok()?,
            scoreboard: words.next()?.parse().ok()?,
            slots: words.next()?.parse().ok()?,
            // An earlier version does not say it.
            last_lines: words.next().map(str::parse).transpose().ok()?,
        };
        words.next().is_none().then_some(worker)
    }
}

impl std::fmt::Display for InheritedWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { serving, number, pid, channel, scoreboard, slots, last_lines } = self;
        write!(f, "{} {number} {pid} {channel} {scoreboard} {slots}", u8::from(*serving))?;
        last_lines.map_or(Ok(()), |file| write!(f, " {file}"))
    }
}

/// Fails if the new version rejects its settings: it must not take over this process then.
pub(super) fn check_settings(supervisor: &Supervisor) -> Result<(), String> {
    let mut command = supervisor.executable.command();
    command.args(std::env::args_os().skip(1)).arg("--print-config").stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

/// Executes the new version in this process. Returns only if that fails.
pub(super) fn execute(supervisor: &mut Supervisor) {
    supervisor.abandon_status_queries();
    // The new program starts one of its own.
    supervisor.stop_status();
    match hand_over(supervisor) {
        Ok(state) => {
            let mut command = supervisor.executable.command();
            command.args(std::env::args_os().skip(1)).env(VARIABLE, state.to_text());
            command.arg0(&supervisor.executable.path);
            let error = command.exec();
            tracing::error!(%error, "the supervisor was not upgraded: cannot execute the new version");
        }
        Err(error) => tracing::error!(%error, "the supervisor was not upgraded"),
    }
    let _ = set_everything_inheritable(supervisor, false);
}

fn hand_over(supervisor: &Supervisor) -> io::Result<UpgradeState> {
    set_everything_inheritable(supervisor, true)?;
    let serving = supervisor.serving.iter().map(|worker| InheritedWorker::of(worker, true));
    let retiring = supervisor.retiring.iter().map(|worker| InheritedWorker::of(worker, false));
    let status = supervisor.status_process.as_ref();
    Ok(UpgradeState {
        process: std::process::id(),
        last_number: supervisor.last_number,
        crashes: supervisor.crashes,
        name: supervisor.name.clone(),
        control: supervisor.control.as_ref().map(|control| control.as_fd().as_raw_fd()),
        sockets: supervisor.sockets.iter().map(|thread| thread.iter().map(AsRawFd::as_raw_fd).collect()).collect(),
        status: InheritedStatus {
            metrics: supervisor.metrics.as_ref().map(|metrics| metrics.file().as_raw_fd()),
            socket: status.and_then(StatusProcess::socket).map(AsRawFd::as_raw_fd),
            process: status.and_then(StatusProcess::process).map(|pid| pid.as_raw_nonzero().get()),
        },
        workers: serving.chain(retiring).collect(),
        urls: supervisor.urls.clone(),
        level_changes: supervisor.level_changes.clone(),
        raises: supervisor.raises.clone(),
        swaps: supervisor.swaps,
        replaced: supervisor.replaced,
        previous: supervisor.previous.clone(),
        last_swap: supervisor.last_swap.clone().map(|(at, outcome)| (millis(at.elapsed()), outcome)),
    })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Lets file descriptors survive the execution of another program, or not.
fn set_everything_inheritable(supervisor: &Supervisor, yes: bool) -> io::Result<()> {
    set_all_inheritable(&supervisor.sockets, yes)?;
    if let Some(control) = &supervisor.control {
        set_inheritable(control, yes)?;
    }
    if let Some(metrics) = &supervisor.metrics {
        set_inheritable(metrics.file(), yes)?;
    }
    if let Some(socket) = supervisor.status_process.as_ref().and_then(|status| status.socket()) {
        set_inheritable(socket, yes)?;
    }
    for worker in supervisor.serving.iter().chain(&supervisor.retiring) {
        set_inheritable(&worker.channel, yes)?;
        set_inheritable(worker.scoreboard.file(), yes)?;
        worker.last_lines.as_ref().map(|file| set_inheritable(file, yes)).transpose()?;
    }
    Ok(())
}

impl Supervisor {
    /// Continues after an upgrade.
    pub(super) fn resume(config: Config, logs: Logs, state: UpgradeState) -> Result<Self, StartError> {
        let take = |fd: &RawFd| sys::take_inherited(*fd);
        let of_thread = |thread: &Vec<RawFd>| thread.iter().map(take).collect::<io::Result<Vec<OwnedFd>>>();
        let sockets = state.sockets.iter().map(of_thread).collect::<io::Result<_>>()?;
        let control =
            state.control.as_ref().map(|fd| Control::inherit(UnixListener::from(take(fd)?), &config)).transpose()?;
        // The process id is the same as before.
        let pid_file = config.pid_file.clone().map(PidFile);
        let paths = state.urls.iter().filter_map(|url| url.strip_prefix("unix:"));
        // A socket file that somebody has removed need not be removed at exit.
        let files = paths.filter_map(|path| SocketFile::at(Path::new(path)).ok()).collect();
        let mut supervisor =
            Self::new(state.name, (config, logs), state.urls, sockets, (files, OwnFiles { control, pid_file }))?;
        supervisor.last_number = state.last_number;
        supervisor.crashes = state.crashes;
        supervisor.was_ready = true;
        state.level_changes.iter().for_each(LevelChange::apply);
        supervisor.level_changes = state.level_changes;
        supervisor.raises = state.raises;
        supervisor.swaps = state.swaps;
        supervisor.replaced = state.replaced;
        supervisor.previous = state.previous;
        let before = |age| Instant::now().checked_sub(Duration::from_millis(age));
        supervisor.last_swap = state.last_swap.and_then(|(age, outcome)| Some((before(age)?, outcome)));
        let is_reset = supervisor.resume_status(&state.status)?;
        for inherited in state.workers {
            let Some(pid) = Pid::from_raw(inherited.pid) else { continue };
            let scoreboard = Scoreboard::open(take(&inherited.scoreboard)?, inherited.slots)?;
            let (executable, channel) = (Rc::clone(&supervisor.executable), take(&inherited.channel)?);
            let shared = (scoreboard, inherited.last_lines.as_ref().map(take).transpose()?);
            let mut worker = WorkerHandle::new(inherited.number, pid, &executable, channel, shared);
            worker.ready = Some(worker.started);
            if inherited.serving {
                supervisor.serving = Some(worker);
                supervisor.start_at = None;
            } else {
                supervisor.await_exit(worker);
            }
        }
        tracing::info!("the supervisor runs version {} now", supervisor.executable.version());
        supervisor.systemd.ready(&format!("listens on {}", supervisor.urls.join(" and ")));
        if is_reset && supervisor.serving.is_some() {
            // The one that serves could not count in the memory that it was given.
            supervisor.replace()?;
        }
        Ok(supervisor)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/supervisor/upgrade.rs"]
mod tests;
