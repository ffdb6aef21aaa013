//! The process that serves the status page and metrics and exports them, as its supervisor sees it.
//!
//! It is no worker: it runs no code of the application, and the server serves without it. It is the same executable,
//! started with a listening socket and the memory that workers count in; for all else it asks on the control socket, as
//! any operator does. So it shows a crash loop or a failed swap also while no worker serves.

use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitStatus, kill_process};
use skep_observe::metrics::Metrics;

use super::Supervisor;
use crate::config::Config;
use crate::error::StartError;
use crate::executable::Executable;
use crate::handoff::{STOP_EXPORTER, StatusHandoff, TITLE_LENGTH, set_inheritable};
use crate::listener::{BoundAddress, Listeners, SocketFile, take};
use crate::{procfs, sys};

/// How long the last spans are waited for at shutdown.
const LAST_SPANS: Duration = Duration::from_secs(5);

/// How long the next process waits after one has crashed.
const RESTART_DELAY: Duration = Duration::from_secs(2);

/// What a supervisor had of this before an upgrade: the memory of metrics, the listening socket, and the process that
/// ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InheritedStatus {
    pub(super) metrics: Option<RawFd>,
    pub(super) socket: Option<RawFd>,
    pub(super) process: Option<i32>,
}

/// The process, its socket, and when the next one starts.
#[derive(Debug)]
pub(crate) struct StatusProcess {
    /// None if the process only exports.
    socket: Option<OwnedFd>,
    pub(super) url: Option<String>,
    /// Its executable is not known if it was started before an upgrade.
    process: Option<(Pid, Option<Rc<Executable>>)>,
    start_at: Option<Instant>,
    /// At shutdown: until when it may send the last spans.
    stops_by: Option<Instant>,
}

impl StatusProcess {
    /// Binds the address, if there is one, and starts nothing.
    pub(super) fn bind(config: &Config) -> Result<(Option<Self>, Vec<SocketFile>), StartError> {
        let exporter = config.otlp.is_on().then(|| Self::new(None));
        let Some(address) = &config.status.listen.0 else { return Ok((exporter, Vec::new())) };
        let mut listeners = Listeners::bind(std::slice::from_ref(address), false, 1, config.backlog)?;
        let socket = listeners.workers.pop().and_then(|mut sockets| sockets.pop());
        let listening = socket.zip(listeners.reached.first());
        Ok((listening.map(|(socket, at)| Self::new(Some((socket.socket, at)))), listeners.files))
    }

    fn new(listening: Option<(OwnedFd, &BoundAddress)>) -> Self {
        let (socket, url) = listening.map(|(socket, at)| (socket, at.url(false))).unzip();
        Self { socket, url, process: None, start_at: Some(Instant::now()), stops_by: None }
    }

    pub(super) fn socket(&self) -> Option<&OwnedFd> {
        self.socket.as_ref()
    }

    /// The process that runs, and ends if it was asked to.
    pub(super) fn process(&self) -> Option<Pid> {
        self.process.as_ref().map(|(pid, _)| *pid)
    }

    pub(super) fn start_at(&self) -> Option<Instant> {
        self.start_at
    }

    fn spawn(&self, executable: &Executable, metrics: &Metrics) -> io::Result<Pid> {
        // This process has one thread, so nothing else is executed while these are inheritable.
        let handoff = StatusHandoff {
            supervisor: std::process::id(),
            listener: self.socket.as_ref().map(|socket| set_inheritable(socket, true)).transpose()?,
            metrics: set_inheritable(metrics.file(), true)?,
        };
        let title = "skep: status";
        let mut command = executable.command();
        command.arg0(format!("{title:<TITLE_LENGTH$}")).args(std::env::args_os().skip(1));
        command.env(StatusHandoff::VARIABLE, handoff.to_string());
        let spawned = command.spawn();
        self.socket.as_ref().map(|socket| set_inheritable(socket, false)).transpose()?;
        set_inheritable(metrics.file(), false)?;
        Ok(Pid::from_child(&spawned?))
    }
}

