//! Starting other programs from the root of the repository.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the repository is checked out.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository").to_owned()
}

/// A program, run at the root of the repository, in the environment in which a developer would start it.
///
/// `cargo xtask` sets variables that describe xtask itself. Some build scripts (ring's) ask to be run again when one
/// of them changes, so with them in place `cargo xtask test` and a plain `cargo test` would rebuild each other's work.
pub(crate) fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    for (key, _) in std::env::vars_os() {
        if key.to_str().is_some_and(describes_a_package) {
            command.env_remove(key);
        }
    }
    command
}

fn describes_a_package(key: &str) -> bool {
    const PREFIXES: [&str; 5] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
    PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// Whether a program starts, and ends well.
pub(crate) fn succeeds(name: &str, args: &[&str]) -> bool {
    program(name).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// What a program prints, if it ends well.
pub(crate) fn output(name: &str, args: &[&str]) -> Result<String, String> {
    let output = program(name).args(args).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{name} does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{name} {}` failed: {}", args.join(" "), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{name} {}` printed what is not UTF-8", args.join(" ")))
}

/// Whether a program of this name is in one of the folders of `PATH`.
pub(crate) fn on_path(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_describes_xtask_is_kept_from_others() {
        assert!(describes_a_package("CARGO_PKG_NAME"));
        assert!(describes_a_package("CARGO_MANIFEST_DIR"));
        assert!(!describes_a_package("CARGO_TERM_COLOR"));
        assert!(!describes_a_package("CARGO_HOME"));
    }

    #[test]
    fn a_program_that_is_not_there_does_not_succeed() {
        assert!(!succeeds("skep-no-such-program", &[]));
        assert!(!on_path("skep-no-such-program"));
    }
}
