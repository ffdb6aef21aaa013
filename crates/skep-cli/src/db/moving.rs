//! `skep db move`: what is in a file of SQLite becomes what is in a database of PostgreSQL.
//!
//! The application has made its tables there. `sqlite3` writes a script of `copy` for `psql`, which runs it in one
//! transaction: all of it, or nothing. PostgreSQL reads each value as the type that its column has.
//!
//! Each line comes as hexadecimal digits: some versions of `sqlite3` change control characters that they print.

mod script;
mod tables;

use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Stdio};

use super::address::Address;
use super::target::{Database, Target};
use super::{asked, postgres, sqlite};
use tables::{Schema, pairs};

/// The last line that `psql` prints: the transaction is committed.
const COMMITTED: &str = "committed";

/// Moves the file into the database of the settings.
pub(super) fn run(target: &Target, file: Option<&Path>, is_confirmed: bool) -> Result<String, String> {
    let file = file.unwrap_or(&target.file);
    let Database::Postgres(address) = &target.database else {
        return Err("set `database` to the address of a PostgreSQL, in skep.toml or as SKEP_DATABASE".to_owned());
    };
    if let Some(socket) = target.server() {
        return Err(format!("a server uses {target} (it listens on {}): stop it before", socket.display()));
    }
    let (schema, here) = (Schema::read(address)?, tables::of_sqlite(file)?);
    let pairs = pairs(file, &here, &schema.tables)?;
    let full = tables::with_rows(address, &pairs)?;
    let question = format!("Delete all rows of {} in {target} before? [y/N] ", full.join(", "));
    if !full.is_empty() && !is_confirmed && !asked(&question) {
        return Err("nothing was moved; --yes deletes such rows without asking".to_owned());
    }
    let moved = move_all(file, address, &script::script(&pairs, &schema, &full))?;
    let virtual_tables = tables::virtual_tables(file)?;
    let left = if virtual_tables.is_empty() { String::new() } else { format!(", nor {virtual_tables} (virtual)") };
    Ok(format!("{}from {} to {target}; sessions are not moved{left}\n", report(&moved), file.display()))
}

/// A line for each table that has rows.
fn report(moved: &str) -> String {
    let lines = moved.lines().filter_map(|line| line.rsplit_once('|')).filter(|(_, rows)| *rows != "0");
    lines.map(|(table, rows)| format!("{rows:>10}  {table}\n")).collect::<Vec<_>>().concat()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// Has one program print what the other one runs. Gives what that says.
fn move_all(file: &Path, address: &Address, script: &str) -> Result<String, String> {
    let mut input = tempfile::tempfile().map_err(|error| format!("a temporary file: {error}"))?;
    let written = input.write_all(script.as_bytes()).and_then(|()| input.rewind());
    written.map_err(|error| format!("a temporary file: {error}"))?;
    let mut from = sqlite::script(file)?;
    let from = from.args(["-bail", "-list", "-noheader"]).stdin(input).stdout(Stdio::piped()).spawn();
    let mut from = from.map_err(|error| format!("sqlite3 does not start: {error}"))?;
    let to = postgres::reader(address).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut to = to.map_err(|error| format!("psql does not start: {error}"))?;
    let translated = translate(from.stdout.take(), to.stdin.take());
    let ended = to.wait_with_output().map_err(|error| format!("psql: {error}"))?;
    let status = from.wait().map_err(|error| format!("sqlite3: {error}"))?;
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    match translated {
        // It stops reading where a statement fails, and has said why.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("nothing was moved: {error}")),
        _ if !status.success() || said.lines().last() != Some(COMMITTED) => {
            Err("nothing was moved, for the reason above".to_owned())
        }
        _ => Ok(said),
    }
}

/// Both ends are closed afterwards: what is not committed by then is undone.
fn translate(from: Option<ChildStdout>, to: Option<ChildStdin>) -> io::Result<()> {
    let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
    let mut to = BufWriter::new(to);
    for line in BufReader::new(from).split(b'\n') {
        let line = decoded(&line?).ok_or_else(|| io::Error::other("sqlite3 printed what is not asked for"))?;
        // `psql` would take it for the end of the line.
        if line.contains(&0) {
            return Err(io::Error::other("a text has the character NUL, which PostgreSQL does not store"));
        }
        to.write_all(&line)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// The bytes of a line.
fn decoded(line: &[u8]) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    line.chunks(2).map(byte).collect()
}
