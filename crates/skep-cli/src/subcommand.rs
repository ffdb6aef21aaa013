//! Commands that are executables of their own: `skep-NAME`, in the folder of `skep` or else in a folder of `PATH`.
//!
//! The executable replaces this process. It gets the arguments after `NAME`, and the path of `skep` in the variable
//! `SKEP`. One of ours may have several commands; it gets the name of the one that is meant, too.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use skep_units::nearest;

const PREFIX: &str = "skep-";

/// A command of the project that is not built in.
struct Ours {
    name: &'static str,
    about: &'static str,
    executable: &'static str,
    /// The folder of its package.
    package: &'static str,
}

const OURS: [Ours; 6] = [
    ours("dev", "build and run an application again whenever its source changes", "skep-dev", "crates/skep-dev"),
    ours("serve", "serve WebAssembly components", "skep-wasm", "crates/skep-wasm"),
    ours("compile", "compile a component ahead of time", "skep-wasm", "crates/skep-wasm"),
    ours("top", "watch and control a running server in the terminal", "skep-top", "crates/skep-top"),
    ours("bench", "load servers, and compare what they cost", "skep-bench", "tools/bench"),
    ours("drill", "re-enact failures under load, and report what was lost", "skep-drill", "tools/drill"),
];

/// Commands of Rails, and what is meant here.
const ELSEWHERE: [(&str, &str); 5] =
    [("dbconsole", "db console"), ("generate", "gen"), ("jobs", "run jobs"), ("runner", "run"), ("server", "dev")];

const fn ours(name: &'static str, about: &'static str, executable: &'static str, package: &'static str) -> Ours {
    Ours { name, about, executable, package }
}

impl Ours {
    fn named(name: &OsStr) -> Option<&'static Self> {
        OURS.iter().find(|ours| ours.name == name)
    }

    /// It has other commands, too, and receives the name of the one that is meant.
    fn is_one_of_several(&self) -> bool {
        self.executable.strip_prefix(PREFIX) != Some(self.name)
    }

    /// How to get it, in a clone of Skep.
    fn install(&self) -> String {
        format!("cargo install --locked --path {}", self.package)
    }
}

/// Those of the project, with one line each.
pub(crate) fn ours_described() -> impl Iterator<Item = (&'static str, &'static str)> {
    OURS.iter().map(|ours| (ours.name, ours.about))
}

/// The executable of this subcommand.
pub(crate) fn find(name: &OsStr) -> Option<PathBuf> {
    if name.is_empty() || name.as_encoded_bytes().contains(&b'/') {
        return None;
    }
    let mut file = OsString::from(PREFIX);
    file.push(name);
    let file = Ours::named(name).map_or(file, |ours| ours.executable.into());
    folders().into_iter().map(|folder| folder.join(&file)).find(|file| is_executable(file))
}

/// Replaces this process by the executable of this subcommand; returns only if that fails.
pub(crate) fn execute(file: &Path, name: &OsStr, arguments: Vec<OsString>) -> io::Error {
    let mut command = Command::new(file);
    if let Ok(this) = std::env::current_exe() {
        command.env("SKEP", this);
    }
    if Ours::named(name).is_some_and(Ours::is_one_of_several) {
        command.arg(name);
    }
    command.args(arguments).exec()
}

/// A line of the help text for each subcommand: ours, with how to get those that are not there, and what else can be
/// found.
pub(crate) fn list() -> String {
    let ours = |ours: &Ours| match find(OsStr::new(ours.name)) {
        Some(_) => format!("  {:11} {}\n", ours.name, ours.about),
        None => format!("  {:11} {}; not installed: `{}`\n", ours.name, ours.about, ours.install()),
    };
    let files = folders().into_iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let executables = files.map(|file| file.path()).filter(|file| is_executable(file));
    let names = executables.filter_map(|file| Some(file.file_name()?.to_str()?.strip_prefix(PREFIX)?.to_owned()));
    let is_ours = |name: &String| OURS.iter().any(|ours| ours.executable.strip_prefix(PREFIX) == Some(name));
    let others: BTreeSet<String> = names.filter(|name| !is_ours(name)).map(|name| format!("  {name}\n")).collect();
    OURS.iter().map(ours).chain(others).collect()
}

/// What is wrong with a command that is neither there nor built in, and what would be right.
pub(crate) fn missing(name: &OsStr, built_in: impl Iterator<Item = &'static str>) -> String {
    let shown = name.display();
    if let Some(ours) = Ours::named(name) {
        let (executable, install) = (ours.executable, ours.install());
        return format!(
            "`{shown}` is the executable {executable}, which is neither in the folder of skep nor in PATH. In a clone of \
             Skep, `{install}` makes it"
        );
    }
    let meant = ELSEWHERE.iter().find(|(word, _)| name == *word).map(|(_, meant)| *meant);
    let near = |name| nearest(name, built_in.chain(OURS.iter().map(|ours| ours.name)));
    match meant.or_else(|| name.to_str().and_then(near)) {
        Some(near) => format!("no command \"{shown}\": did you mean `{near}`?"),
        None => {
            format!("no command \"{shown}\": there is no executable {PREFIX}{shown} in the folder of skep or in PATH")
        }
    }
}

/// The folder of `skep` as it was called, that of the file which a link leads to, and those of `PATH`.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = || std::env::split_paths(&path);
    let this = std::env::current_exe().ok();
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let called: Vec<PathBuf> = match called.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => vec![folder.to_owned()],
        _ => path().collect(),
    };
    // Where a link leads to another version later, what is beside the link goes with it.
    let is_this = |folder: &PathBuf| this.is_some() && folder.join("skep").canonicalize().ok() == this;
    let called = called.into_iter().find(is_this);
    let own = this.as_deref().and_then(Path::parent).map(Path::to_owned);
    called.into_iter().chain(own).chain(path()).collect()
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
