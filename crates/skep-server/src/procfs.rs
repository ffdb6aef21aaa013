//! What other processes look like from outside: memory, exit status, stacks.

use std::fs;
use std::io::Read;

use rustix::process::WaitStatus;

use crate::sys;

/// Proportional set size of a process in bytes: shared memory is divided among the processes that map it.
pub(crate) fn memory(pid: i32) -> Option<u64> {
    let mut text = String::new();
    fs::File::open(format!("/proc/{pid}/smaps_rollup")).ok()?.read_to_string(&mut text).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// The processor time that a process has taken, in milliseconds.
pub(crate) fn processor_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field, in parentheses, may contain anything; user and system time are the fields 14 and 15
    // (`proc_pid_stat(5)`).
    let (_, rest) = stat.rsplit_once(')')?;
    let mut times = rest.split_whitespace().skip(11).map(|ticks| ticks.parse::<u64>().ok());
    let ticks = times.next()?? + times.next()??;
    Some(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
}

/// False if there is no such process, or one that was not collected yet.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// `exit code 1`, `signal 11 (SEGV, invalid memory access)`.
pub(crate) fn describe_exit(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => sys::signals::name(signal),
        _ => "unknown exit status".to_owned(),
    }
}

/// The state and kernel stack of a thread, as far as the kernel shows them.
pub(crate) fn kernel_stack(process: i32, thread: u32) -> String {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/task/{thread}/{name}")).unwrap_or_default();
    let state =
        read("status").lines().find(|line| line.starts_with("State:")).unwrap_or_default().replace("State:\t", "");
    let stack: Vec<String> = read("stack").lines().map(|line| line.trim_start_matches("[<0>] ").to_owned()).collect();
    format!("state {state}, in the kernel at {}, {}", read("wchan"), stack.join(" < "))
}

/// Makes a thread of a worker write its backtrace to standard error.
pub(crate) fn request_backtrace(process: i32, thread: u32) {
    let _ = sys::signals::send_to_thread(process, thread.cast_signed(), backtrace_signal());
}

/// The signal on which a worker's thread writes its backtrace to standard error.
pub(crate) fn backtrace_signal() -> i32 {
    libc::SIGRTMIN() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_not_collected_does_not_run() {
        assert!(is_running(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while is_running(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!is_running(child.id()));
    }
}
