//! The components under test, built once for each run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Beside what cargo builds, so that a second run builds nothing.
pub(crate) fn target() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("guests")
}

/// Built with these features of `tests/guest`.
fn build(features: &str) -> PathBuf {
    build_of("guest", features)
}

/// Built of this package beside it.
fn build_of(name: &str, features: &str) -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    // One folder for each, since they have one name.
    let target = target();
    let folder = if name == "guest" { target.clone() } else { target.join(format!("of-{name}")) };
    let folder = folder.join(if features.is_empty() { "plain" } else { features });
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--locked", "--release", "--target", "wasm32-wasip2", "--features", features]);
    cargo.arg("--manifest-path").arg(package.join("Cargo.toml")).arg("--target-dir").arg(&target);
    // Flags for the tests themselves do not fit another target.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
    assert!(cargo.status().unwrap().success(), "the guest does not build: is the target wasm32-wasip2 installed?");
    std::fs::create_dir_all(&folder).unwrap();
    let file = format!("{name}.wasm");
    let kept = folder.join(&file);
    std::fs::copy(target.join("wasm32-wasip2/release").join(file), &kept).unwrap();
    kept
}

/// Without start-up code.
pub(crate) fn plain() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("")).clone()
}

/// The same, another version.
pub(crate) fn second() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("second")).clone()
}

/// With start-up code that fills a table.
pub(crate) fn with_init() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("init")).clone()
}

/// A component of WASI 0.3, without start-up code.
#[cfg(feature = "wasi03")]
pub(crate) fn third() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_of("third", "")).clone()
}

/// The same, with start-up code that fills a table.
#[cfg(feature = "wasi03")]
pub(crate) fn third_with_init() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_of("third", "init")).clone()
}

/// An application of this workspace, built as its authors build it, by the first test that needs it.
pub(crate) fn application(package: &'static str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    built.entry(package).or_insert_with(|| build_application(package)).clone()
}

fn build_application(package: &str) -> PathBuf {
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["rustc", "--quiet", "--lib", "--crate-type", "cdylib", "--target", "wasm32-wasip2", "-p", package]);
    cargo.arg("--target-dir").arg(&target).current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
    assert!(cargo.status().unwrap().success(), "{package} is no component");
    target.join("wasm32-wasip2/debug").join(format!("{}.wasm", package.replace('-', "_")))
}
