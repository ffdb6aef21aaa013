//! What can be wrong with a component, an engine or a cache: for whoever starts the server, or the log.

use std::fmt;
use std::io;
use std::path::Path;

use crate::engine::Size;

/// Why a component cannot be served. The text says what, where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong(pub(crate) String);

impl Wrong {
    pub(crate) fn with(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The same, of this file.
    pub(crate) fn of(self, path: &Path) -> Self {
        Self(format!("{}: {}", path.display(), self.0))
    }

    pub(crate) fn unreadable(error: &io::Error) -> Self {
        Self(format!("cannot be read: {error}"))
    }

    pub(crate) fn engine(size: Size, error: &wasmtime::Error) -> Self {
        Self(format!(
            "there is no room for {} instances: {error:#}; fewer need less address space (--instances, ulimit -v)",
            size.instances
        ))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}
