//! The machine and the programs on it, for the record: a figure without them says nothing next year.

use std::fs;
use std::process::Command;

use crate::build::{Need, bench, executable, repository};

/// What a run happened on, as names and values.
pub(crate) struct Machine(pub(crate) Vec<(&'static str, String)>);

/// Crates whose versions matter, of the bench's lock file.
const CRATES: [&str; 8] = ["hyper", "tokio", "axum", "actix-web", "sqlx", "askama", "libsqlite3-sys", "pulldown-cmark"];

impl Machine {
    /// Looks at it now: the load average is the one before the run.
    pub(crate) fn look() -> Self {
        let mut facts = vec![
            ("date", line("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
            ("cpu", cpu_model(&read("/proc/cpuinfo"))),
            ("cores", std::thread::available_parallelism().map_or(0, usize::from).to_string()),
            ("kernel", read("/proc/sys/kernel/osrelease")),
            ("governor", read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
            ("load_average_before", read("/proc/loadavg")),
            ("rustc", line("rustc", &["--version"])),
            ("skep", commit()),
            ("nginx", line(&path("nginx"), &["-v"])),
            ("lighttpd", line(&path("lighttpd"), &["-v"])),
            ("wrk", line("wrk", &["-v"])),
        ];
        let lock = fs::read_to_string(bench().join("Cargo.lock")).unwrap_or_default();
        facts.extend(CRATES.map(|name| (name, version(&lock, name).unwrap_or("unknown").to_owned())));
        Self(facts)
    }
}

fn path(command: &'static str) -> String {
    executable(Need::Debian { command, package: command }).display().to_string()
}

/// The commit, and whether anything was changed since.
fn commit() -> String {
    let root = repository().display().to_string();
    let commit = line("git", &["-C", &root, "rev-parse", "--short", "HEAD"]);
    let changed = line("git", &["-C", &root, "status", "--porcelain"]);
    if changed == UNKNOWN { commit } else { format!("{commit} with changes") }
}

const UNKNOWN: &str = "unknown";

/// The first line that a program writes, to stdout or else to stderr.
fn line(program: &str, arguments: &[&str]) -> String {
    let Ok(output) = Command::new(program).args(arguments).output() else { return UNKNOWN.into() };
    let written = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    first_line(&String::from_utf8_lossy(&written))
}

fn read(file: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    if file.ends_with("cpuinfo") { text } else { first_line(&text) }
}

fn first_line(text: &str) -> String {
    text.lines().next().map_or(UNKNOWN, str::trim).to_owned()
}

fn cpu_model(cpuinfo: &str) -> String {
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or(UNKNOWN, |(_, model)| model.trim()).to_owned()
}

/// The version of a package in a lock file.
fn version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
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
