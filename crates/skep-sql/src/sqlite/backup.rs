//! Copies a database while others use it, and puts a copy in its place.
//!
//! SQLite copies page by page in one read transaction: in WAL mode no reader or writer waits, and the copy is the
//! database as it was when copying began. Rows keep their rowids, which `vacuum into` does not promise. Start reading
//! at [`back_up`] and [`restore`].

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::failure::failed;
use super::functions;
use crate::function::Function;
use crate::migrations::Migrations;
use crate::options::Options;
use crate::private;

/// Also a source may be written: a connection that may not would leave the -wal and -shm files behind that it needs for
/// reading.
const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_READ_WRITE);

/// Copies the database to this new file, for its owner only, and says how many bytes that has. What is wrong is for
/// people.
#[doc(hidden)]
pub fn back_up(database: &Path, to: &Path, functions: &[Function]) -> Result<u64, String> {
    if !database.is_file() {
        return Err("there is no such database: does `data` name the data directory of the server?".to_owned());
    }
    // Absolute, so that the folder has a name, and SQLite never takes it for a URI.
    let to = std::path::absolute(to).map_err(|error| error.to_string())?;
    let partial = Partial::new(&to)?;
    // Only now: another backup to the same file ended before ours could begin.
    if to.symlink_metadata().is_ok() {
        return Err("that file exists, and nothing is overwritten: name a new one".to_owned());
    }
    copy(database, &partial.0, functions)?;
    partial.finish(&to).map_err(|error| error.to_string())
}

/// Puts a copy of this backup in the place of the database, and says how the old one is called now, if there was one.
/// At each moment the path leads to one of them. What is wrong is for people.
#[doc(hidden)]
pub fn restore(backup: &Path, database: &Path, migrations: &Migrations) -> Result<Option<PathBuf>, String> {
    if !backup.is_file() {
        return Err("there is no such file".to_owned());
    }
    let database = std::path::absolute(database).map_err(|error| error.to_string())?;
    if let Some(folder) = database.parent() {
        private::create_folder(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let partial = Partial::new(&database)?;
    copy(backup, &partial.0, migrations.functions())?;
    belongs_to(&partial.0, migrations)?;
    let old = database.exists().then(|| set_aside(&database, &partial)).transpose()?;
    partial.finish(&database).map_err(|error| error.to_string())?;
    Ok(old)
}

/// The application made this database, and can work with it.
fn belongs_to(copy: &Path, migrations: &Migrations) -> Result<(), String> {
    let steps = migrations.steps();
    let copy = Connection::open_with_flags(copy, FLAGS).map_err(|error| failed(error).to_string())?;
    let misfit = |problem| format!("it does not fit this application: {problem}");
    steps.check(&copy).map_err(|problem| misfit(problem.to_string()))?;
    let any_ran = steps.any_has_run(&copy).map_err(|error| error.to_string())?;
    if any_ran { Ok(()) } else { Err(misfit("none of its migrations ran in that database".to_owned())) }
}

/// Gives the database a second name, so that it has one when the first becomes that of the new file.
fn set_aside(database: &Path, new: &Partial) -> Result<PathBuf, String> {
    check_owner(database, &new.0)?;
    close(database)?;
    let time = "select strftime('%Y%m%dT%H%M%SZ', 'now')";
    let time =
        Connection::open_in_memory().and_then(|memory| memory.query_row(time, [], |row| row.get::<_, String>(0)));
    let aside = with_suffix(database, &format!(".before-restore-{}", time.map_err(|error| failed(error).to_string())?));
    let failed = |error| format!("the old database cannot be kept as {}: {error}", aside.display());
    fs::hard_link(database, &aside).map_err(failed)?;
    // They are there if it is damaged, and must not be taken for those of the new one.
    for suffix in ["-wal", "-shm"] {
        match fs::rename(with_suffix(database, suffix), with_suffix(&aside, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    Ok(aside)
}

/// Root's file would keep the server from opening it, and giving it away by its path would be unsafe in a folder of
/// somebody else's.
#[cfg(unix)]
fn check_owner(old: &Path, new: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let owner = |path| fs::metadata(path).map(|file| file.uid()).map_err(|error| error.to_string());
    let (old, new) = (owner(old)?, owner(new)?);
    if old == new {
        return Ok(());
    }
    Err(format!("the database belongs to the user {old}, and this is user {new}: run it as that user"))
}

#[cfg(not(unix))]
fn check_owner(_: &Path, _: &Path) -> Result<(), String> {
    Ok(())
}

/// Brings what the -wal file holds into the database, which SQLite refuses while another process has that open.
fn close(database: &Path) -> Result<(), String> {
    let changed = Connection::open_with_flags(database, FLAGS)
        .and_then(|old| old.query_row("pragma journal_mode = delete", [], |_| Ok(())))
        .map_err(failed);
    match changed {
        Err(error) if error.is_busy() => Err("a process uses the database: stop it first".to_owned()),
        // A damaged one is why people restore.
        Err(error) if !error.is_damage() => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Copies a database over an empty file, and looks for damage in the copy.
fn copy(from: &Path, to: &Path, functions: &[Function]) -> Result<(), String> {
    let is_whole = try_copy(from, to, functions).map_err(|error| failed(error).to_string())?;
    if is_whole { Ok(()) } else { Err("the database is damaged: SQLite's `pragma quick_check` says more".to_owned()) }
}

fn try_copy(from: &Path, to: &Path, functions: &[Function]) -> rusqlite::Result<bool> {
    let source = Connection::open_with_flags(from, FLAGS)?;
    source.busy_timeout(Options::new().busy_timeout)?;
    let mut copy = Connection::open_with_flags(to, FLAGS)?;
    let step = Backup::new(&source, &mut copy)?.step(-1)?;
    if step != StepResult::Done {
        return Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None));
    }
    // One file, without -wal and -shm.
    copy.query_row("pragma journal_mode = delete", [], |_| Ok(()))?;
    // It computes what columns are generated of, and what rows are checked by.
    functions::register_given(&copy, functions)?;
    copy.query_row("pragma quick_check(1)", [], |row| Ok(row.get_ref(0)?.as_str()? == "ok"))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// A file that is not yet whole. It is removed unless it is finished.
struct Partial(PathBuf);

impl Partial {
    fn new(of: &Path) -> Result<Self, String> {
        let path = with_suffix(of, ".partial");
        match private::create_new(&path) {
            Ok(_) => Ok(Self(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(format!(
                "{} exists: another command is at it, or was killed; in the latter case, remove that file",
                path.display()
            )),
            Err(error) => Err(format!("{} cannot be created: {error}", path.display())),
        }
    }

    /// Gives it its name, also after a power failure.
    fn finish(self, name: &Path) -> io::Result<u64> {
        let file = File::open(&self.0)?;
        file.sync_all()?;
        fs::rename(&self.0, name)?;
        if let Some(folder) = name.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(file.metadata()?.len())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Finished, it has another name.
        let _ = fs::remove_file(&self.0);
    }
}
