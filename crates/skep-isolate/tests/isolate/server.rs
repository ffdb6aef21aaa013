//! A server of its own for each test, and what a client sees of it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use skep_client::{wait_for, wait_until};

/// Set, this executable is `skep serve`, or `skep compile`.
pub(crate) const PART: &str = "ISOLATE_TEST_PART";

/// Limits that are soon reached, one thread, and a page that tells how the instances are.
pub(crate) const STRICT: &[&str] =
    &["--time", "1s", "--memory", "32MiB", "--set", "workers=1", "--status", "/-/isolate"];

/// A server, which ends with this.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    log: Arc<Mutex<String>>,
    folder: Folder,
}

/// A folder that is removed with this.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("skep-isolate-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compiled code is shared by all tests of a run.
fn cache() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("guests/cache")
}

fn command(part: &str, arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    // This variable must not change what the log says of guests.
    command.env("RUST_BACKTRACE", "1");
    command.args(arguments).env(PART, part).env("XDG_CACHE_HOME", cache()).current_dir(folder).stdin(Stdio::null());
    command
}

/// What `skep compile`, or a `skep serve` that does not start, says.
pub(crate) fn run(part: &str, arguments: &[&str]) -> (bool, String) {
    let folder = Folder::new();
    let Output { status, stdout, stderr } = command(part, arguments, &folder.0).output().unwrap();
    (status.success(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

/// What keeps a server with these arguments from starting.
pub(crate) fn refused(arguments: &[&str]) -> String {
    let quiet = ["--listen", "127.0.0.1:0", "--set", "supervise=false"];
    let (started, text) = run("serve", &[arguments, &quiet].concat());
    assert!(!started, "it should not start: {text}");
    text
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(Folder::new(), arguments)
    }

    /// With instances that are used again, once optimised code has come: that has new ones, whenever it comes.
    pub(crate) fn start_in(folder: Folder, arguments: &[&str]) -> Self {
        let mut arguments = [arguments, &["--set", "supervise=false"]].concat();
        if !arguments.contains(&"cached") {
            return Self::start_as(folder, &arguments);
        }
        if !arguments.contains(&"--status") {
            arguments.extend(["--status", "/-/isolate"]);
        }
        let server = Self::start_as(folder, &arguments);
        server.wait_until_optimised();
        server
    }

    /// With a supervisor, which ends its worker.
    pub(crate) fn start_supervised(arguments: &[&str]) -> Self {
        Self::start_as(Folder::new(), arguments)
    }

    /// An application of Skep, served natively.
    pub(crate) fn start_native(name: &str, arguments: &[&str]) -> Self {
        Self::start_part(name, Folder::new(), &[arguments, &["--set", "supervise=false"]].concat())
    }

    fn start_as(folder: Folder, arguments: &[&str]) -> Self {
        Self::start_part("serve", folder, arguments)
    }

    fn start_part(part: &str, folder: Folder, arguments: &[&str]) -> Self {
        let quiet = ["--listen", "127.0.0.1:0", "--set", "log.access=false"];
        let mut command = command(part, &[arguments, &quiet].concat(), &folder.0);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::<Mutex<String>>::default();
        gather(child.stdout.take().unwrap(), &log);
        gather(child.stderr.take().unwrap(), &log);
        let mut server = Self { child, address: String::new(), log, folder };
        let start = Instant::now();
        while !server.log().contains("listens on http") {
            let is_alive = server.child.try_wait().unwrap().is_none();
            assert!(is_alive && start.elapsed() < Duration::from_mins(5), "it did not start: {}", server.log());
            thread::sleep(Duration::from_millis(5));
        }
        let log = server.log();
        log.split("listens on http")
            .nth(1)
            .unwrap()
            .split("://")
            .nth(1)
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap()
            .clone_into(&mut server.address);
        server
    }

    /// Waits until no other code will come for this version, which would have new instances.
    pub(crate) fn wait_until_optimised(&self) {
        let is_optimised = || !self.text("/-/isolate").contains("not optimised yet");
        wait_for(Duration::from_mins(10), || format!("never optimised: {}", self.log()), is_optimised);
    }

    /// Waits until no instance is busy and `count` are idle: a response may arrive before its instance has ended.
    pub(crate) fn wait_until_idle(&self, count: u32) {
        self.wait_for_instances(&format!("0 busy of 1000, {count} idle"));
    }

    /// Waits until this number of requests is at work.
    pub(crate) fn wait_until_busy(&self, count: usize) {
        self.wait_for_instances(&format!("{count} busy"));
    }

    fn wait_for_instances(&self, wanted: &str) {
        let wanted = format!("instances: {wanted}");
        let status = || self.text("/-/isolate");
        wait_until(|| format!("never {wanted}: {}", status()), || status().contains(&wanted));
    }

    /// Requests each path: it must fail with this status and an id, and only the log says why, with that id; `/`
    /// responds as ever.
    pub(crate) fn each_fails(&self, cases: &[(&str, u16, &str)], root: &str) {
        for (path, status, why) in cases {
            let answer = self.get(path);
            assert_eq!(answer.status, *status, "{path} {}", self.log());
            assert!(!answer.text.contains("wasm") && !answer.text.contains("guest"), "{path}: {}", answer.text);
            let id = answer.id();
            // What the guest printed bears the id, too.
            let is_logged = |log: &str| log.lines().any(|line| line.contains(&id) && line.contains(why));
            wait_until(|| format!("{path}, {why}: {}", self.log()), || is_logged(&self.log()));
            assert_eq!(self.text("/"), root, "after {path}");
        }
    }

    /// Sends a control command to the server, as its operator does.
    pub(crate) fn control(&self, word: &str) -> String {
        let output = command("serve", &["--control", word], &self.folder.0).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    /// Asks the server to end, and waits until it has.
    pub(crate) fn end(&mut self) -> bool {
        rustix::process::kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap().success()
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits for a line of the log, but not for ever.
    pub(crate) fn wait_for(&self, text: &str) {
        wait_until(|| format!("no {text:?}: {}", self.log()), || self.log().contains(text));
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, "x", "").unwrap()
    }

    /// The text of an answer that went well.
    pub(crate) fn text(&self, target: &str) -> String {
        let answer = self.get(target);
        assert_eq!(answer.status, 200, "{target}: {} {}", answer.text, self.log());
        answer.text
    }

    pub(crate) fn ask(&self, method: &str, target: &str, host: &str, body: &str) -> std::io::Result<Answer> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let length = body.len();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        Answer::read(stream)
    }

    /// Sends these bytes, and reads what comes until the connection ends. The client's end stays open.
    pub(crate) fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(bytes.as_ref()).unwrap();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        String::from_utf8_lossy(&all).into_owned()
    }

    /// The process's memory, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // At once, and a supervisor with its worker. One that has ended already is not asked.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = rustix::process::kill_process(Pid::from_child(&self.child), Signal::QUIT);
            let _ = self.child.wait();
        }
    }
}

