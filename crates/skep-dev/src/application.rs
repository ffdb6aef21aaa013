//! The running application: started, swapped and stopped.
//!
//! It is the server's own supervisor that swaps: the version before answers until the new one is ready. Readiness is
//! what the supervisor reports as to systemd (`sd_notify(3)`).

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram as StdDatagram};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::Signal;
use skep_units::lock;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::net::UnixDatagram;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::build::{Group, show};

/// How long it may take to finish what it is at when all ends.
const GRACE: Duration = Duration::from_secs(3);

/// The number of lines of its log that are shown if it ends.
const LINES: usize = 60;

/// The application, whether it runs or not.
#[derive(Debug)]
pub(crate) struct Application {
    /// What is started: a name of its own for the executable, since cargo replaces the other one while it builds.
    executable: PathBuf,
    arguments: Vec<OsString>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    group: Group,
    tail: Tail,
}

/// The last lines of its log.
#[derive(Clone, Debug, Default)]
struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Application {
    /// It will listen on `address`.
    pub(crate) fn new(executable: PathBuf, address: SocketAddr, arguments: &[OsString]) -> Self {
        let ours = [format!("listen={address}"), "supervise=true".to_owned()];
        let ours = ours.into_iter().flat_map(|setting| [OsString::from("--set"), OsString::from(setting)]);
        Self { executable, arguments: arguments.iter().cloned().chain(ours).collect(), running: None }
    }

    pub(crate) fn runs(&self) -> bool {
        self.running.is_some()
    }

    /// Has it run what was built: by a swap, or by a start. The error is why it does not, for people.
    pub(crate) async fn run(&mut self, built: &Path) -> Result<(), String> {
        self.take(built).map_err(|error| format!("{}: {error}", self.executable.display()))?;
        self.load().await
    }

    /// Has it read its settings again.
    pub(crate) async fn load(&mut self) -> Result<(), String> {
        if self.running.as_mut().is_some_and(|running| matches!(running.child.try_wait(), Ok(Some(_)))) {
            self.forget();
        }
        let loaded = if self.runs() { self.swap().await } else { self.start().await };
        match loaded {
            Ok(()) => Ok(()),
            Err(reason) => Err(self.with_all_problems(reason).await),
        }
    }

    /// Gives the built file the name that is started.
    fn take(&self, built: &Path) -> io::Result<()> {
        let folder = self.executable.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let new = self.executable.with_extension("new");
        let _ = fs::remove_file(&new);
        fs::hard_link(built, &new).or_else(|_| fs::copy(built, &new).map(drop))?;
        fs::rename(new, &self.executable)
    }

    async fn start(&mut self) -> Result<(), String> {
        // Abstract: it has no file that could be left.
        let name = format!("skep-dev-{}", std::process::id());
        let notified = UnixAddress::from_abstract_name(&name).and_then(|name| StdDatagram::bind_addr(&name));
        let notified = notified.and_then(|socket| {
            socket.set_nonblocking(true)?;
            UnixDatagram::from_std(socket)
        });
        let notified = notified.map_err(|error| format!("no socket for readiness: {error}"))?;
        let mut command = self.command();
        command.env("NOTIFY_SOCKET", format!("@{name}")).process_group(0).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.executable.display()))?;
        let group = Group::of(&child).ok_or("the application ended at once")?;
        let tail = Tail::default();
        let log = child.stderr.take().map(|stderr| tokio::spawn(tail.clone().follow(stderr)));
        let running = self.running.insert(Running { child, group, tail });
        tokio::select! {
            () = is_ready(&notified) => Ok(()),
            status = running.child.wait() => {
                if let Some(log) = log {
                    let _ = timeout(GRACE, log).await;
                }
                let reason = running.reason(status);
                self.forget();
                Err(reason)
            }
        }
    }

    async fn swap(&self) -> Result<(), String> {
        let output = self.ask(&["--control", "swap --allow-breaking-migration"]).await?;
        let reply = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(reason_of(&reply).to_owned()) }
    }

    /// The reason, and all else that `--check` finds: a start ends at its first problem.
    async fn with_all_problems(&self, reason: String) -> String {
        let Ok(output) = self.ask(&["--check"]).await else { return reason };
        if output.status.success() {
            return reason;
        }
        // A worker names files by whole paths, and `--check` as they are set.
        let here = std::env::current_dir().map(|here| format!("{}/", here.display())).unwrap_or_default();
        let reason = if here.is_empty() { reason } else { reason.replace(&here, "") };
        let found = String::from_utf8_lossy(&output.stderr).into_owned();
        let others = found.lines().filter(|line| !reason.contains(line.trim()));
        std::iter::once(&*reason).chain(others).collect::<Vec<_>>().join("\n")
    }

    /// The number of its routes.
    pub(crate) async fn count_routes(&self) -> Option<usize> {
        let output = self.ask(&["--routes"]).await.ok().filter(|output| output.status.success())?;
        Some(output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count())
    }

    /// Runs the executable for something else than serving, under the same settings.
    async fn ask(&self, arguments: &[&str]) -> Result<std::process::Output, String> {
        let mut command = self.command();
        command
            .args(arguments)
            .kill_on_drop(true)
            .output()
            .await
            .map_err(|error| format!("{}: {error}", self.executable.display()))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        // A server takes each variable that begins so for a setting.
        command.args(&self.arguments).env_remove("SKEP_EDITOR").stdin(Stdio::null());
        command
    }

    /// Waits until it ends by itself, for which the result is the reason; for ever if it does not run.
    pub(crate) async fn ended(&mut self) -> String {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let status = running.child.wait().await;
        let reason = running.reason(status);
        self.forget();
        reason
    }

    /// Ends it, and all that it started.
    pub(crate) async fn stop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        // The supervisor alone: it lets its workers finish.
        let _ = rustix::process::kill_process(running.group.0, Signal::TERM);
        if timeout(GRACE, running.child.wait()).await.is_err() {
            running.group.signal(Signal::KILL);
            let _ = running.child.wait().await;
        }
        std::mem::forget(running.group);
    }

    /// It was waited for: its number may be another's by now.
    fn forget(&mut self) {
        if let Some(running) = self.running.take() {
            std::mem::forget(running.group);
        }
    }
}

impl Running {
    fn reason(&self, status: io::Result<ExitStatus>) -> String {
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let lines: Vec<String> = lock(&self.tail.0).drain(..).collect();
        if lines.is_empty() { format!("it ended: {status}") } else { lines.join("\n") }
    }
}

impl Tail {
    /// Passes the log on to the terminal.
    async fn follow(self, log: impl AsyncRead + Unpin) {
        let mut log = BufReader::new(log);
        let mut line = Vec::new();
        while let Ok(1..) = log.read_until(b'\n', &mut line).await {
            show(&line).await;
            let mut lines = lock(&self.0);
            lines.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
            if lines.len() > LINES {
                lines.pop_front();
            }
            line.clear();
        }
    }
}

/// `not swapped: REASON; version V keeps serving`.
fn reason_of(reply: &str) -> &str {
    let reason = reply.trim().trim_start_matches("not swapped: ");
    let cut = reason.rsplit_once("; version ").filter(|(_, rest)| rest.ends_with("keeps serving"));
    cut.map_or(reason, |(reason, _)| reason)
}

/// Waits for `READY=1`.
async fn is_ready(socket: &UnixDatagram) {
    let mut message = [0; 4096];
    loop {
        match socket.recv(&mut message).await {
            Ok(count) if message[..count].split(|byte| *byte == b'\n').any(|line| line == b"READY=1") => return,
            Ok(_) => {}
            Err(_) => std::future::pending().await,
        }
    }
}
