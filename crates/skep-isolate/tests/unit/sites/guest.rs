//! Components, built for tests.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// What a request begins with.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    Snapshot,
    Cold,
    Cached,
}

/// The component of a package of this workspace, built by the first test that needs it.
pub(super) fn component(package: &'static str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    built.entry(package).or_insert_with(|| build(package)).clone()
}

fn build(package: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).expect("target/debug/deps/...").to_owned();
    let built = Command::new(env!("CARGO"))
        .args(["rustc", "--quiet", "--lib", "--crate-type", "cdylib", "--target", "wasm32-wasip2", "-p", package])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(built.success(), "{package} is no component");
    target.join("wasm32-wasip2/debug").join(format!("{}.wasm", package.replace('-', "_")))
}
