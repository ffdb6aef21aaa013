//! What `Cache` costs over the driver called directly: every driver, every cell of the post.

use crate::Result;
use crate::flags::Flags;
use crate::outcome::Outcome;
use crate::peer::ENTRIES;
use crate::posts::{KEYS, ROOM, mixes};
use crate::rounds::{self, Rounds};
use crate::shared::verdict;
use crate::site::Site;

/// Drivers so fast that a percentage says nothing: their limit is in nanoseconds.
const QUICK: [&str; 3] = ["skep null", "skep memory", "skep shared"];
const NANOS: f64 = 30.0;
const TIMES: f64 = 1.05;

pub(crate) fn run(flags: &Flags) -> Result<Outcome> {
    let site = Site::lay_out(KEYS, ROOM)?;
    let ours = ENTRIES.iter().filter(|entry| entry.name.starts_with("skep "));
    let rounds = rounds::run(rounds::start(ours, &site.start, flags)?, mixes(), false, flags)?;
    let mut outcome =
        Outcome::new("interface", "`Cache` over its driver, and the driver called directly; medians of rounds.");
    let nanos = |name: &str, mix| rounds.nanos(name, mix).map(|nanos| format!("{:.0}", nanos.median));
    outcome.table("Nanoseconds an operation:", rounds.table("ns", nanos));
    let more = |name: &str, mix| {
        let more = rounds.more_nanos(name, direct(name)?, mix)?.median;
        let times = rounds.ratio(direct(name)?, name, mix)?.median;
        Some(format!("{more:.0} ({:+.1} %)", (times - 1.0) * 100.0))
    };
    outcome.table("How much more it is through `Cache`, in nanoseconds and in percent:", rounds.table("more", more));
    let cached = rounds.names.iter().filter(|name| direct(name).is_some());
    outcome.verdicts = cached.filter_map(|name| verdicts(&rounds, name)).collect();
    rounds.missed().into_iter().filter(|line| !line.contains("null")).for_each(|warning| outcome.note(warning));
    outcome.raw = rounds.raw();
    Ok(outcome)
}

/// `skep memory, Cache` is `skep memory` behind the interface.
fn direct(name: &str) -> Option<&str> {
    name.strip_suffix(", Cache")
}

/// The worst cell of a driver.
fn verdicts(rounds: &Rounds, name: &str) -> Option<String> {
    let driver = direct(name)?;
    let quick = QUICK.contains(&driver);
    let cells = (0..rounds.mixes.len()).filter_map(|mix| {
        let found = if quick { rounds.more_nanos(name, driver, mix) } else { rounds.ratio(driver, name, mix) };
        Some((found?, rounds.mixes[mix]))
    });
    let (worst, mix) = cells.max_by(|one, other| one.0.median.total_cmp(&other.0.median))?;
    let goal = if quick {
        format!("{driver}: `Cache` adds at most {NANOS:.0} ns (worst cell {mix})")
    } else {
        format!("{driver}: `Cache` takes at most {TIMES} times as long (worst cell {mix})")
    };
    Some(verdict(&goal, worst, if quick { NANOS } else { TIMES }, false))
}
