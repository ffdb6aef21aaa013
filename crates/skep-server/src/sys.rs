//! The few places that the compiler cannot check.
//!
//! All `unsafe` of this crate is in this module, each block with its reason. Nothing here knows HTTP.
#![allow(unsafe_code)]

pub(crate) mod process;
pub(crate) mod program_pages;
pub(crate) mod scoreboard;
pub(crate) mod signals;
pub(crate) mod ticker;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Mutex;

use rustix::net::RecvFlags;
use tokio::io::ReadBuf;

/// Receives into the free part of a buffer.
pub(crate) fn receive(socket: impl AsFd, buffer: &mut ReadBuf<'_>) -> io::Result<usize> {
    // SAFETY: `recv` initialises what it fills and leaves the rest as it is.
    let memory = unsafe { buffer.unfilled_mut() };
    let ((filled, _), _) = rustix::net::recv(socket, memory, RecvFlags::empty())?;
    let count = filled.len();
    // SAFETY: the kernel has just written that many bytes there.
    unsafe { buffer.assume_init(count) };
    buffer.advance(count);
    Ok(count)
}

/// Lets `accept` return connections only once they have sent something, or after this many seconds (`TCP_DEFER_ACCEPT`,
/// tcp(7)).
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn defer_accept(socket: impl AsFd, seconds: std::ffi::c_int) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let size = libc::socklen_t::try_from(size_of_val(&seconds)).expect("the size of a number");
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the pointer is to a number of the size that is given, which the kernel copies.
    let result =
        unsafe { libc::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, (&raw const seconds).cast(), size) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns free memory of all threads to the system.
pub(crate) fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: glibc's own function (malloc_trim(3)): any thread may call it at any time, and it touches free memory
        // only.
        unsafe { malloc_trim(0) };
    }
}

/// Registers a file descriptor with the runtime.
pub(crate) fn async_fd(fd: OwnedFd) -> io::Result<tokio::io::unix::AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is valid for as long as it lives, and nobody can replace or close it in there.
    Ok(unsafe { tokio::io::unix::AsyncFd::register_with_interest(fd, tokio::io::Interest::READABLE)? })
}

/// Makes all threads allocate from one heap. For a process that forks: it has one thread, and compact memory is cheaper
/// to fork.
pub(crate) fn limit_malloc_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: glibc's own function (mallopt(3)), called before there are other threads.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Takes over an inherited file descriptor. Each can be taken once; the first three belong to the standard library.
pub(crate) fn take_inherited(fd: RawFd) -> io::Result<OwnedFd> {
    static TAKEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());
    let mut taken = skep_units::lock(&TAKEN);
    if fd < 3 || taken.contains(&fd) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this file descriptor is in use"));
    }
    // SAFETY: only looked at for this call, to learn whether it is open at all.
    rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(fd) })?;
    taken.push(fd);
    // SAFETY: it is open, the program that started this one opened it for this, and nobody took it before.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    rustix::io::fcntl_setfd(&owned, rustix::io::FdFlags::CLOEXEC)?;
    Ok(owned)
}
