//! The tests of the workspace, some executables at a time.
//!
//! cargo runs one after the other, and many of them wait for processes, clocks and sockets: two cores were idle for
//! more than half of that time. So cargo compiles everything once and says which executables there are, and they run
//! here; what takes longest begins first.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command;

/// How many run beside each other: on two cores, one waits for most of its time.
const AT_ONCE: usize = 3;

/// What takes minutes, in the order in which it begins: what computes beside what waits.
const FIRST: [&str; 5] = ["skep_isolate", "compile_fail", "processes", "isolate", DOCUMENTATION];

/// Wait for each other all the same, as they compile into one folder: two at once would only take a place.
const ONE_BY_ONE: &str = "compile_fail";

/// The tests of the documentation, which cargo compiles as it runs them.
const DOCUMENTATION: &str = "documentation";

/// What takes less is not printed on a line of its own.
const WORTH_A_LINE: Duration = Duration::from_secs(5);

/// After this time without an end, what runs is named: one of them may hang.
const PATIENCE: Duration = Duration::from_mins(5);

/// What runs as one process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Job {
    name: String,
    /// Of a test; none for the documentation.
    executable: Option<PathBuf>,
    /// The folder of its package.
    package: PathBuf,
}

/// Whether all compiles and passes. What the executables print is added to `log`, one after the other.
pub(crate) fn run(log: &Path) -> Result<bool, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", log.display());
    let mut file = File::options().append(true).open(log).map_err(wrong)?;
    let Some(jobs) = compile(&file)? else { return Ok(false) };
    let jobs = in_order(jobs);
    let part = |number: usize| log.with_extension(format!("{number}.log"));
    let queue = Mutex::new(Queue { waiting: jobs.iter().enumerate().collect(), running: Vec::new() });
    let work = || {
        let mut passed = true;
        while let Some((number, job)) = take(&queue) {
            passed &= job.run(&part(number))?;
            queue.lock().expect("nobody panics with it").running.retain(|other| *other != job);
        }
        Ok(passed)
    };
    let passed = thread::scope(|scope| {
        // It ends when this function does.
        let (_end, ended) = mpsc::channel();
        let queue = &queue;
        scope.spawn(move || name_what_runs(&ended, queue));
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        let ended =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err("a job panicked".to_owned())));
        ended.collect::<Result<Vec<bool>, String>>()
    })?;
    for part in (0..jobs.len()).map(part) {
        file.write_all(&fs::read(&part).map_err(wrong)?).map_err(wrong)?;
        fs::remove_file(part).map_err(wrong)?;
    }
    Ok(passed.into_iter().all(|passed| passed))
}

/// What runs, and what does not yet, with its number.
struct Queue<'j> {
    waiting: VecDeque<(usize, &'j Job)>,
    running: Vec<&'j Job>,
}

/// The next one; none also if what is left waits for what another thread runs, and will take it then.
fn take<'j>(queue: &Mutex<Queue<'j>>) -> Option<(usize, &'j Job)> {
    let mut queue = queue.lock().expect("nobody panics with it");
    let is_held_up = queue.running.iter().any(|job| job.name == ONE_BY_ONE);
    let next = queue.waiting.iter().position(|(_, job)| !is_held_up || job.name != ONE_BY_ONE)?;
    let next = queue.waiting.remove(next)?;
    queue.running.push(next.1);
    Some(next)
}

/// Until the sender is gone.
fn name_what_runs(ended: &Receiver<()>, queue: &Mutex<Queue<'_>>) {
    while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        let queue = queue.lock().expect("nobody panics with it");
        let names: Vec<_> = queue.running.iter().map(ToString::to_string).collect();
        println!("            still running: {}", names.join(", "));
    }
}

/// Compiles all tests; nothing if that fails. One after the other in the order in which cargo tells them.
fn compile(log: &File) -> Result<Option<Vec<Job>>, String> {
    const LINE: &str = "cargo test --workspace --no-run --message-format json-render-diagnostics";
    let (begun, same) =
        (Instant::now(), log.try_clone().map_err(|error| format!("no second handle on the log: {error}"))?);
    let mut cargo = command::program("cargo");
    cargo.args(LINE.split(' ').skip(1)).stdout(Stdio::piped()).stderr(same);
    let mut cargo = cargo.spawn().map_err(|error| format!("cargo does not start: {error}"))?;
    let told = cargo.stdout.take().map(BufReader::new).ok_or("its output is ours")?;
    let jobs = told.lines().filter_map(|line| line.map(|line| job(&line)).transpose()).collect::<Result<Vec<_>, _>>();
    let passed = cargo.wait().map_err(|error| format!("cargo: {error}"))?.success();
    println!("{:8.1} s  {LINE}", begun.elapsed().as_secs_f64());
    let jobs = jobs.map_err(|error| format!("what cargo tells cannot be read: {error}"))?;
    if passed && jobs.is_empty() {
        return Err("cargo names no executable of a test".into());
    }
    Ok(passed.then_some(jobs))
}

