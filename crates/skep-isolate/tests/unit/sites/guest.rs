//! Components, built for tests.

use std::path::PathBuf;
use std::process::Command;

/// What a request begins with.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    Snapshot,
    Cold,
    Cached,
}

/// The component of a package of this workspace.
pub(super) fn component(package: &str) -> PathBuf {
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
