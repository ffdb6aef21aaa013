//! What the compiler cannot vouch for: machine code from a file, and the memory of an instance, written from outside.
#![allow(unsafe_code)]

mod pagemap;

use std::fs::File;
use std::os::fd::AsRawFd;

use wasmtime::component::{Component, WasmList};
use wasmtime::{Engine, Result, Store};

use crate::disk::Trusted;
use crate::renew::{PAGE, Pages};
use crate::source::Code;
use crate::state::State;

/// A component of machine code that somebody has named. It is copied: its file is not ours, and may be written in place while it runs.
///
/// Wasmtime looks whether code and engine fit each other, and not whether the code is what a compiler wrote. So [`Code`] is only made of
/// what a file held that nobody but this user, or root, could have written.
pub(crate) fn load(engine: &Engine, code: &Code<'_>) -> Result<Component> {
    // SAFETY: the bytes were written by `skep compile`, of a user that we trust as much as this one, since nobody else could write them.
    unsafe { Component::deserialize(engine, code.bytes()) }
}

/// A component of code that this process, or one like it, has compiled before and kept.
///
/// Wasmtime looks whether file and engine fit each other (version, settings, processor), and not whether the code is what a compiler
/// wrote. So the file must come from nobody but us: [`Trusted`] is only made of an open file that belongs to this user or to
/// root, and that nobody else may write.
pub(crate) fn map(engine: &Engine, file: &Trusted) -> Result<Component> {
    let file: &File = file.file();
    // The open file itself, whatever its name leads to by now.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: the file was written by `Component::serialize` of a process that we trust as much as this one, since nobody else could write
    // it. It is never changed in place: the cache, whose own file it is, writes a new one and renames it.
    unsafe { Component::deserialize_file(engine, path) }
}

/// So much is put back. A page that one request has written is put back after each one that follows: an instance of which this is more is
/// dearer than a new one.
const MOST_WRITTEN: usize = 2 << 20;

/// True if the system says which pages were written: Linux 6.7 and later.
pub(crate) fn tells_written() -> bool {
    pagemap::Pagemap::of_this_process().is_some()
}

/// Where an instance has its memory: all of it, as it was when the instance was made.
#[derive(Debug)]
pub(crate) struct Memory {
    address: usize,
    length: usize,
}

impl Memory {
    /// `all`, which the guest has given as the whole of its memory, from its beginning on.
    pub(crate) fn of(all: &WasmList<u8>, store: &Store<State>) -> Self {
        let bytes = all.as_le_slice(store);
        Self { address: bytes.as_ptr().expose_provenance(), length: bytes.len() }
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
        unsafe { rustix::mm::madvise(start, self.length, rustix::mm::Advice::LinuxDontNeed) }.is_ok()
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Writes into what was written since the memory was made what `pages` have for it. False if that is not everything: then nobody
    /// may use it again.
    pub(crate) fn put_back(&self, _store: &mut Store<State>, pages: &Pages) -> bool {
        let mut written = 0;
        let is_whole = pages.length() == self.length
            && self.each_written(|offset, length| {
                written += length;
                if written <= MOST_WRITTEN {
                    self.write(offset, length, pages);
                }
            });
        is_whole && written <= MOST_WRITTEN
    }

    fn each_written(&self, found: impl FnMut(usize, usize)) -> bool {
        let Some(pagemap) = pagemap::Pagemap::of_this_process() else { return false };
        pagemap.each_written((self.address, self.length), found)
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
