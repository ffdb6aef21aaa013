//! A cluster of PostgreSQL that ends with its test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

#[path = "../../../skep-cli/src/sql/installed.rs"]
mod installed;

use installed::{lower, program};

pub(crate) struct Cluster {
    folder: TempDir,
    options: Vec<String>,
    /// A shell that ends the server when our end of its input is closed, also if the test ends without dropping anything.
    shell: Option<Child>,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// `options` are settings, `name=value`.
    pub(crate) fn with(options: &[&str]) -> Self {
        Self::prepared(options, |_| {})
    }

    /// `prepare` is given the folder with the data before the server starts.
    pub(crate) fn prepared(options: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::Builder::new().prefix("skep-pg").tempdir().expect("a temporary folder");
        give(folder.path());
        let data = folder.path().join("data");
        let output = as_server("initdb")
            .args(["--auth=trust", "--username=skep", "--no-sync", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .expect("PostgreSQL is installed: `cargo xtask setup` does so");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        prepare(&data);
        for file in std::fs::read_dir(&data).unwrap() {
            give(&file.unwrap().path());
        }
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let mut cluster = Self { folder, options, shell: None };
        cluster.start_again();
        cluster
    }

    pub(crate) fn start_again(&mut self) {
        let mut command = as_shell();
        command
            .args(["-c", "\"$@\" & read -r how; kill -\"${how:-QUIT}\" $!; wait $!", "sh"])
            .arg(program("postgres"))
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .arg("-k")
            .arg(self.folder.path())
            .args(["-c", "listen_addresses=", "-c", "fsync=off"]);
        self.options.iter().for_each(|option| _ = command.args(["-c", option]));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.shell = Some(command.spawn().expect("there is a shell"));
        let start = Instant::now();
        while !self.answers() {
            assert!(start.elapsed() < Duration::from_secs(30), "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the server and its backends at once.
    pub(crate) fn stop(&mut self) {
        let mut shell = self.shell.take().expect("it runs");
        drop(shell.stdin.take());
        shell.wait().expect("it is ours");
    }

    /// With a database of its own for each test.
    pub(crate) fn address(&self) -> String {
        format!("postgres:///postgres?host={}&user=skep", self.folder.path().display())
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn answers(&self) -> bool {
        let mut command = Command::new(program("pg_isready"));
        command.arg("-q").arg("-h").arg(self.folder.path());
        let port = self.options.iter().find_map(|option| option.strip_prefix("port="));
        command.args(port.map(|port| format!("--port={port}")));
        command.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.shell.is_some() {
            self.stop();
        }
    }
}

fn as_server(name: &str) -> Command {
    let mut command = Command::new(program(name));
    lower(&mut command);
    command
}

fn as_shell() -> Command {
    let mut command = Command::new("sh");
    lower(&mut command);
    command
}

fn give(path: &Path) {
    installed::give(path).expect("root may");
}
