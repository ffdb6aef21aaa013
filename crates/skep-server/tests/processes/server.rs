//! A server of its own for each test, as drills have it; what goes wrong with it ends the test.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use skep_drill::{Running, Subject};
pub(crate) use skep_drill::{descendants, is_stopped, is_there, kill, memory, title, wait_until};

/// A supervisor and its workers, which end with this.
pub(crate) struct Server(skep_drill::Server);

fn subject() -> Subject {
    Subject::ours().unwrap()
}

pub(crate) fn folder() -> PathBuf {
    skep_drill::folder().unwrap()
}

/// Puts this version at the path `app` of a folder.
pub(crate) fn deploy(path: &Path, version: &str) {
    subject().deploy(path.parent().unwrap(), version).unwrap();
}

pub(crate) fn deploy_bytes(path: &Path, bytes: &[u8]) {
    skep_drill::deploy_bytes(path, bytes).unwrap();
}

/// The command that starts the application in this folder, with the version that was put there or else this executable.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    subject().command(folder, arguments)
}

/// Says a word to the server in this folder.
pub(crate) fn control_in(folder: &Path, word: &str, arguments: &[&str]) -> (bool, String) {
    subject().control(folder, word, arguments).unwrap()
}

/// Ends a load that must not have lost anything.
pub(crate) fn nothing_is_lost(load: Running) {
    let tally = load.stop();
    assert!(tally.is_whole(), "{}", tally.text());
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(folder(), arguments)
    }

    pub(crate) fn start_in(folder: PathBuf, arguments: &[&str]) -> Self {
        Self(skep_drill::Server::start_in(&subject(), folder, arguments).unwrap())
    }

    pub(crate) fn start_command(command: Command, folder: PathBuf) -> Self {
        Self(skep_drill::Server::start_command(&subject(), command, folder).unwrap())
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
        self.0.wait().unwrap()
    }

    /// Says a word through the control socket, as a person would.
    pub(crate) fn control(&self, word: &str) -> (bool, String) {
        self.0.control(word).unwrap()
    }

    pub(crate) fn control_with(&self, word: &str, arguments: &[&str]) -> (bool, String) {
        control_in(&self.folder, word, arguments)
    }

    /// What the status in JSON says behind this key, for the first time.
    pub(crate) fn status(&self, key: &str) -> String {
        self.0.status(key).unwrap()
    }

    /// The process that serves, or the parent of those that do. Waits for it if the last one has just ended.
    pub(crate) fn worker(&self) -> i32 {
        for _ in 0..1000 {
            let (_, json) = self.control("status json");
            let workers = json.split("\"workers\":[").nth(1).unwrap_or_default();
            let process = workers.split("\"process\":").nth(1).and_then(|rest| rest.split(',').next());
            if let Some(process) = process.and_then(|process| process.parse().ok()) {
                return process;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("there is no worker");
    }
}

impl Deref for Server {
    type Target = skep_drill::Server;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
