//! The linear memory of an instance, reset from outside.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::mm::Advice;
use wasmtime::Store;
use wasmtime::component::WasmList;

use super::faults::Faults;
use super::pagemap::Pagemap;
use super::pages::{PAGE, Pages};

/// Resets restore at most this many bytes. Pages that one request has written are restored after each later request,
/// too: beyond this size a new instance is cheaper.
const MOST_WRITTEN: usize = 2 << 20;

/// True if the kernel reports written pages: Linux 6.7 and later.
pub(crate) fn can_find_written_pages() -> bool {
    Pagemap::of_this_process().is_some()
}

/// The linear memory of an instance.
#[derive(Debug)]
pub(crate) struct Memory {
    address: usize,
    length: usize,
    /// Runs of pages that the last scan has found written: offset and length, in ascending order.
    written: Vec<(usize, usize)>,
    /// The faults of the thread after the last reset.
    seen: Option<Faults>,
    /// It has pages of the usual size only. The first write to a page of 2 MiB makes all of it written, and the kernel
    /// joins small pages to large ones by itself, empty ones among them, which are then written without a fault.
    is_in_small_pages: bool,
}

/// The setting `page_fault_shortcut`: whether a reset may skip the page-map scan when its thread has met no page fault
/// since the last one.
///
/// The kernel promises no such thing of its fault counter. So one use in [`FaultShortcut::CHECKED`] scans all the same,
/// and the first page that was missed turns the shortcut off for the rest of the process.
#[derive(Debug, Default)]
pub(crate) struct FaultShortcut {
    /// A check has failed.
    is_off: AtomicBool,
    uses: AtomicU32,
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Scan,
    Skip,
    Check,
}

impl FaultShortcut {
    /// One use in this many is checked against the kernel's page map.
    pub(crate) const CHECKED: u32 = 64;

    fn verdict(&self) -> Verdict {
        if self.is_off.load(Ordering::Relaxed) {
            return Verdict::Scan;
        }
        let uses = self.uses.fetch_add(1, Ordering::Relaxed);
        if uses.is_multiple_of(Self::CHECKED) { Verdict::Check } else { Verdict::Skip }
    }
}

/// Why an instance is discarded instead of reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Discarded(pub(crate) &'static str);

pub(crate) const SHORTCUT_MISSED_A_PAGE: Discarded =
    Discarded("the page-fault shortcut would have missed a written page");
const NO_PAGE_MAP: Discarded = Discarded("the kernel does not report its pages");

impl Memory {
    /// `all`: the whole memory as the guest has returned it.
    pub(crate) fn new<T: 'static>(all: &WasmList<u8>, store: &Store<T>) -> Self {
        let bytes = all.as_le_slice(store);
        Self::at(bytes.as_ptr().expose_provenance(), bytes.len())
    }

    fn at(address: usize, length: usize) -> Self {
        let start = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: the range is mapped memory, of an instance or of a test; the size of its pages does not change its
        // contents.
        let advised = unsafe { rustix::mm::madvise(start, length, Advice::LinuxNoHugepage) };
        // A kernel without large pages refuses.
        let is_in_small_pages = matches!(advised, Ok(()) | Err(Errno::INVAL));
        Self { address, length, written: Vec::new(), seen: None, is_in_small_pages }
    }

    /// Copies what `all` of it holds, and finds out whether the kernel restores it when its pages are dropped. To be
    /// called before the guest runs.
    pub(crate) fn read<T: 'static>(&self, all: &WasmList<u8>, store: &mut Store<T>) -> Pages {
        let pages = Pages::of(all.as_le_slice(&*store));
        if self.length < PAGE || !self.drop_pages(store) {
            return pages;
        }
        // SAFETY: this is the memory of an instance in the store, which nobody else uses while it is borrowed.
        let now = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(self.address), self.length) };
        // The first page holds the pointer that the guest has returned, and is written again.
        if pages.are(PAGE, &now[PAGE..]) {
            self.write(0, PAGE, &pages);
            return pages.of_an_image();
        }
        self.write(0, self.length, &pages);
        pages
    }

    /// Drops pages that were read, or written by the previous user of this slot of the pool: a scan takes time for each
    /// page that is there. To be called before the guest runs.
    pub(crate) fn forget<T: 'static>(&self, store: &mut Store<T>, pages: &Pages) {
        if pages.are_of_an_image() && pages.length() == self.length && self.drop_pages(store) {
            self.write(0, PAGE, pages);
        }
    }

    /// Drops the pages of this process. Those of an image come back when they are used; others come back empty.
    fn drop_pages<T: 'static>(&self, _store: &mut Store<T>) -> bool {
        let start = std::ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: this is the memory of an instance in the store, which nobody else uses while it is borrowed. The
        // caller restores its contents.
        unsafe { rustix::mm::madvise(start, self.length, Advice::LinuxDontNeed) }.is_ok()
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Restores every page that was written since the memory was made. After an error nobody may use it again.
    ///
    /// The scan takes 8 us for the blog's memory. With `shortcut` it is skipped when this thread has met no page fault
    /// since the last reset: the first write to a page faults, and the guest and its host calls run on this thread.
    pub(crate) fn reset<T: 'static>(
        &mut self,
        store: &mut Store<T>,
        pages: &Pages,
        shortcut: Option<&FaultShortcut>,
    ) -> Result<(), Discarded> {
        if pages.length() != self.length {
            return Err(Discarded("its memory has another size than its image"));
        }
        let is_quiet = self.is_in_small_pages && self.seen.is_some() && self.seen == Faults::of_this_thread();
        let verdict = shortcut.filter(|_| is_quiet).map_or(Verdict::Scan, FaultShortcut::verdict);
        match verdict {
            Verdict::Skip => {}
            Verdict::Scan => self.written = self.scan(store)?,
            Verdict::Check => {
                let found = self.scan(store)?;
                if !covers(&self.written, &found) {
                    if let Some(shortcut) = shortcut {
                        shortcut.is_off.store(true, Ordering::Relaxed);
                    }
                    return Err(SHORTCUT_MISSED_A_PAGE);
                }
                self.written = found;
            }
        }
        for (offset, length) in &self.written {
            self.write(*offset, *length, pages);
        }
        self.seen = shortcut.and_then(|_| Faults::of_this_thread());
        Ok(())
    }

    /// The written pages, as the kernel reports them.
    fn scan<T: 'static>(&self, _store: &mut Store<T>) -> Result<Vec<(usize, usize)>, Discarded> {
        let pagemap = Pagemap::of_this_process().ok_or(NO_PAGE_MAP)?;
        let (mut written, mut all) = (Vec::with_capacity(self.written.len()), 0);
        let is_complete = pagemap.each_written((self.address, self.length), |offset, length| {
            all += length;
            written.push((offset, length));
        });
        if !is_complete {
            return Err(NO_PAGE_MAP);
        }
        if all > MOST_WRITTEN { Err(Discarded("it has written too much")) } else { Ok(written) }
    }

    /// To be called with the memory's store borrowed.
    fn write(&self, offset: usize, length: usize, pages: &Pages) {
        assert!(offset + length <= self.length, "a part of a memory is within it");
        let start = std::ptr::with_exposed_provenance_mut::<u8>(self.address + offset);
        // SAFETY: a memory of the pool never moves and never shrinks. Its store is borrowed by the caller: nothing runs
        // in it, and there is no other reference to it.
        let part = unsafe { std::slice::from_raw_parts_mut(start, length) };
        pages.write(offset, part);
    }
}

