//! Disasters under load: the tests of that name, optimised and with more load.

use std::process::{ExitCode, Stdio};

use crate::command;

/// Names begin with `drill_`, with or without it here: `cargo xtask drill crash swap`.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let names: Vec<String> = match args {
        [] => vec!["drill_".to_owned()],
        args => args.iter().map(|name| format!("drill_{}", name.trim_start_matches("drill_"))).collect(),
    };
    let mut drills = command::program("cargo");
    drills.args(["test", "--release", "-p", "skep-server", "--test", "processes", "--"]).args(names);
    let status = drills.env("DRILL_SCALE", "5").stdin(Stdio::inherit()).status();
    let status = status.map_err(|error| format!("cargo does not start: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
