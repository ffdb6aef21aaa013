//! Pages that every forked process writes, copied by the fork itself.
//!
//! A fork shares pages, and the first write to one is an interruption, after which the page is copied. For pages of which it is known
//! beforehand that they will be written, that interruption is the dearer part. Pages that are pinned, as for a device that writes to
//! memory, a fork copies at once (`copy_present_page` in Linux, since 5.12), and its parent keeps the right to write to its own. Pinned they are as
//! buffers of an `io_uring` that is never used. Where that is not allowed, all is as it was, and costs more.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixDatagram;

/// How big a page is that is copied.
const PAGE: usize = 4096;

/// So many processes tell what they wrote; what half of them wrote is pinned.
const TELLERS: usize = 8;

/// Pages that one of them tells of, and that are pinned, at the most: it is locked memory.
const MOST: usize = 500;

/// Which pages forked processes write, as those tell that were forked first.
#[derive(Debug)]
pub(crate) struct Lessons {
    /// Where they may lie.
    pieces: Vec<Range<usize>>,
    ours: UnixDatagram,
    theirs: UnixDatagram,
    told: usize,
    pages: BTreeMap<usize, usize>,
}

/// Keeps pages pinned.
#[derive(Debug)]
pub(crate) struct Pins(#[expect(dead_code, reason = "it is only kept")] OwnedFd);

impl Lessons {
    /// Looks where memory is that can be written.
    pub(crate) fn new() -> io::Result<Self> {
        let maps = std::fs::read_to_string("/proc/self/maps")?;
        let (ours, theirs) = UnixDatagram::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        Ok(Self { pieces: pieces(&maps), ours, theirs, told: 0, pages: BTreeMap::new() })
    }

    /// Tells, in a forked process that is about to end, which pages it has written.
    pub(crate) fn tell(&self) -> io::Result<()> {
        let pagemap = File::open("/proc/self/pagemap")?;
        let mut message = [0; MOST * 8];
        let mut length = 0;
        let mut words = [0; 512];
        for piece in &self.pieces {
            let (mut page, end) = (piece.start / PAGE, piece.end / PAGE);
            while page < end && length < message.len() {
                let wanted = words.len().min((end - page) * 8);
                let read = pagemap.read_at(&mut words[..wanted], page as u64 * 8)?;
                for word in words[..read].chunks_exact(8) {
                    if is_own(word) && length < message.len() {
                        message[length..length + 8].copy_from_slice(&(page * PAGE).to_ne_bytes());
                        length += 8;
                    }
                    page += 1;
                }
                if read < 8 {
                    break;
                }
            }
        }
        self.theirs.send(&message[..length])?;
        Ok(())
    }

    /// Hears what has been told, and gives back what to pin when that is known.
    pub(crate) fn hear(&mut self) -> Option<Vec<Range<usize>>> {
        let mut message = [0; MOST * 8];
        while let Ok(length) = self.ours.recv(&mut message) {
            self.told += 1;
            for address in message[..length].chunks_exact(8) {
                let address = address.try_into().map_or(0, usize::from_ne_bytes);
                *self.pages.entry(address).or_default() += 1;
            }
        }
        (self.told >= TELLERS).then(|| {
            let often = self.pages.iter().filter(|(_, count)| **count * 2 >= self.told);
            joined(often.map(|(address, _)| *address).take(MOST))
        })
    }
}

impl Pins {
    /// Pins these pages of this process. They must be mapped as long as this lives; what is unmapped, stays pinned for nothing.
    pub(crate) fn new(ranges: &[Range<usize>]) -> io::Result<Self> {
        // `io_uring_params`: zero, for nothing special.
        let mut parameters = [0_u32; 30];
        // SAFETY: the kernel fills the parameters, which are as long as it knows them (120 bytes).
        let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) };
        let ring = i32::try_from(ring).ok().filter(|ring| *ring >= 0).ok_or_else(io::Error::last_os_error)?;
        // SAFETY: a new file descriptor that nobody else has.
        let ring = unsafe { OwnedFd::from_raw_fd(ring) };
        let buffers: Vec<libc::iovec> = ranges
            .iter()
            .map(|range| libc::iovec {
                iov_base: std::ptr::with_exposed_provenance_mut(range.start),
                iov_len: range.len(),
            })
            .collect();
        let count = u32::try_from(buffers.len()).map_err(io::Error::other)?;
        // SAFETY: `IORING_REGISTER_BUFFERS` (0) reads so many entries, and pins what they name; nothing is ever read from or written
        // to those buffers, since nothing is submitted to the ring. What is not mapped makes it fail.
        let done = unsafe { libc::syscall(libc::SYS_io_uring_register, ring.as_raw_fd(), 0, buffers.as_ptr(), count) };
        if done == 0 { Ok(Self(ring)) } else { Err(io::Error::last_os_error()) }
    }
}

/// A word of `/proc/PID/pagemap`: present (63), no page of a file (61), mapped by nobody else (56).
fn is_own(word: &[u8]) -> bool {
    let word = word.try_into().map_or(0, u64::from_ne_bytes);
    word >> 63 & 1 == 1 && word >> 61 & 1 == 0 && word >> 56 & 1 == 1
}

/// Private memory that may be written: heap, stack, data.
fn pieces(maps: &str) -> Vec<Range<usize>> {
    maps.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let range = words.next()?;
            (words.next()? == "rw-p").then(|| super::pages::parse(range)).flatten()
        })
        .collect()
}

/// Pages that lie together, as one range.
fn joined(pages: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for page in pages {
        match ranges.last_mut() {
            Some(last) if last.end == page => last.end += PAGE,
            _ => ranges.push(page..page + PAGE),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_lie_together_are_one_range() {
        let ranges = joined([4096, 8192, 20480].into_iter());
        assert_eq!(ranges, [4096..12288, 20480..24576]);
    }

    #[test]
    fn what_is_written_is_private_and_not_of_a_file() {
        let maps = "1000-3000 rw-p 00000000 00:00 0 [heap]\n3000-4000 r--p 0 00:00 0\n5000-6000 rw-s 0 00:01 7 /memfd:x\n\
                    7000-9000 rw-p 0 fe:00 1 /usr/bin/x\n";
        assert_eq!(pieces(maps), [0x1000..0x3000, 0x7000..0x9000]);
        assert!(is_own(&(1_u64 << 63 | 1 << 56).to_ne_bytes()));
        assert!(!is_own(&(1_u64 << 63).to_ne_bytes()), "its parent has it, too");
        assert!(!is_own(&(1_u64 << 63 | 1 << 61 | 1 << 56).to_ne_bytes()), "of a file");
    }

    #[test]
    fn pages_are_pinned_as_long_as_pins_live() {
        let memory = vec![1_u8; 8 * PAGE];
        let start = memory.as_ptr().expose_provenance().next_multiple_of(PAGE);
        // Where that is forbidden, as in many containers, it costs more and nothing is wrong.
        if let Ok(pins) = Pins::new(&[start..start + PAGE, start + 4 * PAGE..start + 6 * PAGE]) {
            assert_eq!(pinned(), 12, "KiB");
            drop(pins);
        }
        let nothing = PAGE..2 * PAGE;
        assert!(Pins::new(std::slice::from_ref(&nothing)).is_err(), "nothing is mapped there");
    }

    /// What `/proc` says of this process.
    fn pinned() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmPin:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}
