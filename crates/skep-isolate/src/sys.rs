//! What the compiler cannot vouch for: machine code from a file, the memory of an instance, written from outside, and calls to the system's library.
#![allow(unsafe_code)]

mod faults;
mod memory;
mod pagemap;

use std::fs::File;
use std::os::fd::AsRawFd;

use wasmtime::component::Component;
use wasmtime::{Engine, Result};

use crate::disk::Trusted;
use crate::source::Code;
pub(crate) use memory::{Memory, tells_written};

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

/// Gives the system back what was allocated and freed: a compiler leaves some 20 MB of that behind, in places that only its threads use.
pub(crate) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it may be called by any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}
