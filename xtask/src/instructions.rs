//! `cargo xtask test instructions`: how many instructions a request costs in user space, held against
//! `tools/instructions.txt`.
//!
//! Times drift on machines that others use, and instructions do not: one in a hundred is seen. A server runs in
//! callgrind, for some requests and for twice as many; the difference is theirs alone. Compiler, C library and
//! processor change the figures too, so that they are recorded again where those change. Start reading at
//! [`complaints`]; what is asked is in [`row`].

mod row;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::command;
use row::{ROWS, Row};

/// A row may cost as much more than what is recorded, in hundredths.
const TOLERANCE: u64 = 3;

/// Where the figures are recorded: a number and the name of its row on each line.
const RECORD: &str = "tools/instructions.txt";

/// The servers as they ship. Each by itself: built together, each would have the features of all.
const BUILDS: [&str; 3] = [
    "build --release -p hello --features full",
    "build --release -p blog",
    "build --release --manifest-path tools/Cargo.toml -p skep-tasks",
];

/// What costs more than it did. Prints all rows.
pub(crate) fn complaints() -> Result<Vec<String>, String> {
    let root = command::root();
    for build in BUILDS {
        let built = command::program("cargo").args(build.split(' ')).status();
        if !built.map_err(|error| format!("cargo does not start: {error}"))?.success() {
            return Err(format!("`cargo {build}` failed"));
        }
    }
    let record = fs::read_to_string(root.join(RECORD)).map_err(|error| format!("{RECORD}: {error}"))?;
    let mut complaints = Vec::new();
    for row in &ROWS {
        let count = row.count(&root)?;
        println!("{count:8}  {}", row.name);
        complaints.extend(judge(row.name, count, recorded(&record, row.name)));
    }
    Ok(complaints)
}

/// The figure of a row.
fn recorded(record: &str, name: &str) -> Option<u64> {
    let mut lines = record.lines().filter_map(|line| line.trim().split_once(' '));
    lines.find(|(_, known)| known.trim() == name).and_then(|(count, _)| count.parse().ok())
}

fn judge(name: &str, count: u64, recorded: Option<u64>) -> Option<String> {
    let Some(recorded) = recorded else { return Some(format!("{name}: {RECORD} has no figure for it")) };
    (count * 100 > recorded * (100 + TOLERANCE)).then(|| {
        format!("{name}: {count} instructions for a request, {recorded} are recorded: find out why, or record it in {RECORD}")
    })
}

impl Row {
    /// Instructions for a request.
    fn count(&self, root: &Path) -> Result<u64, String> {
        let (few, many) = (self.total(root, self.requests)?, self.total(root, 2 * self.requests)?);
        Ok(many.saturating_sub(few) / self.requests)
    }

    /// Instructions of a server, from its start to its end, for a number of requests.
    fn total(&self, root: &Path, requests: u64) -> Result<u64, String> {
        let server = Counted::start(root, self.server, self.flags)?;
        let asked = self.ask(&server.address, requests);
        let counted = server.stop();
        asked.map_err(|error| format!("{}: {error}", self.name))?;
        counted
    }
}

/// A server in callgrind.
struct Counted {
    valgrind: Child,
    address: String,
    out: PathBuf,
}

impl Counted {
    fn start(root: &Path, server: &str, flags: &[&str]) -> Result<Self, String> {
        let folder = root.join("target/xtask/instructions");
        // Of an earlier run; a new blog has articles.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let out = folder.join("callgrind.out");
        let mut command = Command::new("valgrind");
        command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", out.display()));
        command.arg(crate::site::target(root).join("release").join(server)).args(["--listen", "127.0.0.1:0"]);
        command.args(["--set", "supervise=false", "--set", "workers=1"]).args(flags).arg("--data").arg(&folder);
        command.env("TASKS_FILES", &folder);
        let mut valgrind = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("valgrind does not start: {error}"))?;
        let said = valgrind.stdout.take().map(BufReader::new).ok_or("its output is ours")?;
        let mut lines = said.lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.split_once(" listens on ").map(|(_, rest)| rest.to_owned()));
        // What else it says, such as its access log, is read so that it never waits for us.
        std::thread::spawn(move || lines.for_each(drop));
        let url = url.ok_or_else(|| format!("{server} ended without listening"))?;
        let url = url.split_whitespace().next().unwrap_or_default();
        let address = url.split_once("://").map_or(url, |(_, address)| address).to_owned();
        Ok(Self { valgrind, address, out })
    }

    /// Ends it, and says what it took.
    fn stop(mut self) -> Result<u64, String> {
        command::succeeds("kill", &["-TERM", &self.valgrind.id().to_string()]);
        self.valgrind.wait().map_err(|error| format!("valgrind: {error}"))?;
        let counts = fs::read_to_string(&self.out).map_err(|error| format!("{}: {error}", self.out.display()))?;
        total(&counts).ok_or_else(|| format!("{} says no total", self.out.display()))
    }
}

/// The total in the output of callgrind.
fn total(counts: &str) -> Option<u64> {
    let line = counts.lines().find_map(|line| line.strip_prefix("summary:").or(line.strip_prefix("totals:")))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_three_hundredths_more_is_complained_of() {
        let record = "# a remark\n1000 hello\n 2000 hello, 16 pipelined\n";
        assert_eq!(judge("hello", 1030, recorded(record, "hello")), None);
        assert!(judge("hello", 1031, recorded(record, "hello")).is_some_and(|text| text.contains("1000 are recorded")));
        assert_eq!(recorded(record, "hello, 16 pipelined"), Some(2000));
        assert!(judge("list", 1, recorded(record, "list")).is_some());
    }

    #[test]
    fn the_total_is_found_in_what_callgrind_writes() {
        assert_eq!(total("version: 1\nevents: Ir\nfn=(1)\n5 7\ntotals: 1234\n"), Some(1234));
        assert_eq!(total("events: Ir\n"), None);
    }

    #[test]
    fn each_row_is_recorded() {
        let record = fs::read_to_string(command::root().join(RECORD)).unwrap();
        assert!(ROWS.iter().all(|row| recorded(&record, row.name).is_some()));
    }
}
