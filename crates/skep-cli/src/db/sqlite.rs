//! A database of SQLite, by `sqlite3`.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::answer;

/// `sqlite3` for a file that is there.
pub(super) fn shell(file: &Path) -> Result<Command, String> {
    if !file.is_file() {
        return Err(format!("there is no {} yet: start the application once, which makes it", file.display()));
    }
    let mut sqlite = Command::new("sqlite3");
    // As the server sets it for itself.
    sqlite.args(["-cmd", "pragma foreign_keys = on", "-cmd", ".timeout 5000"]).arg(file);
    Ok(sqlite)
}

/// The same for statements: with no settings of one's own.
pub(super) fn script(file: &Path) -> Result<Command, String> {
    let mut sqlite = shell(file)?;
    sqlite.args(["-batch", "-init", "/dev/null"]);
    Ok(sqlite)
}

/// Runs statements; the first that fails undoes all.
pub(super) fn run_in_transaction(file: &Path, text: &str) -> Result<(), String> {
    let mut sqlite = script(file)?;
    let missing = |error| format!("sqlite3 does not start ({error}): Debian has it in the package sqlite3");
    let mut child = sqlite.arg("-bail").stdin(Stdio::piped()).spawn().map_err(missing)?;
    let script = format!("begin immediate;\n{}\n;commit;\n", text.trim_end());
    let sent = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(script.as_bytes()));
    let status = child.wait().map_err(missing)?;
    // It stops reading where a statement fails, and that it has said.
    match sent {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("sqlite3: {error}")),
        _ if !status.success() => Err("nothing of it was done, for the reason above".to_owned()),
        _ => Ok(()),
    }
}

/// The one value that a query gives; nothing without a row.
pub(super) fn ask(file: &Path, query: &str) -> Result<String, String> {
    answer(script(file)?.arg(query))
}

/// Deletes the file and what SQLite keeps beside it.
pub(super) fn delete(file: &Path) -> Result<(), String> {
    for end in ["", "-wal", "-shm"] {
        let mut path = file.as_os_str().to_owned();
        path.push(end);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(format!("{}: {error}", path.display())),
            _ => {}
        }
    }
    Ok(())
}
