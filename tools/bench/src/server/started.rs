//! A server that we started: in a group of its own, on its core, and ended whatever happens.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

use super::launch::{self, Launch};
use super::proc::Watched;
use crate::core::Bound;
use crate::interrupt;

/// How long a server may take to end when asked to.
const GRACE: Duration = Duration::from_secs(12);

/// Between two tries to reach it.
const PAUSE: Duration = Duration::from_micros(200);

/// A server that we started. It ends when this is dropped, with all its processes and its folder.
///
/// ```
/// use std::time::Duration;
/// use skep_bench::server::{Launch, Started};
///
/// let launch: Launch = "sleep 60".parse()?;
/// let mut server = Started::spawn(&launch, None)?;
/// // A server is asked until it answers; this one is there when it is there.
/// let (answer, took) = server.wait(Duration::from_secs(5), || Ok::<_, String>("hello"))?;
/// assert_eq!((answer, server.watched().count()?), ("hello", 1));
/// # let _ = took;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Started {
    child: Child,
    line: String,
    dir: PathBuf,
    port: u16,
    begun: Instant,
}

impl Started {
    /// Starts it in a folder of its own and in a process group of its own, on this core, if one is named. What it
    /// writes goes into files in its folder.
    pub fn spawn(launch: &Launch, core: Option<usize>) -> Result<Self, String> {
        let wrong = |error: io::Error| format!("{} does not start: {error}", launch.program());
        let port = free_port().map_err(wrong)?;
        let dir = folder().map_err(|error| format!("no folder for {}: {error}", launch.program()))?;
        let mut command = launch.command(port, &dir);
        command.stdin(Stdio::null()).process_group(0);
        command.stdout(File::create(dir.join("stdout")).map_err(wrong)?);
        command.stderr(File::create(dir.join("stderr")).map_err(wrong)?);
        let _bound = core.map(Bound::to).transpose()?;
        let begun = Instant::now();
        let child = command.spawn().map_err(|error| {
            let _ = fs::remove_dir_all(&dir);
            wrong(error)
        })?;
        Ok(Self { child, line: launch.line().to_owned(), dir, port, begun })
    }

    /// Asks until there is an answer: it, and how long that took since the start. Without an answer, the error has what
    /// it wrote.
    pub fn wait<T, E: std::fmt::Display>(
        &mut self,
        patience: Duration,
        mut ask: impl FnMut() -> Result<T, E>,
    ) -> Result<(T, Duration), String> {
        loop {
            let refused = match ask() {
                Ok(answer) => return Ok((answer, self.begun.elapsed())),
                Err(refused) => refused,
            };
            let ended = self.child.try_wait().map_err(|error| error.to_string())?;
            if interrupt::is_asked() {
                return Err("ended by a signal".into());
            }
            if ended.is_none() && self.begun.elapsed() < patience {
                thread::sleep(PAUSE);
                continue;
            }
            let why =
                ended.map_or_else(|| format!("no good answer in {patience:?}: {refused}"), |status| status.to_string());
            return Err(format!("`{}` does not serve ({why}). It wrote:\n{}", self.line, self.written()));
        }
    }

    /// The port that was filled in. See [`Started`].
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its folder. See [`Started`].
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A text with port and folder in their places. See [`Started`].
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        launch::fill(text, self.port, &self.dir)
    }

    /// All its processes. See [`Started`].
    #[must_use]
    pub fn watched(&self) -> Watched {
        Watched::leader(self.child.id())
    }

    /// Whether it still runs. See [`Started`].
    pub fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The end of what it wrote to stderr, or else to stdout. See [`Started`].
    #[must_use]
    pub fn written(&self) -> String {
        let read = |name| fs::read(self.dir.join(name)).unwrap_or_default();
        let text = [read("stderr"), read("stdout")].into_iter().find(|text| !text.is_empty()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        if lines.is_empty() { "(nothing)".to_owned() } else { lines[lines.len().saturating_sub(20)..].join("\n") }
    }

    /// Empties what it wrote: an access log grows by megabytes a second. See [`Started`].
    pub fn forget_output(&self) {
        for name in ["stdout", "stderr"] {
            let file = File::options().write(true).open(self.dir.join(name));
            let _ = file.and_then(|file| file.set_len(0));
        }
    }

    /// The leader is asked first: it knows best how its processes end. Then the group, then nobody is asked.
    fn stop(&mut self) {
        let leader = Pid::from_child(&self.child);
        let _ = kill_process(leader, Signal::TERM);
        if self.has_ended(GRACE, false) {
            let _ = kill_process_group(leader, Signal::TERM);
        }
        if !self.has_ended(GRACE, true) {
            eprintln!("`{}` did not end on SIGTERM and was killed", self.line);
            let _ = kill_process_group(leader, Signal::KILL);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn has_ended(&mut self, grace: Duration, all: bool) -> bool {
        let group = Pid::from_child(&self.child);
        let asked = Instant::now();
        while asked.elapsed() < grace {
            if !self.runs() && (!all || test_kill_process_group(group).is_err()) {
                return true;
            }
            thread::sleep(Duration::from_millis(2));
        }
        false
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A port of loopback that nobody has. Between now and a server's start somebody could take it; then the server says
/// so.
///
/// See [`Started::port`].
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// A new folder, for this user only.
fn folder() -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("skep-bench-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let dir = std::env::temp_dir().join(name);
    fs::DirBuilder::new().mode(0o700).create(&dir)?;
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processes_end_and_the_folder_is_gone() {
        let launch: Launch = "sh -c 'sleep 60 & sleep 60 & echo up > {dir}/up; wait'".parse().unwrap();
        let mut server = Started::spawn(&launch, None).unwrap();
        let up = server.dir().join("up");
        server.wait(Duration::from_secs(10), || if up.exists() { Ok(()) } else { Err("not yet") }).unwrap();
        let (dir, group) = (server.dir().to_owned(), Pid::from_child(&server.child));
        assert_eq!(server.watched().count().unwrap(), 3);
        drop(server);
        assert!(!dir.exists() && test_kill_process_group(group).is_err());
    }

    #[test]
    fn a_server_that_dies_shows_what_it_wrote() {
        let launch: Launch = "sh -c 'echo no such table >&2; exit 3'".parse().unwrap();
        let mut server = Started::spawn(&launch, None).unwrap();
        let error = server.wait(Duration::from_secs(10), || Err::<(), _>("refused")).unwrap_err();
        assert!(error.contains("exit status: 3") && error.ends_with("no such table"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let launch: Launch = "./no-such-server {port}".parse().unwrap();
        let error = Started::spawn(&launch, None).unwrap_err();
        assert!(error.starts_with("./no-such-server does not start"), "{error}");
    }
}
