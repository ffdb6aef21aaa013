//! Standard output and standard error: files, pipes, terminals, or a socket of systemd.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::{Progress, Stopped};

/// A pipe takes this much at once, without mixing it with what others write (`PIPE_BUF`).
const PIECE: usize = 4096;

/// Writes whole lines. A pipe gets pieces, each only when it has room: a reader that stands still stops nobody.
pub(super) fn write(
    fd: BorrowedFd<'_>,
    lines: &[u8],
    patience: Duration,
    progress: Progress<'_>,
) -> Result<(), Stopped> {
    let status = rustix::fs::fstat(fd);
    if status.is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::RegularFile) {
        return write_all(fd, lines).map_err(|(written, error)| Stopped { written, error });
    }
    let deadline = Instant::now() + patience;
    let mut written = 0;
    while written < lines.len() {
        let piece = piece(&lines[written..]);
        let sent = await_room(fd, deadline).map_err(|error| (0, error)).and_then(|()| write_all(fd, piece));
        if let Err((part, error)) = sent {
            return Err(Stopped { written: written + part, error });
        }
        written += piece.len();
        progress.wrote(written);
    }
    Ok(())
}

/// As many whole lines as fit into a piece, or one longer line.
fn piece(lines: &[u8]) -> &[u8] {
    if lines.len() <= PIECE {
        return lines;
    }
    let within = lines[..PIECE].iter().rposition(|byte| *byte == b'\n');
    let first = || lines.iter().position(|byte| *byte == b'\n');
    &lines[..within.or_else(first).map_or(lines.len(), |end| end + 1)]
}

/// Waits until something can be written.
pub(super) fn await_room(fd: BorrowedFd<'_>, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    let left = Timespec::try_from(left).unwrap_or_default();
    match poll(&mut [PollFd::new(&fd, PollFlags::OUT)], Some(&left)) {
        Ok(1..) => Ok(()),
        Ok(0) | Err(Errno::INTR) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Err(error.into()),
    }
}

/// Writes all of it, or tells how much.
pub(super) fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let all = bytes.len();
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(0) => return Err((all - bytes.len(), io::ErrorKind::WriteZero.into())),
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err((all - bytes.len(), error.into())),
        }
    }
    Ok(())
}
