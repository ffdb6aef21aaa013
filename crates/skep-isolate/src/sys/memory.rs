//! The memory of an instance, written from outside.

use rustix::io::Errno;
use rustix::mm::Advice;
use wasmtime::Store;
use wasmtime::component::WasmList;

use super::faults::Faults;
use super::pagemap::Pagemap;
use crate::renew::{PAGE, Pages};
use crate::state::State;

/// So much is put back. A page that one request has written is put back after each one that follows: an instance of which this is more is
/// dearer than a new one.
const MOST_WRITTEN: usize = 2 << 20;

/// True if the system says which pages were written: Linux 6.7 and later.
pub(crate) fn tells_written() -> bool {
    Pagemap::of_this_process().is_some()
}

/// Where an instance has its memory: all of it, as it was when the instance was made.
#[derive(Debug)]
pub(crate) struct Memory {
    address: usize,
    length: usize,
    /// What was written since, as it was last seen: offsets and lengths.
    written: Vec<(usize, usize)>,
    /// When that was seen.
    seen: Option<Faults>,
    /// It has pages of the usual size only. One of 2 MiB would be written as a whole with its first byte, and be put together of smaller
    /// ones by the system itself, empty ones among them, which are then written without a fault.
    is_in_small: bool,
}

impl Memory {
    /// `all`, which the guest has given as the whole of its memory, from its beginning on.
    pub(crate) fn of(all: &WasmList<u8>, store: &Store<State>) -> Self {
        let bytes = all.as_le_slice(store);
        let address = bytes.as_ptr().expose_provenance();
        let start = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: it is the memory of an instance in the store; how large its pages are changes nothing of what it holds.
        let advised = unsafe { rustix::mm::madvise(start, bytes.len(), Advice::LinuxNoHugepage) };
        // A system that knows no large pages refuses.
        let is_in_small = matches!(advised, Ok(()) | Err(Errno::INVAL));
        Self { address, length: bytes.len(), written: Vec::new(), seen: None, is_in_small }
    }

    /// What `all` of it holds, and whether the system has that, too. To be called before the guest has run.
    pub(crate) fn read(&self, all: &WasmList<u8>, store: &mut Store<State>) -> Pages {
        let pages = Pages::of(all.as_le_slice(&*store));
        if self.length < PAGE || !self.drop_pages(store) {
            return pages;
        }
        // SAFETY: this is the memory of an instance in the store, which nobody else uses while it is borrowed.
        let now = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(self.address), self.length) };
        // The first page has lent its beginning to a pointer, and is written anew.
        if pages.are(PAGE, &now[PAGE..]) {
            self.write(0, PAGE, &pages);
            return pages.of_an_image();
        }
        self.write(0, self.length, &pages);
        pages
    }

    /// Lets go of pages that were read, or written by whoever had this place before: to look for what was written takes as long as there are
    /// pages, and to put it back as there are such. To be called before the guest has run.
    pub(crate) fn forget(&self, store: &mut Store<State>, pages: &Pages) {
        if pages.are_of_an_image() && pages.length() == self.length && self.drop_pages(store) {
            self.write(0, PAGE, pages);
        }
    }

    /// Takes the pages of this process away. Those of an image come back when they are asked for; others come empty.
    fn drop_pages(&self, _store: &mut Store<State>) -> bool {
        let start = std::ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: this is the memory of an instance in the store, which nobody else uses while it is borrowed. What it holds then, who called
        // this looks after.
        unsafe { rustix::mm::madvise(start, self.length, Advice::LinuxDontNeed) }.is_ok()
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Writes into what was written since the memory was made what `pages` have for it. False if that is not everything: then nobody
    /// may use it again.
    ///
    /// To have the system look takes 8 us for the blog's memory, and is left out where it would find nothing new. Who writes to a page for the first
    /// time faults; the guest and what is called for it run on this thread; so if this thread has not faulted since it was here last, with
    /// this memory, the pages that were written are those of then.
    pub(crate) fn put_back(&mut self, store: &mut Store<State>, pages: &Pages) -> bool {
        let has_faulted = !self.is_in_small || self.seen.is_none() || self.seen != Faults::of_this_thread();
        if pages.length() != self.length || (has_faulted && !self.look(store)) {
            return false;
        }
        for (offset, length) in &self.written {
            self.write(*offset, *length, pages);
        }
        self.seen = Faults::of_this_thread();
        true
    }

    /// Has the system tell what was written. False if it cannot, or if that is too much.
    fn look(&mut self, _store: &mut Store<State>) -> bool {
        let Some(pagemap) = Pagemap::of_this_process() else { return false };
        self.written.clear();
        let mut all = 0;
        let is_told = pagemap.each_written((self.address, self.length), |offset, length| {
            all += length;
            self.written.push((offset, length));
        });
        is_told && all <= MOST_WRITTEN
    }

    /// Only called with the memory's store borrowed, and with parts that are within it.
    fn write(&self, offset: usize, length: usize, pages: &Pages) {
        assert!(offset + length <= self.length, "a part of a memory is within it");
        let start = std::ptr::with_exposed_provenance_mut::<u8>(self.address + offset);
        // SAFETY: a memory of the pool stays where it is, and is never smaller than it was. Its store is borrowed by who called this: so
        // nothing runs in it, and there is no other reference to it.
        let part = unsafe { std::slice::from_raw_parts_mut(start, length) };
        pages.write(offset, part);
    }
}
