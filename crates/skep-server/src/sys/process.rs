//! Processes: fork, titles, privileges.

use std::ffi::c_int;
use std::io;
use std::sync::OnceLock;

use rustix::process::{Pid, Signal};

/// Forks: the child runs `child` and exits with the code that it returns. All signals are blocked in the child until it
/// calls [`unblock_signals`].
///
/// Fails if this process has other threads: they would not exist in the child, and their locks would stay locked.
pub(crate) fn fork(child: impl FnOnce() -> i32) -> io::Result<Pid> {
    if !is_alone() {
        return Err(io::Error::other("this process has more than one thread and must not fork"));
    }
    let before = change_mask(libc::SIG_SETMASK, libc::sigfillset, None)?;
    // SAFETY: this process has one thread, so that its copy is whole: no lock is held by a thread that does not exist
    // there.
    match unsafe { libc::fork() } {
        -1 => {
            let error = io::Error::last_os_error();
            restore_signals(&before)?;
            Err(error)
        }
        0 => {
            // A panic must not unwind into the parent's part of the stack.
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(70);
            // SAFETY: ends the process, without what the parent has registered for its own end.
            unsafe { libc::_exit(code) }
        }
        pid => {
            restore_signals(&before)?;
            Pid::from_raw(pid).ok_or_else(|| io::Error::other("fork gave no process id"))
        }
    }
}

/// True if this process has one thread. `unshare(CLONE_THREAD)` succeeds for a process with a single thread, and
/// changes nothing then (`unshare(2)`). Where a container forbids the call, as Docker's default profile does, threads
/// are counted.
fn is_alone() -> bool {
    // SAFETY: a system call without pointers, which changes nothing.
    if unsafe { libc::unshare(libc::CLONE_THREAD) == 0 } {
        return true;
    }
    // EINVAL: there are other threads.
    io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) && threads().is_ok_and(|count| count == 1)
}

/// The number of threads of this process.
pub(crate) fn threads() -> io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}

/// Changes the signal mask, and returns the previous one. `fill` is `sigfillset` or `sigemptyset`, to which `more` is
/// added.
fn change_mask(
    how: c_int,
    fill: unsafe extern "C" fn(*mut libc::sigset_t) -> c_int,
    more: Option<c_int>,
) -> io::Result<libc::sigset_t> {
    // SAFETY: all zeros is replaced by a valid set before it is read; both sets live through the calls, which fill
    // them.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        fill(&raw mut set);
        if let Some(signal) = more {
            libc::sigaddset(&raw mut set, signal);
        }
        match libc::pthread_sigmask(how, &raw const set, &raw mut before) {
            0 => Ok(before),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

fn restore_signals(set: &libc::sigset_t) -> io::Result<()> {
    // SAFETY: the set is valid and is only read.
    match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::from_ref(set), std::ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Calls `work` while this signal is blocked.
pub(crate) fn with_signal_blocked<T>(signal: c_int, work: impl FnOnce() -> T) -> io::Result<T> {
    let before = change_mask(libc::SIG_BLOCK, libc::sigemptyset, Some(signal))?;
    let done = work();
    restore_signals(&before)?;
    Ok(done)
}

/// Unblocks all signals.
pub(crate) fn unblock_signals() -> io::Result<()> {
    change_mask(libc::SIG_SETMASK, libc::sigemptyset, None).map(drop)
}

/// Sends this process TERM when its parent exits. Fails if the parent has exited already.
pub(crate) fn die_with_parent(parent: u32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
    let is_there = rustix::process::getppid().is_some_and(|pid| pid.as_raw_nonzero().get().cast_unsigned() == parent);
    if is_there { Ok(()) } else { Err(io::Error::other("the supervisor has exited")) }
}

/// Sets the process title that `ps` shows. Needs a first argument that begins with [`TITLE`]; otherwise it does
/// nothing.
pub(crate) fn set_title(title: &str) {
    // Children have their arguments at the same address as their parent.
    static START: OnceLock<Option<usize>> = OnceLock::new();
    let Some(first) = std::env::args_os().next() else { return };
    let room = first.as_encoded_bytes().len();
    if !first.as_encoded_bytes().starts_with(TITLE.as_bytes()) {
        return;
    }
    let look = || arguments_start(&std::fs::read_to_string("/proc/self/stat").ok()?);
    let Some(start) = *START.get_or_init(look) else { return };
    let mut text = title.as_bytes().to_vec();
    text.resize(room, b' ');
    // SAFETY: the kernel says that this is where our arguments begin; the first of them is `room` bytes long, as just
    // read, and its ending zero stays. A thread that reads the arguments meanwhile reads old or new bytes of the same
    // number.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), std::ptr::with_exposed_provenance_mut(start), room) };
}

/// The first word of titles.
pub(crate) const TITLE: &str = "skep:";

/// Field 48 of `/proc/self/stat` (`proc_pid_stat(5)`); the second field, in parentheses, may contain anything.
fn arguments_start(stat: &str) -> Option<usize> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(45)?.parse().ok().filter(|start| *start != 0)
}

/// Changes to this user for good, with exactly these groups.
pub(crate) fn become_user(user: u32, group: u32, groups: &[u32]) -> io::Result<()> {
    let check = |result: c_int| if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: the list is as long as it says; libc sees to it that all threads change.
    unsafe {
        check(libc::setgroups(groups.len(), groups.as_ptr()))?;
        check(libc::setresgid(group, group, group))?;
        check(libc::setresuid(user, user, user))
    }
}
