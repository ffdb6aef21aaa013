//! Signals as bytes in a pipe, so that an event loop can wait for them.

use std::ffi::c_int;
use std::io;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::pipe::PipeFlags;

/// The pipe that the handler writes to; it is not closed while a handler may run.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// What is done before a backtrace is written.
static BEFORE_BACKTRACE: OnceLock<fn()> = OnceLock::new();

/// Writes a byte to the returned pipe for each of these signals. A second call, in a forked process, creates another
/// pipe.
pub(crate) fn catch(signals: &[c_int]) -> io::Result<OwnedFd> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let old: RawFd = PIPE.swap(write.into_raw_fd(), Ordering::SeqCst);
    if old >= 0 {
        // SAFETY: it came from `into_raw_fd` above, and signal handlers write to the new one from now on.
        drop(unsafe { OwnedFd::from_raw_fd(old) });
    }
    for signal in signals {
        set(*signal, note as *const () as libc::sighandler_t)?;
    }
    Ok(read)
}

/// Ignores a signal, here and in programs that are executed from here.
pub(crate) fn ignore(signal: c_int) -> io::Result<()> {
    set(signal, libc::SIG_IGN)
}

/// Restores the default action of a signal.
pub(crate) fn reset(signal: c_int) -> io::Result<()> {
    set(signal, libc::SIG_DFL)
}

/// Does this in the thread before it writes a backtrace: what a signal handler may do.
pub(crate) fn before_backtrace(first: fn()) {
    let _ = BEFORE_BACKTRACE.set(first);
}

/// Makes a thread that receives this signal write its backtrace to standard error.
pub(crate) fn print_backtrace_on(signal: c_int) -> io::Result<()> {
    set(signal, print_backtrace as *const () as libc::sighandler_t)
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
    // SAFETY: `errno` of this thread; the buffer is one byte that lives through the call. If the pipe is full, it
    // already has enough bytes to wake the reader.
    unsafe {
        let errno = *libc::__errno_location();
        let byte = signal.to_le_bytes()[0];
        libc::write(PIPE.load(Ordering::SeqCst), (&raw const byte).cast(), 1);
        *libc::__errno_location() = errno;
    }
}

/// Does more than a handler may: it takes locks and allocates. It runs in a process that hangs and is about to be
/// killed; at worst it hangs, too.
extern "C" fn print_backtrace(_: c_int) {
    if let Some(first) = BEFORE_BACKTRACE.get() {
        first();
    }
    let backtrace = std::backtrace::Backtrace::force_capture();
    let name = std::thread::current().name().unwrap_or("?").to_owned();
    let text = format!("backtrace of thread {name} of process {}:\n{backtrace}\n", std::process::id());
    let _ = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
}

/// The name of a signal, with what it means for a process that it has ended.
pub(crate) fn name(signal: i32) -> String {
    let known = [
        (libc::SIGHUP, "HUP"),
        (libc::SIGINT, "INT"),
        (libc::SIGQUIT, "QUIT"),
        (libc::SIGILL, "ILL, invalid instruction"),
        (libc::SIGTRAP, "TRAP"),
        (libc::SIGABRT, "ABRT, abort"),
        (libc::SIGBUS, "BUS, bad memory access or truncated file"),
        (libc::SIGFPE, "FPE, arithmetic error"),
        (libc::SIGKILL, "KILL, by the out-of-memory killer or by hand"),
        (libc::SIGSEGV, "SEGV, invalid memory access"),
        (libc::SIGPIPE, "PIPE"),
        (libc::SIGALRM, "ALRM"),
        (libc::SIGTERM, "TERM"),
        (libc::SIGXCPU, "XCPU, CPU time limit"),
        (libc::SIGXFSZ, "XFSZ, file size limit"),
        (libc::SIGSYS, "SYS, forbidden system call"),
    ];
    let text = known.iter().find(|(number, _)| *number == signal).map(|(_, text)| *text);
    text.map_or_else(|| format!("signal {signal}"), |text| format!("signal {signal} ({text})"))
}

/// Reads the numbers of the signals that have arrived.
pub(crate) fn received(pipe: &OwnedFd) -> Vec<i32> {
    let mut buffer = [0; 64];
    let count = rustix::io::read(pipe, &mut buffer).unwrap_or(0);
    buffer[..count].iter().map(|byte| i32::from(*byte)).collect()
}
