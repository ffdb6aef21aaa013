//! What the compiler cannot vouch for: machine code from a file, the memory of an instance, written from outside, and calls to the system's library.
#![allow(unsafe_code)]

mod faults;
mod memory;
mod pagemap;

use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::mm::Advice;
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

use crate::artifact::Artifact;
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

/// A component of machine code that a compiler of this process wrote, or one like it: nobody else can make an [`Artifact`].
pub(crate) fn made(engine: &Engine, artifact: &Artifact) -> Result<Component> {
    // SAFETY: it was written by `Engine::precompile_component`, and what was changed of it since is what memory and globals begin with, which code is
    // not compiled for: but for the least size of memory, and that was not made smaller (`Artifact::with`).
    unsafe { Component::deserialize(engine, artifact.bytes()) }
}

/// A component of code that this process, or one like it, has compiled before and kept, where the file is mapped.
#[derive(Clone)]
pub(crate) struct Mapped(Component);

impl Mapped {
    /// Wasmtime looks whether file and engine fit each other (version, settings, processor), and not whether the code is what a compiler
    /// wrote. So the file must come from nobody but us: [`Trusted`] is only made of an open file that belongs to this user or to
    /// root, and that nobody else may write.
    pub(crate) fn new(engine: &Engine, file: &Trusted) -> Result<Self> {
        let file: &File = file.file();
        // The open file itself, whatever its name leads to by now.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: the file was written by `Component::serialize` of a process that we trust as much as this one, since nobody else could
        // write it. It is never changed in place: the cache, whose own file it is, writes a new one and renames it.
        unsafe { Component::deserialize_file(engine, path) }.map(Self)
    }

    pub(crate) fn component(&self) -> &Component {
        &self.0
    }

    /// Takes its pages out of this process. Those that it uses come back with a fault each, from the system's cache of the file: with the
    /// first of them the system brings the others around it, too, and nearly all of a component's code was there after one request.
    pub(crate) fn let_go(&self) {
        let range = self.0.image_range();
        let length = range.end.addr() - range.start.addr();
        // SAFETY: all of it is a private mapping of a file, which wasmtime has made read-only when it was loaded, and which needs no
        // relocations: no page of it was ever written, and what comes back is what was there.
        let _ = unsafe { rustix::mm::madvise(range.start.cast_mut().cast(), length, Advice::LinuxDontNeed) };
    }
}

/// Gives the system back what was allocated and freed: a compiler leaves some 20 MB of that behind, in places that only its threads use.
pub(crate) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it may be called by any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}