/// The executable of a test, if that is what a message of cargo tells.
fn job(message: &str) -> Option<Job> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let package = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let name = message["target"]["name"].as_str()?.to_owned();
    Some(Job { name, executable: Some(message["executable"].as_str()?.into()), package })
}

/// What takes longest first, and with the documentation.
fn in_order(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.push(Job { name: DOCUMENTATION.to_owned(), executable: None, package: command::root() });
    jobs.sort_by_key(|job| FIRST.iter().position(|name| *name == job.name).unwrap_or(FIRST.len()));
    jobs
}

/// Several packages have tests of one name.
impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let package = self.package.file_name().unwrap_or_default().to_string_lossy();
        write!(f, "{} of {package}", self.name)
    }
}

impl Job {
    /// Whether it passes. What it prints is in this file.
    fn run(&self, log: &Path) -> Result<bool, String> {
        let wrong = |error: std::io::Error| format!("{}: {error}", log.display());
        let (mut file, begun) = (File::create(log).map_err(wrong)?, Instant::now());
        writeln!(file, "\n     Running {self}").map_err(wrong)?;
        let mut program = self.program();
        program.stdout(file.try_clone().map_err(wrong)?).stderr(file.try_clone().map_err(wrong)?);
        let status = program.status().map_err(|error| format!("{self} does not start: {error}"))?;
        let outcome = if status.success() { String::new() } else { format!(": FAILED, {status}") };
        // A signal that ended it is named nowhere else.
        writeln!(file, "     Ended {self}{outcome}").map_err(wrong)?;
        if !status.success() || begun.elapsed() > WORTH_A_LINE {
            println!("{:8.1} s  {self}{outcome}", begun.elapsed().as_secs_f64());
        }
        Ok(status.success())
    }

    /// As cargo starts it: in the folder of its package, which is also a variable.
    fn program(&self) -> std::process::Command {
        let Some(executable) = &self.executable else {
            let mut cargo = command::program("cargo");
            cargo.args(["test", "--workspace", "--no-fail-fast", "--doc"]);
            return cargo;
        };
        let mut program = command::program(&executable.to_string_lossy());
        program.current_dir(&self.package).env("CARGO_MANIFEST_DIR", &self.package);
        program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str, is_test: bool, executable: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"/a/b/Cargo.toml","target":{{"name":"{name}"}},"profile":{{"test":{is_test}}},"executable":{executable}}}"#
        )
    }

    #[test]
    fn executables_of_tests_are_jobs_and_nothing_else_is() {
        let expected = Job { name: "c".into(), executable: Some("/t/c-1".into()), package: "/a/b".into() };
        assert_eq!(job(&message("c", true, "\"/t/c-1\"")), Some(expected));
        assert_eq!(job(&message("c", false, "\"/t/c-1\"")), None, "the program that a test starts");
        assert_eq!(job(&message("c", true, "null")), None);
        assert_eq!(job(r#"{"reason":"build-finished","success":true}"#), None);
    }

    #[test]
    fn what_takes_longest_begins_first() {
        let jobs = ["cache", "processes", "skep_isolate"].map(|name| job(&message(name, true, "\"x\"")).unwrap());
        let names: Vec<_> = in_order(jobs.into()).into_iter().map(|job| job.name).collect();
        assert_eq!(names, ["skep_isolate", "processes", DOCUMENTATION, "cache"]);
    }

    #[test]
    fn what_compiles_into_one_folder_runs_one_by_one() {
        let jobs = ["compile_fail", "compile_fail", "cache"].map(|name| job(&message(name, true, "\"x\"")).unwrap());
        let queue = Mutex::new(Queue { waiting: jobs.iter().enumerate().collect(), running: Vec::new() });
        let next = || take(&queue).map(|(number, _)| number);
        assert_eq!([next(), next(), next()], [Some(0), Some(2), None]);
        queue.lock().unwrap().running.clear();
        assert_eq!([next(), next()], [Some(1), None]);
    }

    #[test]
    fn what_is_named_is_there() {
        let told = command::output("cargo", &["metadata", "--no-deps", "--format-version", "1"]).unwrap();
        let metadata: Value = serde_json::from_str(&told).unwrap();
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let targets: Vec<_> =
            packages.flat_map(|package| package["targets"].as_array().into_iter().flatten()).collect();
        for name in FIRST.iter().filter(|name| **name != DOCUMENTATION).chain([&ONE_BY_ONE]) {
            assert!(targets.iter().any(|target| target["name"] == *name && target["test"] == true), "{name}");
        }
    }
}
