//! The few places where the compiler cannot see that we are right.
//!
//! All `unsafe` of this crate is here, each block with its reason. Nothing here knows HTTP.
#![allow(unsafe_code)]

pub(crate) mod board;
pub(crate) mod large_pages;
pub(crate) mod pages;
pub(crate) mod pinned;
pub(crate) mod process;
pub(crate) mod shelf;
pub(crate) mod signals;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use hyper::rt::ReadBufCursor;
use rustix::net::RecvFlags;
use tokio::io::ReadBuf;

/// Has `read` fill the memory that hyper offers, gives what arrived to `accept`, and hands on as many of those bytes as
/// `accept` says (at most all of them).
pub(crate) fn poll_read_into(
    mut cursor: ReadBufCursor<'_>,
    read: impl FnOnce(&mut ReadBuf<'_>) -> Poll<io::Result<()>>,
    accept: impl FnOnce(&[u8]) -> usize,
) -> Poll<io::Result<()>> {
    // SAFETY: `ReadBuf` only ever initialises this memory and never takes back what is initialised.
    let mut buffer = ReadBuf::uninit(unsafe { cursor.as_mut() });
    match read(&mut buffer) {
        Poll::Ready(Ok(())) => {
            let filled = buffer.filled();
            let passed = accept(filled).min(filled.len());
            // SAFETY: the first `filled.len()` bytes are initialised, and `passed` is not more than that.
            unsafe { cursor.advance(passed) };
            Poll::Ready(Ok(()))
        }
        other => other,
    }
}

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

/// Gives the memory that was freed on any thread back to the system.
pub(crate) fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: glibc's own function (malloc_trim(3)): any thread may call it at any time, and it touches free memory only.
        unsafe { malloc_trim(0) };
    }
}

/// Puts free memory in order: small pieces are joined, and each lies where one of its size is looked for. A process that was forked would do the same
/// with its first allocations, and write to most pages of the heap with that.
pub(crate) fn order_free_memory() {
    /// Sorts what was joined into the lists of all sizes that are kept apart, and is no mapping of its own yet.
    const LARGE: usize = 64 << 10;
    give_memory_back();
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGE)));
}

/// A file descriptor that the runtime tells about.
pub(crate) fn hear_of(fd: OwnedFd) -> io::Result<tokio::io::unix::AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is valid for as long as it lives, and nobody can replace or close it in there.
    Ok(unsafe { tokio::io::unix::AsyncFd::register_with_interest(fd, tokio::io::Interest::READABLE)? })
}

/// All threads allocate from one heap. For a process that forks: it has one thread, and its memory is to lie together.
pub(crate) fn one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: glibc's own function (mallopt(3)), called before there are other threads.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Takes over a file descriptor that this process was started with. Each can be taken once, and none of the first
/// three, which belong to the standard library.
pub(crate) fn take_inherited(fd: RawFd) -> io::Result<OwnedFd> {
    static TAKEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if fd < 3 || taken.contains(&fd) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this file descriptor is in use"));
    }
    // SAFETY: only looked at for this call, to learn whether it is open at all.
    rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(fd) })?;
    taken.push(fd);
    // SAFETY: it is open, whoever started us opened it for this, and nobody took it before.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    rustix::io::fcntl_setfd(&owned, rustix::io::FdFlags::CLOEXEC)?;
    Ok(owned)
}
