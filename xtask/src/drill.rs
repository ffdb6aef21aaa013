//! `skep drill`, from a checkout: optimised, and with these arguments.

use std::process::{ExitCode, Stdio};

use crate::command;

pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let mut drills = command::program("cargo");
    drills.args(["run", "--quiet", "--release", "--manifest-path", "tools/Cargo.toml", "-p", "drill", "--"]).args(args);
    let status = drills.stdin(Stdio::inherit()).status();
    let status = status.map_err(|error| format!("cargo does not start: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
