//! What must not compile on PostgreSQL. `sql!` reads the lock file of the application `hives`, and needs no server.
//!
//! The package that trybuild makes says nothing of a database, so its `sql!` is for SQLite. Here is a copy of it that
//! names PostgreSQL; all that it depends on is compiled already.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const CASES: &str = "tests/compile-fail-postgres";
const HIVES: &str = "../skep-cli/tests/hives/migrations/postgres";

/// Those of trybuild, so that nothing is compiled twice.
const FLAGS: &str = r#"["--cfg", "trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"]"#;

/// The features of this package that trybuild enables, too: those of this test.
const FEATURES: [(&str, bool); 10] = [
    ("compression", cfg!(feature = "compression")),
    ("garde", cfg!(feature = "garde")),
    ("local-tiers", cfg!(feature = "local-tiers")),
    ("memcached", cfg!(feature = "memcached")),
    ("openapi", cfg!(feature = "openapi")),
    ("postgres", cfg!(feature = "postgres")),
    ("redis", cfg!(feature = "redis")),
    ("test", cfg!(feature = "test")),
    ("tower", cfg!(feature = "tower")),
    ("zstd", cfg!(feature = "zstd")),
];

pub(crate) fn what_is_wrong_does_not_compile() {
    let trybuild = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests").join("trybuild");
    let package = trybuild.join("skep-postgres");
    let cases = cases();
    write_package(&trybuild.join("skep"), &package, &cases);
    let mut said = compile(&package, &trybuild);
    let mut wrong = Vec::new();
    for (name, path) in &cases {
        let (found, expected) = (said.remove(name).unwrap_or_default(), path.with_extension("stderr"));
        if std::env::var("TRYBUILD").is_ok_and(|mode| mode == "overwrite") {
            fs::write(&expected, &found).unwrap();
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        if found.is_empty() || found != expected {
            wrong.push(format!("{}: expected\n{expected}\nfound\n{found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nTRYBUILD=overwrite writes what is found", wrong.join("\n"));
}

/// By name.
fn cases() -> BTreeMap<String, PathBuf> {
    let files = fs::read_dir(CASES).unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path)).collect()
}

fn write_package(trybuild: &Path, package: &Path, cases: &BTreeMap<String, PathBuf>) {
    fs::create_dir_all(package.join("cases")).unwrap();
    let mut manifest = without_targets(&fs::read_to_string(trybuild.join("Cargo.toml")).unwrap());
    manifest = manifest.replace("name = \"skep-tests\"", "name = \"skep-tests-postgres\"");
    manifest += "\n[package.metadata.skep]\ndatabase = \"postgres\"\n";
    for (name, path) in cases {
        _ = write!(manifest, "\n[[bin]]\nname = \"{name}\"\npath = \"cases/{name}.rs\"\n");
        fs::copy(path, package.join("cases").join(name).with_extension("rs")).unwrap();
    }
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(trybuild.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let lock = |folder: &str| package.join(folder).join("postgres/sql.lock");
    // With another migration than the lock file was made of, with an entry that somebody has changed, and after a
    // merge.
    for folder in ["migrations", "changed", "damaged", "merged"] {
        fs::create_dir_all(package.join(folder).join("postgres")).unwrap();
        for file in fs::read_dir(HIVES).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), lock(folder).with_file_name(file.file_name())).unwrap();
        }
    }
    fs::write(lock("changed").with_file_name("0009_more.sql"), "alter table hive add more text;").unwrap();
    let text = fs::read_to_string(lock("migrations")).unwrap();
    fs::write(lock("damaged"), text.replace("column text? note", "column text note")).unwrap();
    fs::write(lock("merged"), text.replacen("statement", "<<<<<<< HEAD\nstatement", 1)).unwrap();
}

/// A manifest without its `[[bin]]`.
fn without_targets(manifest: &str) -> String {
    let mut is_target = false;
    let lines = manifest.lines().filter(|line| {
        if line.starts_with('[') {
            is_target = *line == "[[bin]]";
        }
        !is_target
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// What the compiler says of each case.
fn compile(package: &Path, target: &Path) -> BTreeMap<String, String> {
    let host = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let host = String::from_utf8(host).unwrap();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(package).env("CARGO_TARGET_DIR", target).env_remove("RUSTFLAGS").env("CARGO_INCREMENTAL", "0");
    cargo.arg("--offline").arg(format!("--config=build.rustflags={FLAGS}"));
    cargo.arg(format!("--config=target.{host}.rustflags={FLAGS}"));
    cargo.args(["check", "--target", host, "--bins", "--keep-going", "--quiet", "--message-format=json"]);
    let features = FEATURES.iter().filter(|(_, enabled)| *enabled).map(|(name, _)| *name);
    cargo.args(["--no-default-features", "--features", &features.collect::<Vec<_>>().join(",")]);
    let output = cargo.output().unwrap();
    let mut said = BTreeMap::<String, String>::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (target, message) = (&line["target"]["name"], &line["message"]);
        let has_place = message["spans"].as_array().is_some_and(|spans| !spans.is_empty());
        if let (Some(target), Some(rendered), true) = (target.as_str(), message["rendered"].as_str(), has_place) {
            *said.entry(target.to_owned()).or_default() += &normal(rendered, package);
        }
    }
    assert!(!said.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// Without what differs between machines, and the numbers of lines of our crates.
fn normal(message: &str, package: &Path) -> String {
    let message = message.replace(package.to_str().unwrap(), "$DIR");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let root = format!("{}/", crates.display());
    let (mut text, mut is_ours) = (String::new(), false);
    for line in message.lines() {
        let place = line.trim_start().strip_prefix("--> ");
        if let Some(place) = place {
            is_ours = place.starts_with(&root);
        }
        match (place.and_then(|place| place.strip_prefix(&root)), line.split_once('|')) {
            (Some(place), _) => text.extend(["  --> ", place.split(':').next().unwrap_or_default()]),
            (None, Some((gutter, code))) if is_ours && gutter.trim().chars().all(|c| c.is_ascii_digit()) => {
                text.extend(["   |", code]);
            }
            _ => text += line,
        }
        text.push('\n');
    }
    text
}
