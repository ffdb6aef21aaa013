//! The code with `unsafe`: machine code from files, the memory of instances, and calls of libc.
#![allow(unsafe_code)]

mod faults;
mod memory;
mod pagemap;
mod pages;

use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::mm::Advice;
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

use crate::disk::Trusted;
use crate::source::TrustedCode;
pub(crate) use memory::{Discarded, FaultShortcut, Memory, SHORTCUT_MISSED_A_PAGE, can_find_written_pages};
pub(crate) use pages::Pages;

/// Loads a component from a file that the user has named. It is copied, since the file may be written while the server
/// runs.
///
/// wasmtime checks whether code and engine match, not whether a compiler has written the code. So [`TrustedCode`] is
/// only made of files that nobody but this user or root could have written.
pub(crate) fn load(engine: &Engine, code: &TrustedCode<'_>) -> Result<Component> {
    // SAFETY: the bytes were written by `skep compile`, of a user that we trust as much as this one, since nobody else
    // could write them.
    unsafe { Component::deserialize(engine, code.bytes()) }
}

/// A component whose machine code is mapped from a file of the compile cache.
#[derive(Clone)]
pub(crate) struct Mapped(Component);

impl Mapped {
    /// wasmtime checks whether file and engine match (version, settings, processor), not whether a compiler has written
    /// the code. So [`Trusted`] is only made of an open file that belongs to this user or to root, and that nobody else
    /// may write.
    pub(crate) fn new(engine: &Engine, file: &Trusted) -> Result<Self> {
        let file: &File = file.file();
        // The open file itself, whatever its name refers to by now.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: the file was written by `Component::serialize` of a process that we trust as much as this one, since
        // nobody else could write it. It is never changed in place: the cache, whose own file it is, writes a new one
        // and renames it.
        unsafe { Component::deserialize_file(engine, path) }.map(Self)
    }

    pub(crate) fn component(&self) -> &Component {
        &self.0
    }

    /// Drops its pages from memory. Those that are used come back from the page cache with a fault each, and with the
    /// first of them the kernel maps others around it.
    pub(crate) fn release_pages(&self) {
        let range = self.0.image_range();
        let length = range.end.addr() - range.start.addr();
        // SAFETY: all of it is a private mapping of a file, which wasmtime has made read-only when it was loaded, and
        // which needs no relocations: no page of it was ever written, and what comes back is what was there.
        let _ = unsafe { rustix::mm::madvise(range.start.cast_mut().cast(), length, Advice::LinuxDontNeed) };
    }
}

/// Gives back the pages of a slot of the pool, `length` bytes of addresses, whose instance has written nothing.
pub(crate) fn empty(memory: wasmtime::Memory, store: &wasmtime::Store<()>, length: usize) {
    let start = memory.data_ptr(store);
    // SAFETY: the slot belongs to the store, which nobody else has, and the pool reserves this many addresses for each
    // memory. They are mapped privately, and without an image, since the module has none: pages that are used again
    // come back with zeros, which they hold.
    let _ = unsafe { rustix::mm::madvise(start.cast(), length, Advice::LinuxDontNeed) };
}

/// Returns freed memory to the system: a compiler leaves some 20 MB in the arenas of its threads.
pub(crate) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it may be called by any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}
