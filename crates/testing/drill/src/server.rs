//! A server that is drilled: an executable, a folder, an address.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::error::{Error, Result};
use crate::load::ask;
use crate::process::{descendants, is_there, kill};
use crate::subject::Subject;

/// A supervisor and its workers. They end with this, and their folder goes.
pub struct Server {
    child: Child,
    /// Where it listens: `127.0.0.1:41234`.
    pub address: String,
    /// Its data, and the version that was put there, under the name `app`.
    pub folder: PathBuf,
    subject: Subject,
    output: Arc<Mutex<String>>,
    errors: Arc<Mutex<String>>,
    /// The threads that gather both.
    readers: Vec<JoinHandle<()>>,
}

/// A port of its own, and no access log.
pub(crate) const QUIET: &[&str] = &["--listen", "127.0.0.1:0", "--set", "log.access=false"];

/// How long something may take that should come.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long its last lines may be on their way here when it has ended.
const LAST_LINES: Duration = Duration::from_secs(2);

/// A new folder of its own.
pub fn folder() -> Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("skep-drill-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

impl Server {
    /// Starts it with these arguments on a port of its own, and waits until it listens.
    pub fn start(subject: &Subject, arguments: &[&str]) -> Result<Self> {
        Self::start_in(subject, folder()?, arguments)
    }

    /// The same, in this folder.
    pub fn start_in(subject: &Subject, folder: PathBuf, arguments: &[&str]) -> Result<Self> {
        subject.prepare(&folder)?;
        Self::start_command(subject, subject.command(&folder, &[QUIET, arguments].concat()), folder)
    }

    /// The same, by this command.
    pub fn start_command(subject: &Subject, mut command: Command, folder: PathBuf) -> Result<Self> {
        let program = command.get_program().display().to_string();
        let mut child = command.spawn().map_err(|error| Error::new(format!("{program}: {error}")))?;
        let (output, errors) = (Arc::default(), Arc::default());
        let readers = child.stdout.take().map(|stream| gather(stream, &output));
        let readers = readers.into_iter().chain(child.stderr.take().map(|stream| gather(stream, &errors))).collect();
        let (address, subject) = (String::new(), subject.clone());
        let mut server = Self { child, address, folder, subject, output, errors, readers };
        server.wait_until("it listens", |server| server.output().contains("listens on") || !server.is_alive())?;
        let line = server.output();
        let address = line.split("://").nth(1).and_then(|rest| rest.split_whitespace().next());
        let address = address
            .ok_or_else(|| Error::new(format!("{} did not start: {}{}", program, server.output(), server.errors())))?;
        address.clone_into(&mut server.address);
        Ok(server)
    }

    /// The supervisor's process.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// True as long as the supervisor has not ended.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// What it has written to standard output.
    #[must_use]
    pub fn output(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it has written to standard error.
    #[must_use]
    pub fn errors(&self) -> String {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of lines that it has written to standard error.
    pub(crate) fn error_lines(&self) -> u64 {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).lines().count() as u64
    }

    /// Sends a signal to the supervisor.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal);
    }

    /// Waits, but not for ever.
    pub fn wait_until(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) -> Result<()> {
        let start = Instant::now();
        while !is_so(self) {
            if start.elapsed() > PATIENCE {
                return Err(Error::new(format!("waited in vain until {what}: {}", self.errors())));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Waits for the end of the supervisor.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        let mut status = None;
        self.wait_until("it ends", |server| {
            status = server.child.try_wait().ok().flatten();
            status.is_some()
        })?;
        // A process that it has left may hold its outputs open.
        let ended = Instant::now();
        while ended.elapsed() < LAST_LINES && !self.readers.iter().all(JoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(2));
        }
        status.ok_or_else(|| Error::new("it has no exit status"))
    }

    /// The text of an answer on a connection of its own, or what went wrong.
    pub fn get(&self, path: &str) -> Result<String> {
        get(&self.address, path)
    }

    /// Says a word through the control socket, as a person would. Gives back whether it went well, and the answer.
    pub fn control(&self, word: &str) -> Result<(bool, String)> {
        self.subject.control(&self.folder, word, &[])
    }

    /// What the status in JSON says behind this key, for the first time.
    pub fn status(&self, key: &str) -> Result<String> {
        let (_, json) = self.control("status json")?;
        let rest = json.split(&format!("\"{key}\":")).nth(1);
        let value = rest.and_then(|rest| rest.split([',', '}']).next());
        Ok(value.ok_or_else(|| Error::new(format!("no {key} in {json}")))?.trim_matches('"').to_owned())
    }

    /// The processes that the supervisor has started.
    #[must_use]
    pub fn children(&self) -> Vec<i32> {
        let all = descendants(self.pid());
        let of_others: Vec<i32> = all.iter().flat_map(|pid| descendants(*pid)).collect();
        all.into_iter().filter(|pid| !of_others.contains(pid)).collect()
    }

    /// Children of the supervisor, and theirs.
    #[must_use]
    pub fn family(&self) -> Vec<i32> {
        descendants(self.pid())
    }
}

fn get(address: &str, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let answer = ask(&mut stream, path, true)?;
    if answer.status == 200 {
        return Ok(answer.body);
    }
    Err(Error::new(format!("GET {path}: status {}: {}", answer.status, answer.body)))
}

fn gather(stream: impl Read + Send + 'static, text: &Arc<Mutex<String>>) -> JoinHandle<()> {
    let gathered = Arc::clone(text);
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(std::io::Result::ok) {
            let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
            gathered.push_str(&line);
            gathered.push('\n');
        }
    })
}

impl Drop for Server {
    fn drop(&mut self) {
        let family = self.family();
        let _ = self.child.kill();
        let _ = self.child.wait();
        let start = Instant::now();
        while family.iter().any(|pid| is_there(*pid)) && start.elapsed() < Duration::from_secs(1) {
            thread::sleep(Duration::from_millis(5));
        }
        family.into_iter().filter(|pid| is_there(*pid)).for_each(|pid| kill(pid, Signal::KILL));
        let _ = fs::remove_dir_all(&self.folder);
    }
}
