//! `skep sql check` as a whole, on the application in `hives`.
use std::path::Path;
use std::process::{Command, Output};

fn skep(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skep")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// This is what CI of an application runs, and what keeps the lock file in the repository right.
#[test]
#[ignore = "needs PostgreSQL"]
fn the_lock_file_of_the_application_is_as_it_would_be_written() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hives/Cargo.toml");
    let output = skep(&["sql", "check", "--locked", "--manifest-path", manifest.to_str().unwrap()]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("sql.lock: "), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("statements, as they were"), "{}", text(&output.stdout));
}

#[test]
fn help_has_examples_and_a_wrong_option_shows_it() {
    let help = skep(&["sql", "--help"]);
    assert!(help.status.success() && text(&help.stdout).contains("skep sql check --locked"));
    for arguments in [&["sql"][..], &["sql", "chek"], &["sql", "check", "--lokced"]] {
        let wrong = skep(arguments);
        assert_eq!(wrong.status.code(), Some(2));
        assert!(text(&wrong.stderr).contains("usage: skep sql check"), "{}", text(&wrong.stderr));
    }
}

#[test]
fn a_package_for_sqlite_learns_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/lib.rs"), "").unwrap();
    let manifest = folder.path().join("Cargo.toml");
    for (more, expected) in [
        ("", "write into its Cargo.toml\n\n[package.metadata.skep]\ndatabase = \"postgres\""),
        ("[package.metadata.skep]\ndatabase = \"mysql\"\n", "names no database that `sql!` knows"),
    ] {
        std::fs::write(&manifest, format!("[package]\nname = \"shop\"\nedition = \"2024\"\n{more}")).unwrap();
        let output = skep(&["sql", "check", "--manifest-path", manifest.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    }
}

#[test]
fn outside_of_a_package_it_says_where_it_wants_to_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_skep"));
    let output = command.args(["sql", "check"]).current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("could not find `Cargo.toml`") && said.contains("\nhelp: run it in the folder of"), "{said}");
}
