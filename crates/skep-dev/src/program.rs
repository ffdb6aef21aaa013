//! The executable of the application: how it is called, what it says, and where it adds mails.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use skep_units::lock;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Command;

use crate::build::show;
use crate::tls::Upstream;

/// The number of lines of its log that are there to be looked at, and of those that are shown if it ends.
const LINES: usize = 1000;
const LAST_LINES: usize = 60;

/// Names the file to which the application adds each mail, as a line of JSON.
const MAILS: &str = "MAILS_OF_SKEP_DEV";

/// What is started, and what may be known of it while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// A name of its own for the executable, since cargo replaces the other one while it builds.
    executable: PathBuf,
    arguments: Vec<OsString>,
    mails: PathBuf,
    log: Log,
}

/// The last lines of its log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<VecDeque<String>>>);

impl Program {
    /// It will listen there, behind this command at `front`, which no other one has.
    pub(crate) fn new(executable: PathBuf, front: SocketAddr, upstream: &Upstream, arguments: &[OsString]) -> Self {
        let mails = executable.with_extension(format!("{front}.mails"));
        let ours = [format!("listen={}", upstream.address), "supervise=true".to_owned()];
        let tls = upstream.tls.iter().flat_map(|tls| tls.settings().to_vec());
        let ours = ours.into_iter().chain(tls).flat_map(|setting| [OsString::from("--set"), OsString::from(setting)]);
        let arguments = arguments.iter().cloned().chain(ours).collect();
        Self { executable, arguments, mails, log: Log::default() }
    }

    /// The file to which the application adds mails.
    pub(crate) fn mails(&self) -> PathBuf {
        self.mails.clone()
    }

    /// The last lines of its log.
    pub(crate) fn log(&self) -> Vec<String> {
        lock(&self.log.0).iter().cloned().collect()
    }

    /// Forgets what the run before said.
    pub(crate) fn begin_log(&self) -> Log {
        lock(&self.log.0).clear();
        self.log.clone()
    }

    /// Why it ended: what it said last.
    pub(crate) fn reason(&self, status: io::Result<ExitStatus>) -> String {
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let lines = lock(&self.log.0);
        let last: Vec<&str> = lines.range(lines.len().saturating_sub(LAST_LINES)..).map(String::as_str).collect();
        if last.is_empty() { format!("it ended: {status}") } else { last.join("\n") }
    }

    /// What it says of its routes.
    pub(crate) async fn routes(&self) -> Option<String> {
        let output = self.ask(&["--routes"]).await.ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    }

    /// Gives the built file the name that is started.
    pub(crate) fn take(&self, built: &Path) -> io::Result<()> {
        let folder = self.executable.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let new = self.executable.with_extension("new");
        let _ = fs::remove_file(&new);
        fs::hard_link(built, &new).or_else(|_| fs::copy(built, &new).map(drop))?;
        fs::rename(new, &self.executable)
    }

    /// Runs the executable for something else than serving, under the same settings.
    pub(crate) async fn ask(&self, arguments: &[&str]) -> Result<std::process::Output, String> {
        let mut command = self.command();
        command.args(arguments).kill_on_drop(true).output().await.map_err(|error| self.wrong(&error))
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        // A server takes each variable that begins so for a setting.
        command.args(&self.arguments).env_remove("SKEP_EDITOR").env(MAILS, &self.mails).stdin(Stdio::null());
        command
    }

    pub(crate) fn wrong(&self, error: &io::Error) -> String {
        format!("{}: {error}", self.executable.display())
    }
}

impl Log {
    /// Passes the log on to the terminal.
    pub(crate) async fn follow(self, log: impl AsyncRead + Unpin) {
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
