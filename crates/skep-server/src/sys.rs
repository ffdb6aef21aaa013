//! The few places where the compiler cannot see that we are right.
//!
//! All `unsafe` of this crate is here, each block with its reason. Nothing here knows HTTP.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, ReadBuf};

/// Reads from `socket` straight into the memory that hyper offers, gives what arrived to `accept`, and hands on as many
/// of those bytes as `accept` says (at most all of them).
pub(crate) fn poll_read_into<S: AsyncRead + Unpin>(
    socket: &mut S,
    cx: &mut Context<'_>,
    mut cursor: ReadBufCursor<'_>,
    accept: impl FnOnce(&[u8]) -> usize,
) -> Poll<io::Result<()>> {
    // SAFETY: `ReadBuf` only ever initialises this memory and never takes back what is initialised.
    let mut buffer = ReadBuf::uninit(unsafe { cursor.as_mut() });
    match Pin::new(socket).poll_read(cx, &mut buffer) {
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
