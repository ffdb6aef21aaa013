//! What `/proc` says of processes.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};

/// Sends a signal. A process that is gone does not get it.
pub fn kill(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// All processes that came from this one, and from those that came from it.
#[must_use]
pub fn descendants(pid: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children: Vec<i32> = text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    let theirs = children.iter().flat_map(|child| descendants(*child));
    children.iter().copied().chain(theirs).collect()
}

/// True while there is such a process, and it is not only waiting to be collected.
#[must_use]
pub fn is_there(pid: i32) -> bool {
    state(pid).is_some_and(|state| state != 'Z')
}

/// True while a signal has stopped it.
#[must_use]
pub fn is_stopped(pid: i32) -> bool {
    state(pid) == Some('T')
}

/// Its state, as `proc_pid_stat(5)` has it.
fn state(pid: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// What `ps` would show.
#[must_use]
pub fn title(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).trim().to_owned()
}

/// Proportional set size in KiB; 0 if it is gone.
#[must_use]
pub fn memory(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Pss:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// CPU time of a process, with that of its children that have ended and were collected; zero if it is gone.
#[must_use]
pub fn cpu_time(pid: i32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // `utime`, `stime`, `cutime` and `cstime` (proc_pid_stat(5)), counted from the field behind the name.
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').skip(11).take(4);
    // `USER_HZ` is 100 on every processor that Linux is built for today.
    Duration::from_millis(10 * fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>())
}

/// How many files this process may open, and those that it starts; all that it may have is taken.
pub(crate) fn may_open() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    limit.maximum.unwrap_or(u64::MAX)
}
