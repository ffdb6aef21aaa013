//! A cluster of PostgreSQL that ends with its test, or with the bench.
//!
//! The programs are those that are installed, as `skep sql check` finds them. What goes wrong is a panic, as in any
//! test.
#![allow(clippy::missing_panics_doc, reason = "all of it may")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use tempfile::TempDir;

mod frozen;
#[path = "../../../skep-cli/src/sql/installed.rs"]
mod installed;
mod standby;
mod start;

pub use frozen::Frozen;
use installed::{lower, program};

/// A cluster with a folder, and a server that listens on a socket in it.
///
/// ```no_run
/// let mut cluster = skep_cluster::Cluster::start();
/// println!("{}", cluster.address());
/// cluster.stop();
/// cluster.start_again();
/// ```
#[derive(Debug)]
pub struct Cluster {
    folder: TempDir,
    options: Vec<String>,
    /// A shell that ends the server when our end of its input is closed, also if the test ends without dropping
    /// anything.
    shell: Option<Child>,
}

impl Cluster {
    /// Makes one with PostgreSQL's own settings, and starts it.
    #[must_use]
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// The same with settings, `name=value`.
    #[must_use]
    pub fn with(options: &[&str]) -> Self {
        Self::prepared(options, |_| {})
    }

    /// The same. `prepare` is given the folder with the data before the server starts.
    pub fn prepared(options: &[&str], prepare: impl FnOnce(&Path)) -> Self {
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

    /// Ends the server and its backends at once.
    pub fn stop(&mut self) {
        let mut shell = self.shell.take().expect("it runs");
        drop(shell.stdin.take());
        shell.wait().expect("it is ours");
    }

    /// The address of the database `postgres`. Beside it, a test may make a database of its own.
    #[must_use]
    pub fn address(&self) -> String {
        self.address_of("postgres")
    }

    /// The address of this database.
    #[must_use]
    pub fn address_of(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user=skep", self.folder.path().display())
    }

    /// The leader of the group of its processes.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.shell.as_ref().expect("it runs").id()
    }

    /// The folder with the data.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder with the server's socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.shell.is_some() {
            self.stop();
        }
    }
}

/// The command that starts a program of PostgreSQL, or one like it, as a user that is not root.
#[must_use]
pub fn as_server(name: &str) -> Command {
    let mut command = Command::new(program(name));
    lower(&mut command);
    command
}

fn as_shell() -> Command {
    let mut command = Command::new("sh");
    lower(&mut command);
    command
}

/// Makes the user of [`as_server`] the owner of this file or folder.
pub fn give(path: &Path) {
    installed::give(path).expect("root may");
}
