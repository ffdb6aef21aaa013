//! Commands that are executables of their own: `skep-NAME`, in the folder of `skep` or else in a folder of `PATH`.
//!
//! The executable replaces this process. It gets the arguments after `NAME`, and the path of `skep` in the variable `SKEP`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const PREFIX: &str = "skep-";

/// Those of the project, which `tools/` builds.
const OURS: [(&str, &str); 2] = [
    ("bench", "load servers, and compare what they cost"),
    ("drill", "re-enact failures under load, and report what was lost"),
];

/// The executable of this subcommand.
pub(crate) fn find(name: &OsStr) -> Option<PathBuf> {
    if name.is_empty() || name.as_encoded_bytes().contains(&b'/') {
        return None;
    }
    let mut file = OsString::from(PREFIX);
    file.push(name);
    folders().into_iter().map(|folder| folder.join(&file)).find(|file| is_executable(file))
}

/// Replaces this process by the executable; returns only if that fails.
pub(crate) fn execute(file: &Path, arguments: Vec<OsString>) -> io::Error {
    let mut command = Command::new(file);
    if let Ok(this) = std::env::current_exe() {
        command.env("SKEP", this);
    }
    command.args(arguments).exec()
}

/// The names of all subcommands that can be found, sorted.
pub(crate) fn list() -> BTreeSet<String> {
    let files = folders().into_iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let executables = files.map(|file| file.path()).filter(|file| is_executable(file));
    executables.filter_map(|file| Some(file.file_name()?.to_str()?.strip_prefix(PREFIX)?.to_owned())).collect()
}

/// One line of the help text; empty for executables that are not ours.
pub(crate) fn about(name: &str) -> &'static str {
    OURS.iter().find(|(ours, _)| *ours == name).map_or("", |(_, about)| about)
}

/// How to get a subcommand of ours that is not there.
pub(crate) fn hint(name: &OsStr) -> String {
    let Some((name, _)) = OURS.iter().find(|(ours, _)| *ours == name) else {
        return format!(": there is no executable {PREFIX}{} in the folder of skep or in PATH", name.display());
    };
    format!(
        ": build it with `cargo build --release --manifest-path tools/Cargo.toml -p {PREFIX}{name}`, and put it in the folder of \
         skep or in PATH"
    )
}

fn folders() -> Vec<PathBuf> {
    let own = std::env::current_exe().ok().and_then(|this| this.parent().map(Path::to_owned));
    let path = std::env::var_os("PATH").unwrap_or_default();
    own.into_iter().chain(std::env::split_paths(&path)).collect()
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