/// True if each of these runs is within the known ones. Both are in ascending order.
fn covers(known: &[(usize, usize)], found: &[(usize, usize)]) -> bool {
    let is_known = |page: usize| known.iter().any(|(offset, length)| (*offset..offset + length).contains(&page));
    found.iter().all(|(offset, length)| (*offset..offset + length).step_by(PAGE).all(is_known))
}

#[cfg(test)]
mod tests {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    use wasmtime::Engine;

    use super::*;

    const LENGTH: usize = 16 * PAGE;

    /// A mapping of zeros, which is never unmapped.
    fn mapping() -> (Memory, &'static mut [u8]) {
        // SAFETY: it is new memory, wherever there is room.
        let bytes = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let start = mmap_anonymous(std::ptr::null_mut(), LENGTH, access, MapFlags::PRIVATE).unwrap();
            std::slice::from_raw_parts_mut(start.cast::<u8>(), LENGTH)
        };
        (Memory::at(bytes.as_ptr().expose_provenance(), LENGTH), bytes)
    }

    #[test]
    fn a_page_that_the_shortcut_would_miss_turns_it_off() {
        if !can_find_written_pages() {
            return;
        }
        let (mut memory, bytes) = mapping();
        let image = Pages::of(&vec![0; LENGTH]);
        let mut store = Store::new(&Engine::default(), ());
        let shortcut = FaultShortcut::default();
        bytes[0] = 1;
        assert_eq!(memory.reset(&mut store, &image, Some(&shortcut)), Ok(()));
        assert_eq!((bytes[0], memory.written.as_slice()), (0, &[(0, PAGE)][..]));
        bytes[3 * PAGE] = 7;
        // As if the kernel had not counted the fault of that write.
        memory.seen = Faults::of_this_thread();
        assert_eq!(memory.reset(&mut store, &image, Some(&shortcut)), Err(SHORTCUT_MISSED_A_PAGE));
        assert_eq!(shortcut.verdict(), Verdict::Scan, "for good");
        assert_eq!(memory.reset(&mut store, &image, Some(&shortcut)), Ok(()), "by a scan");
        assert_eq!(bytes[3 * PAGE], 0);
    }

    #[test]
    fn one_use_of_the_shortcut_in_64_is_checked() {
        let shortcut = FaultShortcut::default();
        let checked = (0..640).filter(|_| shortcut.verdict() == Verdict::Check).count();
        assert_eq!(checked, 10);
    }

    #[test]
    fn every_page_that_was_found_must_be_known() {
        let known = [(0, PAGE), (2 * PAGE, 2 * PAGE)];
        assert!(covers(&known, &[(0, PAGE), (3 * PAGE, PAGE)]) && covers(&known, &[]));
        assert!(!covers(&known, &[(PAGE, PAGE)]) && !covers(&known, &[(2 * PAGE, 3 * PAGE)]));
    }
}
