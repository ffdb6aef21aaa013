//! The machine and the programs on it, for the record: a figure without them says nothing next year.

use std::fs;
use std::path::Path;
use std::process::Command;

/// What every record says of its machine: the load average is the one before the run.
#[must_use]
pub fn facts() -> Vec<(&'static str, String)> {
    vec![
        ("date", line("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
        ("cpu", cpu_model(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())),
        ("cores", std::thread::available_parallelism().map_or(0, usize::from).to_string()),
        ("kernel", first_line_of("/proc/sys/kernel/osrelease")),
        ("governor", first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        ("load_average_before", first_line_of("/proc/loadavg")),
        ("rustc", line("rustc", &["--version"])),
    ]
}

/// The commit, and whether anything was changed since.
#[must_use]
pub fn commit(repository: &Path) -> String {
    let root = repository.display().to_string();
    let commit = line("git", &["-C", &root, "rev-parse", "--short", "HEAD"]);
    let changed = line("git", &["-C", &root, "status", "--porcelain"]);
    if changed == UNKNOWN { commit } else { format!("{commit} with changes") }
}

const UNKNOWN: &str = "unknown";

/// The first line that a program writes, to stdout or else to stderr.
#[must_use]
pub fn line(program: &str, arguments: &[&str]) -> String {
    let Ok(output) = Command::new(program).args(arguments).output() else { return UNKNOWN.into() };
    let written = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    first_line(&String::from_utf8_lossy(&written))
}

fn first_line_of(file: &str) -> String {
    first_line(&fs::read_to_string(file).unwrap_or_default())
}

fn first_line(text: &str) -> String {
    text.lines().next().map_or(UNKNOWN, str::trim).to_owned()
}

fn cpu_model(cpuinfo: &str) -> String {
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or(UNKNOWN, |(_, model)| model.trim()).to_owned()
}

/// The version of a package in a lock file.
#[must_use]
pub fn version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, behind) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    behind.split_once('"').map(|(version, _)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_that_of_the_package_and_not_of_its_namesakes() {
        let lock = "[[package]]\nname = \"hyper-util\"\nversion = \"0.1.21\"\n\n[[package]]\nname = \"hyper\"\nversion = \"1.12.0\"\n";
        assert_eq!(version(lock, "hyper"), Some("1.12.0"));
        assert_eq!(version(lock, "axum"), None);
    }

    #[test]
    fn the_model_is_read_or_unknown() {
        assert_eq!(cpu_model("vendor_id\t: A\nmodel name\t: Fast One\nmodel name\t: Fast One\n"), "Fast One");
        assert_eq!(cpu_model(""), "unknown");
    }
}
