//! The one thing in here that the compiler cannot vouch for: machine code from a file.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;

use wasmtime::component::Component;
use wasmtime::{Engine, Result};

use crate::disk::Trusted;

/// A component of code that this engine, or one like it, has compiled before.
///
/// Wasmtime looks whether file and engine fit each other (version, settings, processor), and not whether the code is what a compiler
/// wrote. So the file must come from nobody but us: [`Trusted`] is only made of an open file that belongs to this user or to
/// root, and that nobody else may write.
pub(crate) fn load(engine: &Engine, file: &Trusted) -> Result<Component> {
    let file: &File = file.file();
    // The open file itself, whatever its name leads to by now.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: the file was written by `Component::serialize` of a process that we trust as much as this one, since nobody else could write
    // it. It is never changed in place: the cache and `skep compile` write a new file and rename it.
    unsafe { Component::deserialize_file(engine, path) }
}
