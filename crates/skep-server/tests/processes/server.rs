//! A server of its own for each test: an executable, a folder, an address.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::application::{MARK, PART};

/// A supervisor and its workers, which end with this.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) folder: PathBuf,
    output: Arc<Mutex<String>>,
    errors: Arc<Mutex<String>>,
}

pub(crate) fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("skep-processes-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Puts this version at the path, as a deployment does: whole, under another name, and then in the place of the old.
pub(crate) fn deploy(path: &Path, version: &str) {
    let mut bytes = fs::read(std::env::current_exe().unwrap()).unwrap();
    bytes.extend_from_slice(format!("\nversion {version:<width$}", width = MARK - 9).as_bytes());
    deploy_bytes(path, &bytes);
}

pub(crate) fn deploy_bytes(path: &Path, bytes: &[u8]) {
    let new = path.with_extension("new");
    fs::write(&new, bytes).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(new, path).unwrap();
}

/// The command that starts the application in this folder, with the version that was put there or else this executable.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let deployed = folder.join("app");
    let path = if deployed.exists() { deployed } else { std::env::current_exe().unwrap() };
    let mut command = Command::new(path);
    command.args(arguments).env(PART, "1").current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Says a word to the server in this folder.
pub(crate) fn control_in(folder: &Path, word: &str, arguments: &[&str]) -> (bool, String) {
    // Whatever was put there meanwhile.
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--control", word]).args(arguments).env(PART, "1").current_dir(folder);
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

const QUIET: [&str; 4] = ["--listen", "127.0.0.1:0", "--set", "log.access=false"];

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(folder(), arguments)
    }

    pub(crate) fn start_in(folder: PathBuf, arguments: &[&str]) -> Self {
        Self::start_command(command(&folder, &[&QUIET, arguments].concat()), folder)
    }

    pub(crate) fn start_command(mut command: Command, folder: PathBuf) -> Self {
        let mut child = command.spawn().unwrap();
        let output = gather(child.stdout.take().unwrap());
        let errors = child.stderr.take().map(gather).unwrap_or_default();
        let mut server = Self { child, address: String::new(), folder, output, errors };
        server.wait_until("it listens", |server| server.output().contains("listens on") || !server.is_alive());
        let line = server.output();
        let address = line.split("://").nth(1).and_then(|rest| rest.split(' ').next());
        server.address = address.unwrap_or_else(|| panic!("it did not start: {}", server.errors())).to_owned();
        server
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    pub(crate) fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal);
    }

    /// Waits, but not for ever.
    pub(crate) fn wait_until(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < Duration::from_secs(30), "waited in vain until {what}: {}", self.errors());
            thread::sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        self.wait_until("it ends", |server| {
            status = server.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// The text of an answer on a connection of its own, or what went wrong.
    pub(crate) fn get(&self, path: &str) -> std::io::Result<String> {
        get(&self.address, path)
    }

    /// Says a word through the control socket, as a person would.
    pub(crate) fn control(&self, word: &str) -> (bool, String) {
        self.control_with(word, &[])
    }

    pub(crate) fn control_with(&self, word: &str, arguments: &[&str]) -> (bool, String) {
        control_in(&self.folder, word, arguments)
    }

    /// What the status in JSON says behind this key, for the first time.
    pub(crate) fn status(&self, key: &str) -> String {
        let (_, json) = self.control("status json");
        let rest = json.split(&format!("\"{key}\":")).nth(1).unwrap_or_else(|| panic!("{key} in {json}"));
        rest.split([',', '}']).next().unwrap().trim_matches('"').to_owned()
    }

    /// The process that serves, or the parent of those that do.
    pub(crate) fn worker(&self) -> i32 {
        let (_, json) = self.control("status json");
        let workers = json.split("\"workers\":[").nth(1).unwrap();
        workers.split("\"process\":").nth(1).unwrap().split(',').next().unwrap().parse().unwrap()
    }

    /// Children of the supervisor, and theirs.
    pub(crate) fn family(&self) -> Vec<i32> {
        descendants(self.pid())
    }
}

pub(crate) fn kill(pid: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
}

pub(crate) fn get(address: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut all = String::new();
    stream.read_to_string(&mut all)?;
    let body = all.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    body.filter(|_| all.starts_with("HTTP/1.1 200"))
        .ok_or_else(|| std::io::Error::other(format!("an answer that is none: {all:?}")))
}

/// All that came from this process, and from those that came from it.
pub(crate) fn descendants(pid: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children: Vec<i32> = text.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    let theirs = children.iter().flat_map(|child| descendants(*child));
    children.iter().copied().chain(theirs).collect()
}

/// True while there is such a process, and it is not only waiting to be collected.
pub(crate) fn is_there(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// What `ps` would show.
pub(crate) fn title(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).trim().to_owned()
}

/// Proportional set size in KiB.
pub(crate) fn memory(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap_or("Pss: 0 kB");
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn gather(stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::<Mutex<String>>::default();
    let gathered = Arc::clone(&text);
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut gathered = gathered.lock().unwrap();
            gathered.push_str(&line);
            gathered.push('\n');
        }
    });
    text
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
