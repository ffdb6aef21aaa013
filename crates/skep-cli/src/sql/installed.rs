//! The PostgreSQL that is installed: its programs, and the user that they run as. `crates/testing/cluster` uses it.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian keeps the programs of each version in a folder of its own.
pub(super) fn program(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let having = versions.map(|version| version.path()).filter(|path| path.join("bin").join(name).is_file());
    having.max_by_key(|path| number(path)).map_or_else(|| name.into(), |path| path.join("bin").join(name))
}

/// PostgreSQL does not run as root.
pub(super) fn lower(command: &mut Command) {
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group).current_dir("/");
    }
}

/// Makes it the owner of this file or folder.
pub(super) fn give(path: &Path) -> std::io::Result<()> {
    other_user().map_or(Ok(()), |(user, group)| chown(path, Some(user), Some(group)))
}

/// Number and group of `postgres`, or of `nobody`, if we are root.
fn other_user() -> Option<(u32, u32)> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line.split(':').skip(2).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    is_root.then(|| find("postgres").or_else(|| find("nobody"))).flatten()
}
