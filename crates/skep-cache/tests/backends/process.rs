//! A server process that ends with its test.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server process. It is killed when this is dropped, and also if the test ends without dropping anything.
pub(crate) struct Process {
    /// A shell that waits for our end of its input to close, then kills the server, by its id.
    shell: Child,
    folder: TempDir,
}

impl Process {
    /// Starts `program`; `arguments` gets a folder that is its own.
    pub(crate) fn start(program: &str, arguments: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let shell = Command::new("sh")
            .args(["-c", "\"$@\" & echo $! >pid; read -r _; kill -CONT $!; kill -KILL $!; wait $!", "sh", program])
            .args(arguments(folder.path()))
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is a shell");
        Self { shell, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Sends a signal to the server: `STOP`, `CONT`, `KILL`.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = std::fs::read_to_string(self.path("pid")).expect("the shell wrote it");
        let status = Command::new("kill").args([&format!("-{signal}"), pid.trim()]).status().expect("there is kill");
        assert!(status.success(), "the server is running");
        // A process with several threads stops a little later.
        while signal == "STOP" && cfg!(target_os = "linux") {
            let state = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).expect("the server is running");
            if state.lines().any(|line| line.starts_with("State:") && line.contains('T')) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// Waits until it holds. How long that took.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < Duration::from_secs(10), "{what} is not seen");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    start.elapsed()
}

/// Waits until somebody listens.
pub(crate) fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what} is not there; is its package installed?");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn listens_on_path(path: &Path) -> bool {
    UnixStream::connect(path).is_ok()
}

pub(crate) fn listens_on_port(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// A port on which nobody listens.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("it is bound").port()
}

/// Runs a future on a runtime of its own.
pub(crate) fn on_runtime<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}
