//! The machine, the programs on it, and how busy it was: a figure without them says nothing next year.

use std::fs;
use std::process::Command;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::server::busy;

/// The machine, as names and values, in the order in which they are shown.
///
/// ```
/// let environment = skep_bench::record::Environment::look();
/// assert!(environment.get("kernel").is_some());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment(Vec<(String, String)>);

const UNKNOWN: &str = "unknown";

impl Environment {
    /// Looks at it now. See [`Environment`].
    #[must_use]
    pub fn look() -> Self {
        let facts = [
            ("date", line("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
            ("cpu", cpu_model(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())),
            ("cores", std::thread::available_parallelism().map_or(0, usize::from).to_string()),
            ("memory", memory(&fs::read_to_string("/proc/meminfo").unwrap_or_default())),
            ("kernel", first_line_of("/proc/sys/kernel/osrelease")),
            ("governor", first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
            ("open_files", open_files()),
            ("somaxconn", first_line_of("/proc/sys/net/core/somaxconn")),
            ("load_average_before", first_line_of("/proc/loadavg")),
            ("rustc", line("rustc", &["--version"])),
            ("skep_bench", env!("CARGO_PKG_VERSION").to_owned()),
            ("command", std::env::args().collect::<Vec<_>>().join(" ")),
        ];
        Self(facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// A fact. See [`Environment`].
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
    }

    /// Adds a fact: the version of a server, a commit. See [`Environment`].
    pub fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// Names and values. See [`Environment`].
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// In what the machines of two records differ: name, here, there. Not in when and how. See [`Environment`].
    pub fn differs<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        const EXPECTED: [&str; 6] =
            ["date", "load_average_before", "busy_cores", "busy_with_others", "command", "skep_bench"];
        let here = self.iter().filter(|(name, _)| !EXPECTED.contains(name));
        here.filter_map(|(name, here)| other.get(name).filter(|there| *there != here).map(|there| (name, here, there)))
    }
}

/// How busy the machine is from now on.
///
/// ```
/// let load = skep_bench::record::Load::begin();
/// assert!(load.busy_cores().is_none_or(|cores| cores >= 0.0));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Load {
    begun: Instant,
    busy: Option<f64>,
}

impl Load {
    /// Now. See [`Load`].
    #[must_use]
    pub fn begin() -> Self {
        Self { begun: Instant::now(), busy: busy(None) }
    }

    /// How many cores were busy on average since then, with any process. See [`Load`].
    #[must_use]
    pub fn busy_cores(&self) -> Option<f64> {
        let micros = self.begun.elapsed().as_secs_f64() * 1e6;
        Some((busy(None)? - self.busy?).max(0.0) / micros.max(1.0))
    }
}

/// The first line that a program writes, to stdout or else to stderr.
fn line(program: &str, arguments: &[&str]) -> String {
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

fn memory(meminfo: &str) -> String {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    total.map_or(UNKNOWN, str::trim).to_owned()
}

fn open_files() -> String {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    line.and_then(|line| line.split_whitespace().next()).unwrap_or(UNKNOWN).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_read_or_unknown() {
        assert_eq!(cpu_model("vendor_id\t: A\nmodel name\t: Fast One\nmodel name\t: Fast One\n"), "Fast One");
        assert_eq!((cpu_model(""), memory("MemTotal:  100 kB\n")), ("unknown".to_owned(), "100 kB".to_owned()));
    }

    #[test]
    fn another_day_is_no_difference_and_another_kernel_is() {
        let on = |date: &str, kernel: &str| {
            let mut environment = Environment::default();
            environment.add("date", date);
            environment.add("kernel", kernel);
            environment
        };
        let (here, there) = (on("today", "6.1"), on("yesterday", "6.9"));
        assert_eq!(here.differs(&there).collect::<Vec<_>>(), [("kernel", "6.1", "6.9")]);
    }
}
