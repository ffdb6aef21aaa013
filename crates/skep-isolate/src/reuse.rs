//! How often an instance serves.

use std::time::Duration;

use skep_settings::{DAY, MINUTE, settings, words};

use crate::random::seed;

settings! {
    /// An instance serves several requests, with its statics.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Reuse in "component" {
        /// `cached`: maximum number of requests of an instance. From 10 on, each instance draws its own maximum from
        /// the upper fifth, so that instances do not all end together. An instance that traps, or exceeds its time or
        /// memory, ends at once. A program that asks for reuse (`module::cache`) has this limit, too.
        requests as "component.reuse_requests": u32 = Number(1..=4_294_967_295), 1000, flag "--reuse-requests" "N";
        /// `cached`: time after which an idle instance ends. It limits what a program may ask for, too.
        idle as "component.reuse_idle": Duration = Duration(1..=366 * DAY), MINUTE, flag "--reuse-idle" "TIME";
    }
}

/// Smaller numbers of requests are exact.
const FEW: u32 = 10;

impl Reuse {
    /// Draws the number of requests of one instance from the last fifth. Instances that were made at one moment would
    /// otherwise end at one moment, and their start-up code would run at once.
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

/// What a request begins with: the setting `module_cache`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ModuleCache {
    /// An instance of its own, with the memory that start-up code has left.
    #[default]
    Snapshot,
    /// The same; if no image can hold that memory, start-up code runs for each request.
    SnapshotOrCold,
    /// An instance that has served before, with its state.
    Cached,
    /// An instance of its own, in which start-up code runs.
    Cold,
}

words! {
    ModuleCache { Snapshot = "snapshot", Cold = "cold", Cached = "cached", SnapshotOrCold = "snapshot,cold" }
}

impl ModuleCache {
    /// True if each request has a new instance of the same image.
    pub(crate) fn is_snapshot(self) -> bool {
        matches!(self, Self::Snapshot | Self::SnapshotOrCold)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Snapshot | Self::SnapshotOrCold => "snapshot",
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
        let reuse = Reuse { requests: 1000, idle: Duration::from_mins(1) };
        let drawn: std::collections::BTreeSet<u32> = (0..1000).map(|_| reuse.drawn().requests).collect();
        assert!(drawn.len() > 100 && drawn.iter().all(|requests| (800..=1000).contains(requests)), "{drawn:?}");
    }
}