fn gather(stream: impl Read + Send + 'static, log: &Arc<Mutex<String>>) {
    let log = Arc::clone(log);
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut log = log.lock().unwrap();
            log.push_str(&line);
            log.push('\n');
        }
    });
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
    /// False if it broke off.
    pub(crate) is_whole: bool,
}

impl Answer {
    pub(crate) fn read(mut stream: TcpStream) -> std::io::Result<Self> {
        let mut all = Vec::new();
        let ended = stream.read_to_end(&mut all);
        let text = String::from_utf8_lossy(&all).into_owned();
        let (head, body) =
            text.split_once("\r\n\r\n").ok_or_else(|| std::io::Error::other(format!("no answer: {text:?}")))?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let lower = head.to_ascii_lowercase();
        let (body, is_whole) = if lower.contains("transfer-encoding: chunked") {
            unchunk(body)
        } else {
            let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            (body.to_owned(), ended.is_ok() && length.is_none_or(|length: usize| length == body.len()))
        };
        Ok(Self { status, head: head.to_owned(), text: body, is_whole })
    }

    /// The id that an error page shows.
    pub(crate) fn id(&self) -> String {
        let is_id = |word: &&str| word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let words = self.text.split(|character: char| !character.is_ascii_alphanumeric());
        words.filter(is_id).map(ToOwned::to_owned).next().unwrap_or_else(|| panic!("no id in {}", self.text))
    }
}

/// A body in chunks, and whether the last one was there.
fn unchunk(mut body: &str) -> (String, bool) {
    let mut text = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let Ok(length) = usize::from_str_radix(length.trim(), 16) else { break };
        if length == 0 {
            return (text, true);
        }
        let Some(piece) = rest.get(..length) else { break };
        text.push_str(piece);
        body = rest.get(length + 2..).unwrap_or("");
    }
    (text, false)
}
