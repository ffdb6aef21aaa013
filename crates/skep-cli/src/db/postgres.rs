//! A database of PostgreSQL, by `psql`.

use std::process::Command;

use super::address::Address;
use super::{answer, finish};

/// Variables with which libpq would go elsewhere than the address says.
const ELSEWHERE: [&str; 7] = ["PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGSERVICEFILE"];

/// `psql` for an address, as somebody is used to it.
pub(super) fn shell(address: &Address) -> Command {
    psql(&address.to_string(), address.password())
}

/// `psql` for statements: with no settings of one's own, and it ends where one fails.
fn script(address: &str, password: Option<&str>) -> Command {
    let mut psql = psql(address, password);
    psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]);
    // Whatever encoding a terminal has.
    psql.env("PGCLIENTENCODING", "UTF8");
    psql
}

/// A password is no argument, which others on this machine can read.
fn psql(address: &str, password: Option<&str>) -> Command {
    let mut psql = Command::new("psql");
    for variable in ELSEWHERE {
        psql.env_remove(variable);
    }
    if let Some(password) = password {
        psql.env("PGPASSWORD", password);
    }
    psql.arg(address);
    psql
}

/// Runs a file; the first statement that fails undoes all.
pub(super) fn run_in_transaction(address: &Address, file: &str) -> Result<(), String> {
    let mut psql = script(&address.to_string(), address.password());
    finish(psql.args(["--single-transaction", "--file", file])).map(drop)
}

/// The one value that a query gives; nothing without a row.
pub(super) fn ask(address: &Address, query: &str) -> Result<String, String> {
    let mut psql = script(&address.to_string(), address.password());
    answer(psql.args(["--tuples-only", "--no-align", "--command", query]))
}

/// Runs what it reads, and prints what queries give.
pub(super) fn reader(address: &Address) -> Command {
    let mut psql = script(&address.to_string(), address.password());
    psql.args(["--tuples-only", "--no-align"]);
    psql
}

/// Drops the database, and makes an empty one of its name.
pub(super) fn make_again(address: &Address) -> Result<(), String> {
    let quoted = format!("\"{}\"", address.name()?.replace('"', "\"\""));
    for statement in [format!("drop database if exists {quoted} with (force)"), format!("create database {quoted}")] {
        finish(script(&address.beside(), address.password()).args(["--command", &statement]))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_address_says_where() {
        let address = Address::parse("postgres://shop:secret@localhost/shop").unwrap();
        let psql = shell(&address);
        let variables: Vec<_> = psql.get_envs().collect();
        for name in ["PGHOST", "PGHOSTADDR", "PGSERVICE"] {
            assert!(variables.contains(&(name.as_ref(), None)), "{variables:?}");
        }
        assert!(variables.contains(&("PGPASSWORD".as_ref(), Some("secret".as_ref()))));
        assert_eq!(psql.get_args().collect::<Vec<_>>(), ["postgres://shop@localhost/shop"]);
        let script = script(&address.beside(), address.password());
        assert!(script.get_args().any(|argument| argument == "--no-psqlrc"));
    }
}
