//! The directory that is served, and the only way into it.
//!
//! Nothing outside it is ever opened, whatever its symlinks say; nothing is opened by blocking. What is opened is
//! looked at through its handle, so what was checked is what is sent.

// Also where the other is used, to be tested there.
#[cfg(any(not(unix), test))]
mod other;
#[cfg(unix)]
mod unix;

use std::fs::File;

#[cfg(not(unix))]
pub(super) use other::{Root, RootPath};
#[cfg(unix)]
pub(super) use unix::{Root, RootPath};

use super::stamp::Stamp;

/// What a name led to.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) kind: Kind,
    pub(super) stamp: Stamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Regular,
    Directory,
    /// A pipe, a socket, a device: never served.
    Other,
}

/// One line of a listing.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) stamp: Stamp,
}

/// True if a listing may show an entry of this name: it could be asked for.
fn is_listed(name: &str) -> bool {
    !name.starts_with('.') && !name.contains('\\')
}

#[cfg(all(test, unix))]
#[path = "../../tests/unit/files/root.rs"]
mod tests;
