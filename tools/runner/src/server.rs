//! A server under measurement: started on its core, waited for, and ended.

use std::fs::{self, File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::Result;
use crate::cores;
use crate::experiment::Variant;
use crate::load;
use crate::program::StartOptions;
use crate::site::Site;
use skep_bench::server::{Watched, free_port};

/// How long a server may take until it answers: this is about one that hangs. A first start makes its database, and
/// compiles as many components as it has, one after the other.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long it may take to end when asked to.
const GRACE: Duration = Duration::from_secs(12);

/// Between two looks of what monitors it.
const SCRAPE: Duration = Duration::from_secs(1);

/// Between two tries to reach it.
const PAUSE: Duration = Duration::from_micros(100);

/// A running server. It ends when this is dropped.
pub(crate) struct Server {
    child: Child,
    dir: PathBuf,
    pub(crate) port: u16,
    second: u16,
    scraped: &'static [&'static str],
    /// From spawn to the first answer.
    pub(crate) took: Duration,
}

impl Server {
    /// Starts it, and returns when it has answered once. If it does not, the error has what it wrote to stderr.
    ///
    /// `label` names its directory: the same label finds the same data again.
    pub(crate) fn start(variant: &Variant, label: &str, site: &Site) -> Result<Self> {
        let place = StartOptions { port: free_port()?, second: free_port()?, dir: site.folder(label) };
        fs::create_dir_all(&place.dir)?;
        if let Some(database) = variant.program.database() {
            site.make_data(database, &place.dir)?;
        }
        let mut command = variant.program.command(&place, site)?;
        command.stdin(Stdio::null()).stdout(log(&place.dir, "stdout")?).stderr(log(&place.dir, "stderr")?);
        let begun = Instant::now();
        let child = spawn(&mut command).map_err(|error| format!("{} does not start: {error}", variant.name))?;
        let (scraped, StartOptions { port, second, dir }) = (variant.program.scraped(), place);
        let mut server = Self { child, dir, port, second, scraped, took: Duration::ZERO };
        server.wait(variant, begun)?;
        server.took = begun.elapsed();
        Ok(server)
    }

    fn wait(&mut self, variant: &Variant, begun: Instant) -> Result<()> {
        loop {
            // Who stands before another server answers with an error until that one is there.
            let unreachable = match load::ask_first(variant, self.port) {
                Ok(answer) if answer.status < 500 => return Ok(()),
                Ok(answer) => format!("status {}", answer.status),
                Err(unreachable) => unreachable.to_string(),
            };
            let ended = self.child.try_wait()?;
            if ended.is_none() && begun.elapsed() < PATIENCE {
                thread::sleep(PAUSE);
                continue;
            }
            let why =
                ended.map_or_else(|| format!("no answer in {PATIENCE:?}: {unreachable}"), |status| status.to_string());
            return Err(format!("{} does not start ({why}). It wrote:\n{}", variant.name, self.written()).into());
        }
    }

    /// Does some work while a thread fetches what monitoring fetches from this server, once a second.
    pub(crate) fn while_scraped<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.scraped.is_empty() {
            return work();
        }
        thread::scope(|scope| {
            let (over, is_over) = mpsc::channel::<()>();
            scope.spawn(move || {
                while is_over.recv_timeout(SCRAPE) == Err(RecvTimeoutError::Timeout) {
                    for path in self.scraped {
                        if !load::ask(self.second, path).is_ok_and(|answer| answer.status == 200) {
                            eprint!(" ({path} was not answered)");
                        }
                    }
                }
            });
            let done = work();
            drop(over);
            done
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// It, all of its group and all below it.
    pub(crate) fn watched(&self) -> Watched {
        Watched::leader(self.pid())
    }

    /// Empties what it wrote to stdout: an access log grows by megabytes a second.
    pub(crate) fn forget_output(&self) -> Result<()> {
        Ok(OpenOptions::new().write(true).open(self.dir.join("stdout"))?.set_len(0)?)
    }

    /// Ends what it left behind: a server has its own process group.
    fn sweep(&self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    /// The end of what it wrote to stderr.
    fn written(&self) -> String {
        let text = fs::read(self.dir.join("stderr")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        if lines.is_empty() { "(nothing)".to_owned() } else { lines[lines.len().saturating_sub(20)..].join("\n") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return self.sweep();
            }
            thread::sleep(Duration::from_millis(5));
        }
        eprintln!("process {} did not end on SIGTERM and was killed", self.pid());
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.sweep();
    }
}

/// Starts a program on the server's core.
pub(crate) fn spawn(command: &mut Command) -> Result<Child> {
    cores::bind(cores::SERVER)?;
    let child = command.process_group(0).spawn();
    cores::bind(cores::LOAD)?;
    Ok(child?)
}

fn log(dir: &Path, name: &str) -> Result<File> {
    // Appending, so that what is emptied starts at its beginning again.
    Ok(OpenOptions::new().create(true).append(true).open(dir.join(name))?)
}
