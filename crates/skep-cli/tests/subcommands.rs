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
fn an_executable_with_several_commands_gets_the_name_of_one() {
    for (command, executable, arguments) in [
        ("serve", "wasm", "serve app.wasm --check"),
        ("compile", "wasm", "compile app.wasm --check"),
        ("top", "top", "app.wasm --check"),
    ] {
        let folder = with_subcommand(executable, "ours");
        let copy = folder.path().join("skep");
        fs::hard_link(SKEP, &copy).or_else(|_| fs::copy(SKEP, &copy).map(drop)).unwrap();
        let output = skep(&copy, folder.path(), &[command, "app.wasm", "--check"]);
        assert_eq!(output.status.code(), Some(7));
        assert_eq!(
            text(&output.stdout),
            format!("ours: {arguments} from {}\n", copy.canonicalize().unwrap().display())
        );
    }
}

#[test]
fn what_is_beside_a_link_comes_before_what_is_beside_the_file() {
    let (folder, links) = (with_subcommand("greet-test", "file"), with_subcommand("greet-test", "link"));
    let copy = folder.path().join("skep");
    fs::hard_link(SKEP, &copy).or_else(|_| fs::copy(SKEP, &copy).map(drop)).unwrap();
    let link = links.path().join("skep");
    std::os::unix::fs::symlink(&copy, &link).unwrap();
    let output = skep(&link, folder.path(), &["greet-test"]);
    assert!(text(&output.stdout).starts_with("link: "), "{}", text(&output.stdout));
}

#[test]
fn an_error_says_how_to_get_a_subcommand() {
    let empty = tempfile::tempdir().unwrap();
    let copy = empty.path().join("skep");
    fs::hard_link(SKEP, &copy).or_else(|_| fs::copy(SKEP, &copy).map(drop)).unwrap();
    let output = skep(&copy, empty.path(), &["bench", "--help"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(error.contains("`cargo install --locked --path tools/bench`"), "{error}");
    let output = skep(&copy, empty.path(), &["serve", "app.wasm"]);
    let error = text(&output.stderr);
    assert!(error.contains("`cargo install --locked --path crates/skep-wasm`"), "{error}");
    assert!(error.contains("serve WebAssembly components; not installed: "), "the help says it, too: {error}");
    let output = skep(&copy, empty.path(), &["no-such-command"]);
    assert!(text(&output.stderr).contains("skep-no-such-command"), "{}", text(&output.stderr));
    for (typed, meant) in [("nwe", "new"), ("sevre", "serve"), ("runner", "run"), ("dbconsole", "db console")] {
        let output = skep(&copy, empty.path(), &[typed]);
        let error = text(&output.stderr);
        assert!(error.contains(&format!("did you mean `{meant}`?")), "{error}");
    }
    assert_eq!(skep(&copy, empty.path(), &["a/b"]).status.code(), Some(2));
}
