//! How often an instance serves.

use std::time::Duration;

use crate::services::seed;

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

/// Below so many requests an instance serves as many as was said.
const FEW: u32 = 10;

impl Reuse {
    /// For one instance: how many requests it serves is drawn from the last fifth of what was said. Instances that were made at one moment, when
    /// a server had much to do, would otherwise end at one moment, too, and their start-up code run all at once.
    pub(crate) fn drawn(self) -> Self {
        Self { requests: spread(self.requests, seed().0), ..self }
    }
}

fn spread(most: u32, chance: u64) -> u32 {
    if most < FEW {
        return most;
    }
    let fewer = chance % (u64::from(most / 5) + 1);
    most - u32::try_from(fewer).unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_one_moment_end_at_several() {
        assert_eq!((spread(1000, 0), spread(1000, 200), spread(1000, 201)), (1000, 800, 1000));
        assert_eq!((spread(10, 1), spread(10, 2), spread(u32::MAX, u64::MAX) > u32::MAX / 5 * 4), (9, 8, true));
        assert!((1..FEW).all(|few| (0..99).all(|chance| spread(few, chance) == few)), "few are exact");
        let drawn: std::collections::BTreeSet<u32> = (0..1000).map(|_| Reuse::default().drawn().requests).collect();
        assert!(drawn.len() > 100 && drawn.iter().all(|requests| (800..=1000).contains(requests)), "{drawn:?}");
    }
}
