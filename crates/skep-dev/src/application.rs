//! The running application: started, swapped and stopped.
//!
//! It is the server's own supervisor that swaps: the version before answers until the new one is ready. Readiness is
//! what the supervisor reports as to systemd (`sd_notify(3)`).

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram as StdDatagram};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use tokio::net::UnixDatagram;
use tokio::process::Child;
use tokio::time::timeout;

use crate::build::Group;
use crate::program::Program;

/// How long it may take to finish what it is at when all ends.
const GRACE: Duration = Duration::from_secs(3);

/// The application, whether it runs or not.
#[derive(Debug)]
pub(crate) struct Application {
    program: Program,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    group: Group,
}

impl Application {
    pub(crate) fn new(program: Program) -> Self {
        Self { program, running: None }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn runs(&self) -> bool {
        self.running.is_some()
    }

    /// Has it run what was built: by a swap, or by a start. The error is why it does not, for people.
    pub(crate) async fn run(&mut self, built: &Path) -> Result<(), String> {
        self.program.take(built).map_err(|error| self.program.wrong(&error))?;
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

    async fn start(&mut self) -> Result<(), String> {
        // Abstract: it has no file that could be left.
        let name = format!("skep-dev-{}", std::process::id());
        let notified = UnixAddress::from_abstract_name(&name).and_then(|name| StdDatagram::bind_addr(&name));
        let notified = notified.and_then(|socket| {
            socket.set_nonblocking(true)?;
            UnixDatagram::from_std(socket)
        });
        let notified = notified.map_err(|error| format!("no socket for readiness: {error}"))?;
        let mut command = self.program.command();
        command.env("NOTIFY_SOCKET", format!("@{name}")).process_group(0).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| self.program.wrong(&error))?;
        let group = Group::of(&child).ok_or("the application ended at once")?;
        let log = child.stderr.take().map(|stderr| tokio::spawn(self.program.begin_log().follow(stderr)));
        let running = self.running.insert(Running { child, group });
        tokio::select! {
            () = is_ready(&notified) => Ok(()),
            status = running.child.wait() => {
                if let Some(log) = log {
                    let _ = timeout(GRACE, log).await;
                }
                let reason = self.program.reason(status);
                self.forget();
                Err(reason)
            }
        }
    }

    async fn swap(&self) -> Result<(), String> {
        let output = self.program.ask(&["--control", "swap --allow-breaking-migration"]).await?;
        let reply = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(reason_of(&reply).to_owned()) }
    }

    /// The reason, and all else that `--check` finds: a start ends at its first problem.
    async fn with_all_problems(&self, reason: String) -> String {
        let Ok(output) = self.program.ask(&["--check"]).await else { return reason };
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

    /// Waits until it ends by itself, for which the result is the reason; for ever if it does not run.
    pub(crate) async fn ended(&mut self) -> String {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let status = running.child.wait().await;
        let reason = self.program.reason(status);
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
