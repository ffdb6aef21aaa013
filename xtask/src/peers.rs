//! The bench beside the peers. It is a workspace of its own, with a lock file of its own, in `bench/`.

use std::process::{ExitCode, Stdio};

use crate::command;

const MANIFEST: &str = "bench/Cargo.toml";

/// Builds the bench's runner and hands it the arguments. What it measures, and how, it says itself: `--help`.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    if !command::root().join(MANIFEST).is_file() {
        return Err(format!("{MANIFEST} is not there, and `peers` runs what is in it"));
    }
    let mut runner = command::program("cargo");
    runner.args(["run", "--release", "--manifest-path", MANIFEST, "-p", "runner", "--"]).args(args);
    let status = runner.stdin(Stdio::inherit()).status().map_err(|error| format!("cargo does not start: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
