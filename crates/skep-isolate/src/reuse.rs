//! How often an instance serves.

use std::time::Duration;

/// One instance serves several requests. Its statics live on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reuse {
    /// After so many requests it is thrown away.
    pub(crate) requests: u32,
    /// So long it may wait for the next one.
    pub(crate) idle: Duration,
    /// So many it serves at once.
    pub(crate) at_once: u32,
}

impl Default for Reuse {
    fn default() -> Self {
        Self { requests: 1000, idle: Duration::from_mins(1), at_once: 1 }
    }
}

/// What a request begins with: the module cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModuleCache {
    /// An instance of its own, from memory as start-up code has left it. `or_cold`: if there can be no such image, start-up code runs
    /// for each request.
    Snapshot {
        /// Whether to fall back.
        or_cold: bool,
    },
    /// An instance that has served before, with all that it keeps.
    Cached,
    /// An instance of its own, in which start-up code runs.
    Cold,
}

impl Default for ModuleCache {
    fn default() -> Self {
        Self::Snapshot { or_cold: false }
    }
}

impl ModuleCache {
    /// As flags and settings name it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "snapshot" => Self::Snapshot { or_cold: false },
            "snapshot,cold" => Self::Snapshot { or_cold: true },
            "cached" => Self::Cached,
            "cold" => Self::Cold,
            _ => return None,
        })
    }

    /// True if each request has a new instance of the same image.
    pub(crate) fn is_snapshot(self) -> bool {
        matches!(self, Self::Snapshot { .. })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Snapshot { .. } => "snapshot",
            Self::Cached => "cached",
            Self::Cold => "cold",
        }
    }
}
