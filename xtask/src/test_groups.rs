//! The tests of the workspace, several executables at a time.
//!
//! cargo runs one after the other, and many of them wait for processes, clocks and sockets: two cores were idle for
//! more than half of that time. So all is compiled first, and then groups run beside each other, each in cargo's own
//! order.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::Value;

use crate::command;
use crate::test::commands;

const CARGO_TEST: &str = "cargo test --workspace --no-fail-fast";

/// What each group runs, one after the other; the integration tests that none of them names are a group, too.
const GROUPS: [&[&str]; 2] = [&["--test compile_fail", "--doc"], &["--lib --bins"]];

/// Whether all compiles and passes. What the groups print is added to `log`, group by group.
pub(crate) fn run(log: &Path) -> Result<bool, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", log.display());
    let file = File::options().append(true).open(log).map_err(wrong)?;
    if !commands(&["cargo test --workspace --no-run"], &[], &file)? {
        return Ok(false);
    }
    let others = others(&test_targets()?);
    let groups = [GROUPS[0], GROUPS[1], &[&others]];
    let logs: Vec<_> = (1..=groups.len()).map(|number| log.with_extension(format!("{number}.log"))).collect();
    let passed = beside(&groups, &logs)?;
    for part in &logs {
        let said = fs::read(part).map_err(wrong)?;
        (&file).write_all(&said).map_err(wrong)?;
        fs::remove_file(part).map_err(wrong)?;
    }
    Ok(passed)
}

/// Runs each group on a thread of its own. Whether all passed: one that fails keeps no other from running.
fn beside(groups: &[&[&str]], logs: &[PathBuf]) -> Result<bool, String> {
    thread::scope(|scope| {
        let started: Vec<_> =
            groups.iter().zip(logs).map(|(group, log)| scope.spawn(move || run_group(group, log))).collect();
        let ended =
            started.into_iter().map(|group| group.join().unwrap_or_else(|_| Err("a group panicked".to_owned())));
        ended.collect::<Result<Vec<_>, _>>().map(|passed| passed.into_iter().all(|passed| passed))
    })
}

fn run_group(group: &[&str], log: &Path) -> Result<bool, String> {
    let file = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let lines = group.iter().map(|targets| format!("{CARGO_TEST} {targets}"));
    let passed = lines.map(|line| commands(&[line], &[], &file)).collect::<Result<Vec<_>, _>>()?;
    Ok(passed.into_iter().all(|passed| passed))
}

/// The flags for all integration tests that [`GROUPS`] does not name. Two of one name are one flag.
fn others(targets: &[String]) -> String {
    let is_named = |name: &str| GROUPS.iter().flat_map(|group| *group).any(|line| *line == format!("--test {name}"));
    let mut names: Vec<_> = targets.iter().filter(|name| !is_named(name)).collect();
    names.sort();
    names.dedup();
    names.iter().map(|name| format!("--test {name}")).collect::<Vec<_>>().join(" ")
}

/// The names of the integration tests of all packages.
fn test_targets() -> Result<Vec<String>, String> {
    let said = command::output("cargo", &["metadata", "--no-deps", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_str(&said).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let tests = targets.filter(|target| target["kind"][0] == "test" && target["test"] == true);
    Ok(tests.filter_map(|target| target["name"].as_str()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_integration_test_is_in_one_group() {
        let targets = ["people", "compile_fail", "cache", "cache"].map(str::to_owned);
        assert_eq!(others(&targets), "--test cache --test people");
    }

    #[test]
    fn the_named_ones_are_there() {
        let targets = test_targets().unwrap();
        let named = GROUPS.iter().flat_map(|group| *group).filter_map(|line| line.strip_prefix("--test "));
        assert!(named.clone().count() > 0);
        for name in named {
            assert!(targets.iter().any(|target| target == name), "{name}");
        }
    }
}
