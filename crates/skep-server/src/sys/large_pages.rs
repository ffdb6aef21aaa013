//! The code of this program and its constants, in large pages.
//!
//! A process that is forked finds its code piece by piece, with an interruption for each, and puts each back at its end. Of a large page
//! of memory it has all at once, with the fork. So what is in use is copied into such pages, and these are put in its place.
//!
//! Copying a large page takes milliseconds, in which nobody else is served by this process: hence one at a time.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use rustix::mm::{Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags, madvise, mprotect, mremap_fixed, munmap};

/// The largest page that most processors have, next to the smallest; and that: bytes.
const LARGE: usize = 2 << 20;
const SMALL: usize = 4096;

/// A large page of which fewer small ones were used than this costs more memory than it saves time. The kernel brings sixteen with each
/// interruption (`fault_around_bytes`).
const USED: usize = 32;

/// Large pages of this program that are still to be copied.
#[derive(Debug)]
pub(crate) struct LargePages(Vec<Piece>);

/// As long as a large page.
#[derive(Debug)]
struct Piece {
    /// Where it is, and stays.
    place: *mut c_void,
    /// Where it is copied to, before that is put in its place. Nobody else knows of it.
    copy: *mut c_void,
    then: MprotectFlags,
}

impl LargePages {
    /// Finds what this program has used so far. Constants and code that meet in one large page are taken for code: those constants can be
    /// run then, as all of them could before linkers separated them.
    pub(crate) fn of_this_program() -> io::Result<Self> {
        let maps = std::fs::read_to_string("/proc/self/maps")?;
        // This very function is in it.
        let here = Self::of_this_program as *const () as usize;
        let Some((constants, code)) = program_around(&maps, here) else { return Ok(Self(Vec::new())) };
        let (constants, code) = whole_pages(&constants, &code);
        if constants.start == code.end {
            return Ok(Self(Vec::new()));
        }
        Self::prepare(constants.start..code.end, code.start)
    }

    /// What was used of this range, which is constants up to `border` and then code. The places for the copies are one mapping, so that
    /// neighbours become one again: a fork copies a list of mappings.
    fn prepare(all: Range<usize>, border: usize) -> io::Result<Self> {
        let pagemap = File::open("/proc/self/pagemap")?;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a new mapping at a place that the kernel chooses, of which nobody else knows.
        let area = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), all.len() + LARGE, protection, flags)? };
        let first = area.map_addr(|start| start.next_multiple_of(LARGE));
        let before = first.addr() - area.addr();
        // SAFETY: the edges of the new mapping.
        let _ = unsafe { (munmap(area, before), munmap(first.wrapping_byte_add(all.len()), LARGE - before)) };
        // SAFETY: what is left of it.
        let _ = unsafe { madvise(first, all.len(), Advice::LinuxHugepage) };
        let pieces = all.clone().step_by(LARGE).map(|start| Piece {
            place: std::ptr::with_exposed_provenance_mut(start),
            copy: first.wrapping_byte_add(start - all.start),
            then: if start < border { MprotectFlags::READ } else { MprotectFlags::READ | MprotectFlags::EXEC },
        });
        // What is not wanted is unmapped by being dropped.
        let mut wanted: Vec<Piece> = pieces.filter(|piece| used(&pagemap, piece.place.addr()) >= USED).collect();
        wanted.reverse();
        Ok(Self(wanted))
    }

    /// True if there is something to copy.
    pub(crate) fn are_left(&self) -> bool {
        !self.0.is_empty()
    }

    /// Copies the next one. Refused while this process has other threads. What failed is left as it was, with all that would have followed.
    pub(crate) fn copy_next(&mut self) -> io::Result<()> {
        let is_alone = || match super::process::threads()? {
            1 => Ok(()),
            _ => Err(io::Error::other("this process has more than one thread")),
        };
        let copied = self.0.pop().map_or(Ok(()), |piece| is_alone().and_then(|()| piece.replace()));
        if copied.is_err() {
            self.0.clear();
        }
        copied
    }
}

impl Piece {
    fn replace(self) -> io::Result<()> {
        // SAFETY: both are mapped and so long, and apart. The program is readable and never written. When it is replaced, by one system call of
        // the only thread, the same bytes are there as before; until then, and if anything fails, nothing has changed.
        unsafe {
            std::ptr::copy_nonoverlapping(self.place.cast::<u8>(), self.copy.cast::<u8>(), LARGE);
            mprotect(self.copy, LARGE, self.then)?;
            mremap_fixed(self.copy, LARGE, LARGE, MremapFlags::MAYMOVE, self.place)?;
        }
        // It was moved: whatever is mapped there from now on is another's.
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: it was mapped for this piece alone and has not been moved. Nobody holds a reference into it.
        let _ = unsafe { munmap(self.copy, LARGE) };
    }
}

/// How many small pages of the large one at this address this process has in use (`pagemap`: bit 63). All, if that cannot be said.
fn used(pagemap: &File, address: usize) -> usize {
    let mut words = [0; LARGE / SMALL * 8];
    match pagemap.read_exact_at(&mut words, (address / SMALL * 8) as u64) {
        Ok(()) => words.chunks_exact(8).filter(|word| word[7] & 0x80 != 0).count(),
        Err(_) => LARGE / SMALL,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_is_used_is_copied_and_stays_where_it_is() {
        let file = rustix::fs::memfd_create("program", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::io::write(&file, &vec![7; 4 * LARGE]).unwrap();
        // SAFETY: a new mapping, of which only this test knows; it stays to the end of the process.
        let start = unsafe {
            let (read, flags) = (ProtFlags::READ, MapFlags::PRIVATE);
            rustix::mm::mmap(std::ptr::null_mut(), 4 * LARGE, read, flags, &file, 0).unwrap().cast::<u8>()
        };
        let first = start.map_addr(|start| start.next_multiple_of(LARGE));
        // SAFETY: it is mapped, all four of them but what lies before the first whole one.
        let byte = |at: usize| unsafe { first.wrapping_byte_add(at).read_volatile() };
        let touch = |from: usize, pages| assert!((0..pages).all(|page| byte(from + page * SMALL) == 7));
        touch(0, LARGE / SMALL);
        touch(2 * LARGE, 1);
        let pages = LargePages::prepare(first.addr()..first.addr() + 3 * LARGE, usize::MAX).unwrap();
        let places: Vec<usize> = pages.0.iter().map(|piece| piece.place.addr()).collect();
        assert_eq!(places, [first.addr()], "one is not used, and one hardly");
        for piece in pages.0 {
            piece.replace().unwrap();
        }
        rustix::io::pwrite(&file, &vec![8; 4 * LARGE], 0).unwrap();
        let now = [0, LARGE - 1, LARGE, 3 * LARGE - 1].map(byte);
        assert_eq!(now, [7, 7, 8, 8], "what was copied is no longer the file's");
    }
}
