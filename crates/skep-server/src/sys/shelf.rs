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
use rustix::mm::{Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags, madvise, mprotect, mremap_fixed, munmap};

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

/// The largest page that most processors have, next to the smallest: bytes.
const LARGE: usize = 2 << 20;

/// Copies the code of this program and its constants into large pages of this process, and puts them in its place, as far as whole ones fit. A
/// process that is forked then has all of them at once, where it would otherwise find them piece by piece, with an interruption for each, and
/// put each back at its end. Gives back how many bytes were moved.
///
/// Where constants and code meet in one large page, those constants can be run as code, as all of them could before linkers separated them.
///
/// Refused while this process has other threads.
pub(crate) fn code_into_large_pages() -> io::Result<usize> {
    if super::process::threads()? != 1 {
        return Err(io::Error::other("this process has more than one thread"));
    }
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    // This very function is in it.
    let here = code_into_large_pages as *const () as usize;
    let Some((constants, code)) = program_around(&maps, here) else { return Ok(0) };
    let (constants, code) = whole_pages(&constants, &code);
    replace(&constants, MprotectFlags::READ)?;
    replace(&code, MprotectFlags::READ | MprotectFlags::EXEC)?;
    Ok(constants.len() + code.len())
}

/// The mapping of a file with this address in it, if it can be run and not written; and before it that of the constants of the same file, which
/// is empty if there is none.
fn program_around(maps: &str, address: usize) -> Option<(Range<usize>, Range<usize>)> {
    let mut before = None;
    maps.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [range, flags, _, _, _, path] = words.as_slice() else { return None };
        let range = super::pages::parse(range).filter(|_| path.starts_with('/'))?;
        if *flags == "r-xp" && range.contains(&address) {
            let is_next = |(constants, of): &(Range<usize>, &str)| constants.end == range.start && of == path;
            let constants = before.take().filter(is_next).map_or(range.start..range.start, |(constants, _)| constants);
            return Some((constants, range));
        }
        before = (*flags == "r--p").then_some((range, *path));
        None
    })
}

/// What of them are whole large pages: of constants alone; and of code, the first of which may begin with constants.
fn whole_pages(constants: &Range<usize>, code: &Range<usize>) -> (Range<usize>, Range<usize>) {
    let (start, end) = (constants.start.next_multiple_of(LARGE), code.end / LARGE * LARGE);
    let border = (code.start / LARGE * LARGE).max(start);
    (start..border.max(start), border..end.max(border))
}

fn replace(code: &Range<usize>, then: MprotectFlags) -> io::Result<()> {
    if code.is_empty() {
        return Ok(());
    }
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a new mapping at a place that the kernel chooses, of which nobody else knows.
    let area = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), code.len() + LARGE, protection, flags)? };
    let start = area.map_addr(|start| start.next_multiple_of(LARGE));
    let (before, old) = (start.addr() - area.addr(), std::ptr::with_exposed_provenance_mut::<c_void>(code.start));
    // SAFETY: `start` and so many bytes behind it lie in the new mapping, which is one large page longer than them. The code is mapped,
    // readable, and never written. When it is replaced, by one system call of the only thread, the same bytes are there as before;
    // until then, and if anything fails, nothing has changed.
    let replaced = unsafe {
        let _ = madvise(start, code.len(), Advice::LinuxHugepage);
        std::ptr::copy_nonoverlapping(old.cast::<u8>(), start.cast::<u8>(), code.len());
        mprotect(start, code.len(), then)
            .and_then(|()| mremap_fixed(start, code.len(), code.len(), MremapFlags::MAYMOVE, old))
    };
    // SAFETY: what is left of the new mapping: the edges, and all of it if it was not moved. Nobody holds a reference into it.
    unsafe {
        let _ = munmap(area, before);
        let _ = munmap(start.wrapping_byte_add(code.len()), LARGE - before);
        if replaced.is_err() {
            let _ = munmap(start, code.len());
        }
    }
    replaced?;
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

    #[test]
    fn the_code_with_an_address_in_it_is_found_and_the_constants_before_it() {
        let maps = "0800-1000 r--p 00000000 fe:00 1 /usr/bin/y\n1000-2000 r--p 00000000 fe:00 1 /usr/bin/x\n\
                    2000-5000 r-xp 00001000 fe:00 1 /usr/bin/x\n5000-6000 r--p 00001000 fe:00 1 /usr/bin/x\n\
                    6000-7000 r-xp 00000000 00:00 0 [vdso]\n7000-8000 r-xp 00001000 fe:00 1 /usr/bin/z\n";
        assert_eq!(program_around(maps, 0x2800), Some((0x1000..0x2000, 0x2000..0x5000)));
        assert_eq!(program_around(maps, 0x7800), Some((0x7000..0x7000, 0x7000..0x8000)));
        assert_eq!(program_around(maps, 0x1800), None);
        assert_eq!(program_around(maps, 0x6800), None);
    }

    #[test]
    fn a_large_page_with_some_code_in_it_is_code() {
        const P: usize = LARGE;
        assert_eq!(whole_pages(&(P + 1..4 * P + 5), &(4 * P + 5..7 * P + 9)), (2 * P..4 * P, 4 * P..7 * P));
        // Nothing but code; too little of it; and constants that begin in the same page.
        assert_eq!(whole_pages(&(5..5), &(5..3 * P)), (P..P, P..3 * P));
        let (constants, code) = whole_pages(&(5..5), &(5..P - 1));
        assert!(constants.is_empty() && code.is_empty());
        assert_eq!(whole_pages(&(P + 1..P + 5), &(P + 5..4 * P)), (2 * P..2 * P, 2 * P..4 * P));
    }
}
