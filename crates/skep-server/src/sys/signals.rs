//! Signals that arrive as bytes in a pipe, so that a loop can wait for them beside everything else.

use std::ffi::c_int;
use std::io;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::pipe::PipeFlags;

/// Where the handler writes: the end of a pipe that is never closed while a handler may run.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// From now on these signals do nothing but arrive, one byte each, in the pipe that is given back. A second call, in a process
/// that was forked, makes a pipe of its own.
pub(crate) fn catch(signals: &[c_int]) -> io::Result<OwnedFd> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let old: RawFd = PIPE.swap(write.into_raw_fd(), Ordering::SeqCst);
    if old >= 0 {
        // SAFETY: it came from `into_raw_fd` above, and whoever writes from now on uses the new one.
        drop(unsafe { OwnedFd::from_raw_fd(old) });
    }
    for signal in signals {
        set(*signal, note as *const () as libc::sighandler_t)?;
    }
    Ok(read)
}

/// This signal does nothing, here and in programs that are executed from here.
pub(crate) fn ignore(signal: c_int) -> io::Result<()> {
    set(signal, libc::SIG_IGN)
}

/// This signal does what it does if nobody says otherwise.
pub(crate) fn reset(signal: c_int) -> io::Result<()> {
    set(signal, libc::SIG_DFL)
}

/// From now on this signal makes the thread that gets it write where it is to standard error.
pub(crate) fn tell_place_on(signal: c_int) -> io::Result<()> {
    set(signal, tell_place as *const () as libc::sighandler_t)
}

/// Sends a signal to one thread of another process.
pub(crate) fn send_to_thread(process: i32, thread: i32, signal: c_int) -> io::Result<()> {
    // SAFETY: a system call without pointers (tgkill(2)).
    let result = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set(signal: c_int, handler: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: all zeros is a valid `sigaction`: no handler, no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: `action` lives through the call, and the handler is either a constant of the system or a function of ours
    // with the signature of a handler.
    let result = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Only what a handler may do (signal-safety(7)): one `write`, and `errno` is left as it was.
extern "C" fn note(signal: c_int) {
    // SAFETY: `errno` of this thread; the buffer is one byte that lives through the call. If the pipe is full, enough has
    // arrived in it to wake whoever reads.
    unsafe {
        let errno = *libc::__errno_location();
        let byte = signal.to_le_bytes()[0];
        libc::write(PIPE.load(Ordering::SeqCst), (&raw const byte).cast(), 1);
        *libc::__errno_location() = errno;
    }
}

/// This does more than a handler may: it takes locks and memory. It is called in a process that hangs and is about to be
/// killed; at worst it hangs, too.
extern "C" fn tell_place(_: c_int) {
    let place = std::backtrace::Backtrace::force_capture();
    let name = std::thread::current().name().unwrap_or("?").to_owned();
    let text = format!("where thread {name} of process {} is:\n{place}\n", std::process::id());
    let _ = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
}

/// What a signal is called, with a word for what it means to a process that died of it.
pub(crate) fn name(signal: i32) -> String {
    let known = [
        (libc::SIGHUP, "HUP"),
        (libc::SIGINT, "INT"),
        (libc::SIGQUIT, "QUIT"),
        (libc::SIGILL, "ILL, an instruction that is none"),
        (libc::SIGTRAP, "TRAP"),
        (libc::SIGABRT, "ABRT, it gave itself up"),
        (libc::SIGBUS, "BUS, memory or a file that is not there"),
        (libc::SIGFPE, "FPE, an arithmetic that is none"),
        (libc::SIGKILL, "KILL, by the system for want of memory, or by hand"),
        (libc::SIGSEGV, "SEGV, memory that is not its own"),
        (libc::SIGPIPE, "PIPE"),
        (libc::SIGALRM, "ALRM"),
        (libc::SIGTERM, "TERM"),
        (libc::SIGXCPU, "XCPU, its limit of processor time"),
        (libc::SIGXFSZ, "XFSZ, its limit of file size"),
        (libc::SIGSYS, "SYS, a system call that is forbidden"),
    ];
    let text = known.iter().find(|(number, _)| *number == signal).map(|(_, text)| *text);
    text.map_or_else(|| format!("signal {signal}"), |text| format!("signal {signal} ({text})"))
}

/// Reads what has arrived: the numbers of signals.
pub(crate) fn arrived(pipe: &OwnedFd) -> Vec<i32> {
    let mut buffer = [0; 64];
    let count = rustix::io::read(pipe, &mut buffer).unwrap_or(0);
    buffer[..count].iter().map(|byte| i32::from(*byte)).collect()
}
