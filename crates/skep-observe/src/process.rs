//! Memory and processor time of processes, as the kernel counts them.

use std::fs;
use std::io::Read;

/// Proportional set size of a process in bytes: shared memory is divided among the processes that map it.
#[must_use]
pub fn memory(pid: i32) -> Option<u64> {
    let mut text = String::new();
    fs::File::open(format!("/proc/{pid}/smaps_rollup")).ok()?.read_to_string(&mut text).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// The processor time that a process has taken, in milliseconds.
#[must_use]
pub fn processor_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field, in parentheses, may contain anything; user and system time are the fields 14 and 15
    // (`proc_pid_stat(5)`).
    let (_, rest) = stat.rsplit_once(')')?;
    let mut times = rest.split_whitespace().skip(11).map(|ticks| ticks.parse::<u64>().ok());
    let ticks = times.next()?? + times.next()??;
    Some(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
}
