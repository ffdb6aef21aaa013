//! What other processes look like from outside: exit status, stacks.

use std::fs;

use rustix::process::WaitStatus;

use crate::sys;

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