impl Supervisor {
    pub(super) fn start_status_if_due(&mut self) {
        let Some((status, metrics)) = self.status_process.as_mut().zip(self.metrics.as_ref()) else { return };
        let is_due = status.process.is_none() && status.start_at.is_some_and(|at| at <= Instant::now());
        if !is_due || self.shutdown.is_some() {
            return;
        }
        status.start_at = None;
        match status.spawn(&self.executable, metrics) {
            Ok(pid) => status.process = Some((pid, Some(Rc::clone(&self.executable)))),
            Err(error) => {
                tracing::error!(%error, "the status page is not served: its process cannot be started");
                status.start_at = Some(Instant::now() + RESTART_DELAY);
            }
        }
    }

    /// True if this was the process; another one takes its place.
    pub(super) fn on_status_exit(&mut self, pid: Pid, how: WaitStatus) -> bool {
        let Some(status) = &mut self.status_process else { return false };
        let Some((_, executable)) = status.process.take_if(|(known, _)| *known == pid) else { return false };
        if self.shutdown.is_some() {
            return true;
        }
        let was_stopped = executable.is_none_or(|executable| !Rc::ptr_eq(&executable, &self.executable));
        if !was_stopped {
            tracing::error!("the process of the status page crashed: {}", procfs::describe_exit(how));
        }
        let delay = if was_stopped { Duration::ZERO } else { RESTART_DELAY };
        status.start_at = Some(Instant::now() + delay);
        true
    }

    /// Ends the process at shutdown, at once if it has no spans to send.
    pub(super) fn stop_status_unless_exporting(&self) {
        if !self.config.otlp.is_on() {
            self.stop_status();
        }
    }

    /// True until the process that exports has sent what the last workers left, or had its time for it.
    pub(super) fn waits_for_exporter(&mut self) -> bool {
        let exports = self.config.otlp.is_on();
        let Some(status) = self.status_process.as_mut().filter(|status| exports && status.process.is_some()) else {
            return false;
        };
        if let Some(by) = status.stops_by {
            return Instant::now() < by;
        }
        status.stops_by = Some(Instant::now() + LAST_SPANS);
        self.stop_status();
        true
    }

    /// Ends the process: at shutdown, and when the version changes. One that exports sends what is left first.
    pub(super) fn stop_status(&self) {
        if let Some((pid, _)) = self.status_process.as_ref().and_then(|status| status.process.as_ref()) {
            let signal = if self.config.otlp.is_on() { STOP_EXPORTER } else { Signal::TERM };
            let _ = kill_process(*pid, signal);
        }
    }

    /// A worker serves; `before` is the version of the last one.
    pub(super) fn note_version(&mut self, before: &Rc<Executable>, is_swap: bool) {
        if is_swap && !before.is_same(&self.executable) {
            self.previous = Some(before.version());
        }
        let process = self.status_process.as_ref().and_then(|status| status.process.as_ref());
        let executable = process.and_then(|(_, executable)| executable.as_ref());
        if executable.is_some_and(|executable| !Rc::ptr_eq(executable, &self.executable)) {
            self.stop_status();
        }
    }

    /// Continues after an upgrade. True if this version counts in another way: then it counts from 0, in memory that no
    /// worker has yet.
    pub(super) fn resume_status(&mut self, before: &InheritedStatus) -> Result<bool, StartError> {
        let Some(metrics) = before.metrics else { return Ok(false) };
        let metrics = Metrics::open(sys::take_inherited(metrics)?)?;
        let is_reset = metrics.is_none();
        if is_reset {
            tracing::warn!("requests are counted from 0 again: this version counts in another way");
        }
        let metrics = metrics.map_or_else(|| Metrics::new(&self.config.queues()), Ok)?;
        let listening = before.socket.map(take).transpose()?;
        if let Some((_, BoundAddress::Unix(path))) = &listening {
            self.files.extend(SocketFile::at(path));
        }
        let metrics = Arc::new(metrics);
        metrics.take_log_records();
        self.metrics = Some(metrics);
        let (listener, at) = listening.unzip();
        let mut status = StatusProcess::new(listener.map(|listener| listener.socket).zip(at.as_ref()));
        if let Some(pid) = before.process.and_then(Pid::from_raw) {
            // It sends its last spans, and two would take the same ones from the queue.
            status.process = Some((pid, None));
            status.start_at = None;
        }
        self.status_process = Some(status);
        self.stop_status();
        Ok(is_reset)
    }
}
