//! Whether a near tier is worth its time.
//!
//! What hits save is weighed against what looking and filling cost, with times measured on every 32nd call. A tier that loses in two
//! stretches of 8192 reads, and whose hits do not become more, is switched off; after 16 stretches it is tried again.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Worth {
    off: AtomicBool,
    calls: AtomicU64,
    reads: AtomicU32,
    hits: AtomicU32,
    looks: AtomicU32,
    fills: AtomicU32,
    look_nanos: AtomicU32,
    fill_nanos: AtomicU32,
    far_nanos: AtomicU32,
    hits_before: AtomicU32,
    losses: AtomicU32,
    rests: AtomicU32,
}

/// What a stretch showed: how often, and how long each takes in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    hits: u32,
    looks: u32,
    fills: u32,
    look: u32,
    fill: u32,
    far: u32,
}

impl Stretch {
    /// Nanoseconds saved; negative if the tier costs more than it saves.
    fn gain(self) -> i64 {
        let times = |count: u32, nanos: u32| i64::from(count) * i64::from(nanos);
        times(self.hits, self.far) - times(self.looks, self.look) - times(self.fills, self.fill)
    }
}

const STRETCH: u32 = 8_192;
const REST: u32 = 16;
const SAMPLE: u64 = 32;

impl Default for Worth {
    fn default() -> Self {
        let zero = || AtomicU32::new(0);
        Self {
            off: AtomicBool::new(false),
            calls: AtomicU64::new(1),
            reads: zero(),
            hits: zero(),
            looks: zero(),
            fills: zero(),
            look_nanos: zero(),
            fill_nanos: zero(),
            far_nanos: zero(),
            hits_before: zero(),
            losses: zero(),
            rests: zero(),
        }
    }
}

impl Worth {
    pub(super) fn is_on(&self) -> bool {
        !self.off.load(Ordering::Relaxed)
    }

    /// A number that no other call gets: for leases of the near tier, and to choose the calls that are measured.
    pub(super) fn number(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn samples(&self) -> bool {
        self.number().is_multiple_of(SAMPLE)
    }

    pub(super) fn looked(&self, hit: bool, took: Option<Duration>) {
        self.looks.fetch_add(1, Ordering::Relaxed);
        note(&self.look_nanos, took);
        if hit {
            self.hits.fetch_add(1, Ordering::Relaxed);
            self.read();
        }
    }

    pub(super) fn filled(&self, took: Option<Duration>) {
        self.fills.fetch_add(1, Ordering::Relaxed);
        note(&self.fill_nanos, took);
    }

    pub(super) fn asked(&self, took: Option<Duration>) {
        note(&self.far_nanos, took);
        self.read();
    }

    /// Writes count as calls too, so that a tier that is only written comes to its end of a stretch.
    pub(super) fn wrote(&self) {
        self.read();
    }

    fn read(&self) {
        if (self.reads.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(STRETCH) {
            self.judge();
        }
    }

    fn judge(&self) {
        if !self.is_on() {
            if self.rests.fetch_add(1, Ordering::Relaxed) + 1 >= REST {
                self.rests.store(0, Ordering::Relaxed);
                self.losses.store(0, Ordering::Relaxed);
                self.hits_before.store(0, Ordering::Relaxed);
                self.off.store(false, Ordering::Relaxed);
            }
            return;
        }
        let stretch = Stretch {
            hits: self.hits.swap(0, Ordering::Relaxed),
            looks: self.looks.swap(0, Ordering::Relaxed),
            fills: self.fills.swap(0, Ordering::Relaxed),
            look: self.look_nanos.load(Ordering::Relaxed),
            fill: self.fill_nanos.load(Ordering::Relaxed),
            far: self.far_nanos.load(Ordering::Relaxed),
        };
        let before = self.hits_before.swap(stretch.hits, Ordering::Relaxed);
        let warming = stretch.hits > before + before / 10;
        if stretch.gain() >= 0 || warming {
            self.losses.store(0, Ordering::Relaxed);
        } else if self.losses.fetch_add(1, Ordering::Relaxed) + 1 >= 2 {
            self.off.store(true, Ordering::Relaxed);
            tracing::info!(target: "skep_cache", ?stretch, "the near tier costs more than it saves, and rests");
        }
    }
}

/// Follows a measured time: an eighth of the way each.
fn note(average: &AtomicU32, took: Option<Duration>) {
    let Some(took) = took else { return };
    let nanos = u32::try_from(took.as_nanos()).unwrap_or(u32::MAX);
    let before = average.load(Ordering::Relaxed);
    let after = if before == 0 { nanos } else { before - before / 8 + nanos / 8 };
    average.store(after, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Option<Duration> = Some(Duration::from_nanos(100));
    const SLOW: Option<Duration> = Some(Duration::from_nanos(200));

    /// A stretch in which one read of `every` is a hit, and each miss is filled.
    fn stretch(worth: &Worth, every: u32, far: Option<Duration>) {
        for read in 0..STRETCH {
            let hit = worth.is_on() && read % every == 0;
            if worth.is_on() {
                worth.looked(hit, FAST);
            }
            if !hit {
                if worth.is_on() {
                    worth.filled(SLOW);
                }
                worth.asked(far);
            }
        }
    }

    #[test]
    fn a_tier_that_loses_rests_and_is_tried_again() {
        let worth = Worth::default();
        (0..3).for_each(|_| stretch(&worth, 2, SLOW));
        assert!(!worth.is_on());
        (0..REST).for_each(|_| stretch(&worth, 2, SLOW));
        assert!(worth.is_on());
    }

    #[test]
    fn a_tier_that_saves_stays() {
        let worth = Worth::default();
        (0..40).for_each(|_| stretch(&worth, 2, Some(Duration::from_micros(20))));
        assert!(worth.is_on());
    }

    #[test]
    fn a_tier_that_becomes_warm_is_given_time() {
        let worth = Worth::default();
        for every in [1_000, 500, 250, 125, 60, 30, 15, 7, 3] {
            stretch(&worth, every, SLOW);
            assert!(worth.is_on(), "{every}");
        }
    }
}
