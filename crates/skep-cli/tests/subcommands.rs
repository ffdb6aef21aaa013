//! `skep NAME` runs the executable `skep-NAME`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const SKEP: &str = env!("CARGO_BIN_EXE_skep");

/// A folder with an executable `skep-NAME` that prints `text`, its arguments and the variable `SKEP`.
fn with_subcommand(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("skep-{name}"));
    fs::write(&file, format!("#!/bin/sh\necho \"{text}: $* from $SKEP\"\nexit 7\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn skep(skep: &Path, path: &Path, arguments: &[&str]) -> Output {
    Command::new(skep).args(arguments).env("PATH", path).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn an_executable_in_path_is_a_subcommand() {
    let folder = with_subcommand("greet-test", "found");
    let output = skep(Path::new(SKEP), folder.path(), &["greet-test", "a", "--flag"]);
    assert_eq!(output.status.code(), Some(7));
    let this = Path::new(SKEP).canonicalize().unwrap();
    assert_eq!(text(&output.stdout), format!("found: a --flag from {}\n", this.display()));
    let help = skep(Path::new(SKEP), folder.path(), &["--help"]);
    assert!(text(&help.stdout).contains("\n  greet-test"), "{}", text(&help.stdout));
}

#[test]
fn the_folder_of_skep_comes_before_path() {
    let (own, other) = (with_subcommand("greet-test", "own"), with_subcommand("greet-test", "other"));
    let copy = own.path().join("skep");
    // A link would lead to the original's folder.
    fs::hard_link(SKEP, &copy).or_else(|_| fs::copy(SKEP, &copy).map(drop)).unwrap();
    let output = skep(&copy, other.path(), &["greet-test"]);
    assert!(text(&output.stdout).starts_with("own: "), "{}", text(&output.stdout));
}

#[test]
fn an_error_says_how_to_get_a_subcommand() {
    let empty = tempfile::tempdir().unwrap();
    let copy = empty.path().join("skep");
    fs::hard_link(SKEP, &copy).or_else(|_| fs::copy(SKEP, &copy).map(drop)).unwrap();
    let output = skep(&copy, empty.path(), &["bench", "--help"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(error.contains("cargo build --release --manifest-path tools/Cargo.toml -p skep-bench"), "{error}");
    let output = skep(&copy, empty.path(), &["no-such-command"]);
    assert!(text(&output.stderr).contains("skep-no-such-command"), "{}", text(&output.stderr));
    assert_eq!(skep(&copy, empty.path(), &["a/b"]).status.code(), Some(2));
}
