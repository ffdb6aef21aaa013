//! `cargo xtask test instructions`: how many instructions a request costs in user space, held against
//! `tools/instructions.txt`.
//!
//! Times drift on machines that others use, and instructions do not: one in a hundred is seen. `hello` runs in
//! callgrind, for some requests and for twice as many; the difference is theirs alone. Compiler, C library and
//! processor change the figures too, so that they are recorded again where those change. Start reading at
//! [`complaints`].

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::command;

/// The number of requests of the first run; the second has twice as many.
const REQUESTS: u64 = 800;

/// A row may cost as much more than what is recorded, in hundredths.
const TOLERANCE: u64 = 3;

/// Where the figures are recorded: a number and the name of its row on each line.
const RECORD: &str = "tools/instructions.txt";

const PATIENCE: Duration = Duration::from_mins(1);

const FEW: &str = "User-Agent: wrk/4.1\r\nAccept: */*\r\n";

/// What a browser sends when somebody enters an address.
const BROWSER: &str = "Connection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"140\", \"Not=A?Brand\";v=\"24\"\r\n\
    sec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Linux\"\r\nUpgrade-Insecure-Requests: 1\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n\
    Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\nSec-Fetch-Dest: document\r\n\
    Accept-Language: en-US,en;q=0.9\r\n";

/// What is counted.
struct Row {
    name: &'static str,
    /// Beside `Host`.
    fields: &'static str,
    /// How many requests are sent at once.
    at_once: u64,
    more: &'static [&'static str],
}

const NO_LOG: &[&str] = &["--set", "log.access=false"];

const ROWS: [Row; 4] = [
    Row { name: "hello", fields: FEW, at_once: 1, more: NO_LOG },
    Row { name: "hello, 16 pipelined", fields: FEW, at_once: 16, more: NO_LOG },
    Row { name: "hello, the fields of a browser", fields: BROWSER, at_once: 1, more: NO_LOG },
    Row { name: "hello, with the access log", fields: FEW, at_once: 1, more: &[] },
];

/// What costs more than it did. Prints all rows.
pub(crate) fn complaints() -> Result<Vec<String>, String> {
    let root = command::root();
    let built = command::program("cargo").args(["build", "--release", "-p", "hello", "--features", "full"]).status();
    if !built.map_err(|error| format!("cargo does not start: {error}"))?.success() {
        return Err("hello does not build".to_owned());
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
        let (few, many) = (self.total(root, REQUESTS)?, self.total(root, 2 * REQUESTS)?);
        Ok(many.saturating_sub(few) / REQUESTS)
    }

    /// Instructions of a server, from its start to its end, for a number of requests.
    fn total(&self, root: &Path, requests: u64) -> Result<u64, String> {
        let server = Counted::start(root, self.more)?;
        let asked = self.ask(&server.address, requests);
        let counted = server.stop();
        asked.map_err(|error| format!("{}: {error}", self.name))?;
        counted
    }

    fn ask(&self, address: &str, requests: u64) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let head = format!("GET / HTTP/1.1\r\nHost: {address}\r\n{}\r\n", self.fields);
        stream.write_all(head.as_bytes())?;
        // All responses are as long as the first one.
        let mut response = Vec::new();
        while !response.ends_with(b"\r\n\r\nHello, world!") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            response.push(byte[0]);
        }
        let heads = head.repeat(usize::try_from(self.at_once).unwrap_or(1));
        let mut responses = response.repeat(usize::try_from(self.at_once).unwrap_or(1));
        for _ in 0..requests / self.at_once {
            stream.write_all(heads.as_bytes())?;
            stream.read_exact(&mut responses)?;
        }
        Ok(())
    }
}

/// A server in callgrind.
struct Counted {
    valgrind: Child,
    address: String,
    out: std::path::PathBuf,
}

impl Counted {
    fn start(root: &Path, more: &[&str]) -> Result<Self, String> {
        let folder = root.join("target/xtask/instructions");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let out = folder.join("callgrind.out");
        let mut command = Command::new("valgrind");
        command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", out.display()));
        command.arg(crate::site::target(root).join("release/hello")).args(["--listen", "127.0.0.1:0"]);
        command.args(["--set", "supervise=false", "--set", "workers=1"]).args(more).arg("--data").arg(&folder);
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
        let url = url.ok_or("hello ended without listening")?;
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
