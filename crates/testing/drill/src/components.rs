//! The disasters of components. They run in `skep serve`, under its supervisor, and are swapped when their file
//! changes.

mod bad;
mod many;
mod swap;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::drills::Drill;
use crate::drills::Run::Scene;
use crate::error::{Error, Result};

/// All drills of components, in the order in which they run.
pub const COMPONENT_DRILLS: &[Drill] = &[
    Drill { name: "trap", about: "a request runs into `unreachable`", needs_ours: true, run: Scene(bad::trap) },
    Drill { name: "stack", about: "a request overflows its stack", needs_ours: true, run: Scene(bad::stack) },
    Drill { name: "memory", about: "a request asks for ever more memory", needs_ours: true, run: Scene(bad::memory) },
    Drill { name: "loop", about: "a request computes for ever", needs_ours: true, run: Scene(bad::endless_loop) },
    Drill { name: "output", about: "endless answers, which nobody reads", needs_ours: true, run: Scene(many::output) },
    Drill {
        name: "instances",
        about: "2000 instances at once, held by slow readers",
        needs_ours: true,
        run: Scene(many::instances),
    },
    Drill { name: "swap", about: "twenty new versions under load", needs_ours: false, run: Scene(swap::swaps) },
    Drill {
        name: "broken",
        about: "files that are no version: half written, empty, no component",
        needs_ours: false,
        run: Scene(swap::broken),
    },
];

/// Where `skep serve` shows how a component is.
const STATUS: &str = "/-/drill";

/// The component that is built in, as text.
const OURS: &str = include_str!("component.wat");

/// How long the name of a version of ours is.
const WIDTH: usize = 8;

/// Serves the component in this folder.
pub(crate) fn command(file: &Path, folder: &Path, arguments: &[OsString]) -> Command {
    let mut command = Command::new(skep());
    command.arg("serve").arg(file).args(arguments).args(["--status", STATUS]);
    command.arg("--data").arg(folder.join("data")).env("XDG_CACHE_HOME", folder.join("cache"));
    command
}

/// The command that serves components: the one that ran `skep drill`, or the one in the folder of this executable, or
/// in `PATH`.
fn skep() -> PathBuf {
    let beside = || std::env::current_exe().ok().map(|this| this.with_file_name("skep")).filter(|skep| skep.is_file());
    std::env::var_os("SKEP").map(PathBuf::from).or_else(beside).unwrap_or_else(|| "skep".into())
}

/// The component that fails when it is asked to, as this version.
pub(crate) fn ours(version: &str) -> Result<Vec<u8>> {
    let text = OURS.replace("{VERSION}", &padded(version));
    wat::parse_str(text).map_err(|error| Error::new(format!("the component that is built in: {error}")))
}

/// What a version of ours answers.
fn padded(version: &str) -> String {
    format!("{version:<WIDTH$}")
}

/// Another version of the same component: with a section that nobody reads (a custom one: 0, its length, the length of
/// its name, its name).
pub(crate) fn marked(mut component: Vec<u8>, version: &str) -> Vec<u8> {
    let name = format!("drill {version}");
    let length = u8::try_from(name.len().min(100)).unwrap_or(100);
    component.extend([0, length + 1, length]);
    component.extend(name.bytes().take(length.into()));
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_component_is_one_and_versions_differ() {
        let (one, two) = (ours("1").unwrap(), ours("2").unwrap());
        // The header of a component: layer 1.
        assert_eq!(&one[..8], b"\0asm\x0d\0\x01\0");
        assert_ne!(one, two);
        assert_eq!(marked(vec![1], "7"), b"\x01\0\x08\x07drill 7");
    }
}
