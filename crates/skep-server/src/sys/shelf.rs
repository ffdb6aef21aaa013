//! What a process has initialised, laid where a fork need not copy it.
//!
//! A fork copies the table of pages of all memory that a process has written: 65 000 words for 256 MiB, and at the end of the child
//! each is taken back. Of a file that is mapped privately it copies nothing: who needs a page finds it in the file, and who
//! writes to one gets a page of its own. So what was initialised is put into a file in memory, and mapped from there at the same
//! place.

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};

/// Less than this in one piece costs a fork less than finding it in a file costs the child: bytes.
const WORTH: usize = 4 << 20;

/// Puts what this process has written into a file, and maps it from there. Nothing of it changes, for whoever reads or writes it.
/// What cannot be moved stays as it is. Gives back how many bytes were moved.
///
/// Refused while this process has other threads: what they wrote meanwhile would be lost.
pub(crate) fn put_away() -> io::Result<usize> {
    if super::process::threads()? != 1 {
        return Err(io::Error::other("this process has more than one thread"));
    }
    let smaps = std::fs::read_to_string("/proc/self/smaps")?;
    let mut moved = 0;
    // From here on nothing may be allocated while a piece is on its way: `move_into_file` does not.
    for piece in pieces(&smaps) {
        moved += move_into_file(&piece).map_or(0, |()| piece.len());
    }
    Ok(moved)
}

/// Pieces of private memory that were written, at least by half (`proc_pid_smaps(5)`).
fn pieces(smaps: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut now: Option<Range<usize>> = None;
    for line in smaps.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [range, "rw-p", _, "00:00", "0"] | [range, "rw-p", _, "00:00", "0", "[heap]"] => {
                now = super::pages::parse(range);
            }
            ["Anonymous:", kib, "kB"] => {
                let written = kib.parse::<usize>().unwrap_or(0) << 10;
                all.extend(now.take().filter(|piece| written >= WORTH && written * 2 >= piece.len()));
            }
            [range, flags, ..] if flags.len() == 4 && range.contains('-') => now = None,
            _ => {}
        }
    }
    all
}

fn move_into_file(piece: &Range<usize>) -> io::Result<()> {
    let file = rustix::fs::memfd_create("skep-initialised", MemfdFlags::CLOEXEC)?;
    rustix::fs::ftruncate(&file, piece.len() as u64)?;
    copy(piece, &file)?;
    let place: *mut c_void = std::ptr::with_exposed_provenance_mut(piece.start);
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::FIXED);
    // SAFETY: the file has the very bytes that are there: this process has one thread, and that has written nothing since they were
    // copied but to its stack, which is no such piece. So whoever holds a reference into the piece sees what it saw.
    unsafe { rustix::mm::mmap(place, piece.len(), protection, flags, file.as_fd(), 0)? };
    Ok(())
}

fn copy(piece: &Range<usize>, file: &OwnedFd) -> io::Result<()> {
    let mut done = 0;
    while done < piece.len() {
        let start: *const u8 = std::ptr::with_exposed_provenance(piece.start + done);
        // SAFETY: the kernel has said that this is mapped and readable, and nothing writes to it or unmaps it during the call. Bytes that
        // the program holds for uninitialised are only copied by the kernel.
        let bytes = unsafe { std::slice::from_raw_parts(start, piece.len() - done) };
        done += match rustix::io::write(file, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => count,
            Err(rustix::io::Errno::INTR) => 0,
            Err(error) => return Err(error.into()),
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_private_memory_that_was_written_is_put_away() {
        let smaps = "00400000-00c00000 rw-p 00000000 00:00 0    [heap]\nRss: 8192 kB\nAnonymous: 8192 kB\n\
                     01000000-01100000 rw-p 00000000 00:00 0 \nAnonymous: 1024 kB\n\
                     02000000-04000000 rw-p 00000000 00:00 0 \nAnonymous: 4096 kB\n\
                     05000000-05800000 rw-p 00000000 00:00 0 [stack]\nAnonymous: 8192 kB\n\
                     06000000-06800000 rw-s 00000000 00:01 7 /memfd:x\nAnonymous: 8192 kB\n\
                     07000000-07800000 r--p 00000000 00:00 0 \nAnonymous: 8192 kB\n";
        assert_eq!(format!("{:x?}", pieces(smaps)), "[400000..c00000]");
    }
}
