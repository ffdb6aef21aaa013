//! A cluster of PostgreSQL for one run: on the server's core, reached over a unix socket, and gone at the end.

use std::io::Write;
use std::process::{Command, Stdio};

use skep_bench::server::Watched;

use crate::{Result, cores};

/// What each database is a copy of.
const TEMPLATE: &str = "bench";

/// No disk is waited for, and nothing is done behind the requests: both would be measured, at random.
const SETTINGS: &[&str] = &[
    "shared_buffers=128MB",
    "max_connections=200",
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
pub(crate) struct Cluster(skep_cluster::Cluster);

impl Cluster {
    /// Makes it, and runs the statements in the database that others are copies of.
    pub(crate) fn start(statements: &str) -> Result<Self> {
        cores::bind(cores::SERVER)?;
        let cluster = Self(skep_cluster::Cluster::with(SETTINGS));
        cores::bind(cores::LOAD)?;
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
        let mut psql = skep_cluster::as_server("psql");
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", &self.address(database)]);
        feed(&mut psql, statements)
    }

    /// The address of a database, for those that understand libpq's parameters.
    pub(crate) fn address(&self, database: &str) -> String {
        format!("{}&sslmode=disable", self.0.address_of(database))
    }

    /// Its processes.
    pub(crate) fn watched(&self) -> Watched {
        Watched::leader(self.0.id())
    }
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
    fn what_a_program_says_of_wrong_statements_is_the_error() {
        assert_eq!(feed(&mut Command::new("cat"), " 1\n").unwrap(), "1");
        let error = feed(Command::new("sh").args(["-c", "cat >/dev/null; echo wrong >&2; exit 3"]), "x").unwrap_err();
        assert_eq!(error.to_string(), "sh: wrong");
    }
}
