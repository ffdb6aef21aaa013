//! A cluster of PostgreSQL for one run: made from the installed programs, reached over a unix socket, and gone at the end.
//!
//! A shell owns it and ends the server when our end of its input is closed, so also when this process is killed. As root, the server runs as
//! `postgres` or `nobody`.
//!
//! Start reading at [`Cluster::start`].

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use skep_bench::server::Watched;

use crate::Result;
use crate::server;

#[path = "../../../crates/skep-cli/src/sql/installed.rs"]
mod installed;

use installed::{give, lower, program};

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_mins(1);

const SCRIPT: &str = "\"$@\" & trap '' INT TERM HUP; read -r end; kill -QUIT $!; wait $!";

/// What each database is a copy of.
const TEMPLATE: &str = "bench";

/// No disk is waited for, and nothing is done behind the requests: both would be measured, at random.
const SETTINGS: &[&str] = &[
    "listen_addresses=",
    "shared_buffers=128MB",
    "max_connections=200",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "checkpoint_timeout=1h",
    "max_wal_size=2GB",
    "autovacuum=off",
    "jit=off",
];

/// A running cluster. It ends when this is dropped.
pub(crate) struct Cluster {
    folder: PathBuf,
    shell: Child,
}

impl Cluster {
    /// Makes it in this folder, starts it, and runs the statements in the database that others are copies of.
    pub(crate) fn start(folder: PathBuf, statements: &str) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        give(&folder)?;
        initdb(&folder.join("data"))?;
        let mut shell = Command::new("sh");
        lower(&mut shell);
        shell
            .args(["-c", SCRIPT, "sh"])
            .arg(program("postgres"))
            .arg("-D")
            .arg(folder.join("data"))
            .arg("-k")
            .arg(&folder);
        shell.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        shell.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let cluster = Self { folder, shell: server::spawn(&mut shell)? };
        let started = Instant::now();
        while let Err(error) = cluster.run("postgres", "select 1") {
            if started.elapsed() > PATIENCE {
                return Err(error);
            }
            thread::sleep(Duration::from_millis(20));
        }
        cluster.run("postgres", &format!("create database {TEMPLATE}"))?;
        cluster.run(TEMPLATE, statements)?;
        Ok(cluster)
    }

    /// Makes a database with what the template has, if it is not there.
    pub(crate) fn make(&self, database: &str) -> Result<()> {
        let found = self.run("postgres", &format!("select count(*) from pg_database where datname = '{database}'"))?;
        if found != "1" {
            self.run("postgres", &format!("create database {database} template {TEMPLATE}"))?;
        }
        Ok(())
    }

    /// What `psql` prints for these statements, without headings and blanks around.
    pub(crate) fn run(&self, database: &str, statements: &str) -> Result<String> {
        let mut psql = Command::new(program("psql"));
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "bench", "-d", database, "-h"]).arg(&self.folder);
        feed(&mut psql, statements)
    }

    /// Its processes.
    pub(crate) fn watched(&self) -> Watched {
        Watched::leader(self.shell.id())
    }
}

/// The address of a database of the cluster in this folder, for those that understand libpq's parameters.
pub(crate) fn address(folder: &Path, database: &str) -> String {
    format!("postgres:///{database}?host={}&user=bench&sslmode=disable", folder.display())
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

fn initdb(data: &Path) -> Result<()> {
    let mut initdb = Command::new(program("initdb"));
    lower(&mut initdb);
    initdb.args(["--auth=trust", "--username=bench", "--no-sync", "--encoding=UTF8", "--locale=C", "-D"]).arg(data);
    let made = initdb.output().map_err(|error| format!("initdb does not start: {error}"))?;
    if made.status.success() {
        return Ok(());
    }
    Err(format!("initdb: {}", String::from_utf8_lossy(&made.stderr)).into())
}

/// Runs a program that reads statements, and gives back what it prints.
pub(crate) fn feed(command: &mut Command, statements: &str) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| format!("{name} does not start: {error}"))?;
    child.stdin.take().ok_or("it has no input")?.write_all(statements.as_bytes())?;
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_socket_and_database() {
        let address = address(Path::new("/tmp/x/postgres"), "pg_db_skep");
        assert_eq!(address, "postgres:///pg_db_skep?host=/tmp/x/postgres&user=bench&sslmode=disable");
    }

    #[test]
    fn what_a_program_says_of_wrong_statements_is_the_error() {
        assert_eq!(feed(&mut Command::new("cat"), " 1\n").unwrap(), "1");
        let error = feed(Command::new("sh").args(["-c", "cat >/dev/null; echo wrong >&2; exit 3"]), "x").unwrap_err();
        assert_eq!(error.to_string(), "sh: wrong");
    }
}
