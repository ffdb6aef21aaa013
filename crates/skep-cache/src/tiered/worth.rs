//! Whether a near tier is worth its time.
//!
//! What hits save is weighed against what looking and filling cost, with times measured on every 32nd call of each kind. A tier that
//! loses in two stretches of 8192 calls, and whose hits do not become more, is switched off; after 16 stretches it is tried again.
//! As long as the far tier was never asked, nobody knows what a hit saves, and nothing is judged.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

#[derive(Debug)]
pub(super) struct Worth {
    off: AtomicBool,
    tokens: AtomicU64,
    calls: AtomicU32,
    hits: AtomicU32,
    looks: AtomicU32,
    fills: AtomicU32,
    asks: AtomicU32,
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
const SAMPLE: u32 = 32;

impl Default for Worth {
    fn default() -> Self {
        let zero = || AtomicU32::new(0);
        Self {
            off: AtomicBool::new(false),
            tokens: AtomicU64::new(1),
            calls: zero(),
            hits: zero(),
            looks: zero(),
            fills: zero(),
            asks: zero(),
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

    /// A number that no other call gets: for leases of the near tier.
    pub(super) fn token(&self) -> u64 {
        self.tokens.fetch_add(1, Ordering::Relaxed)
    }

    /// The near tier is asked. When that began, if it is to be measured.
    #[inline]
    pub(super) fn look(&self) -> Option<Instant> {
        begin(&self.looks)
    }

    pub(super) fn looked(&self, hit: bool, start: Option<Instant>) {
        note(&self.look_nanos, start);
        if hit {
            self.hits.fetch_add(1, Ordering::Relaxed);
            self.called();
        }
    }

    /// A copy is stored.
    pub(super) fn fill(&self) -> Option<Instant> {
        begin(&self.fills)
    }

    pub(super) fn filled(&self, start: Option<Instant>) {
        note(&self.fill_nanos, start);
    }

    /// The far tier is asked for an entry, or given one: where all reads are hits, what a write takes tells what they save.
    pub(super) fn ask(&self) -> Option<Instant> {
        begin(&self.asks)
    }

    pub(super) fn asked(&self, start: Option<Instant>) {
        self.answered(start);
        self.called();
    }

    pub(super) fn answered(&self, start: Option<Instant>) {
        note(&self.far_nanos, start);
    }

    /// Writes count as calls too, so that a tier that is only written comes to its end of a stretch.
    pub(super) fn wrote(&self) {
        self.called();
    }

    fn called(&self) {
        if (self.calls.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(STRETCH) {
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
        let unknown = stretch.far == 0 && stretch.looks > 0;
        if stretch.gain() >= 0 || warming || unknown {
            self.losses.store(0, Ordering::Relaxed);
        } else if self.losses.fetch_add(1, Ordering::Relaxed) + 1 >= 2 {
            self.off.store(true, Ordering::Relaxed);
            tracing::info!(target: "skep_cache", ?stretch, "the near tier costs more than it saves, and rests");
        }
    }
}

/// Counts; gives the time to the first of 32, so that each kind is measured, in whichever order the kinds come.
#[inline]
fn begin(count: &AtomicU32) -> Option<Instant> {
    count.fetch_add(1, Ordering::Relaxed).is_multiple_of(SAMPLE).then(Instant::now)
}

/// Follows a measured time: an eighth of the way each.
fn note(average: &AtomicU32, start: Option<Instant>) {
    let Some(start) = start else { return };
    let nanos = u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX).max(1);
    let before = average.load(Ordering::Relaxed);
    let after = if before == 0 { nanos } else { before - before / 8 + nanos / 8 };
    average.store(after, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const FAST: Duration = Duration::from_nanos(100);
    const SLOW: Duration = Duration::from_nanos(200);
    const FAR: Duration = Duration::from_micros(20);

    /// A moment so long ago.
    fn ago(time: Duration, sample: Option<Instant>) -> Option<Instant> {
        sample.and_then(|now| now.checked_sub(time * 1_000))
    }

    /// A stretch in which one read of `every` is a hit, and each miss is filled. Times are a thousand times as long as
    /// they would be, so that those of the test itself do not matter.
    fn stretch(worth: &Worth, every: u32, far: Duration) {
        for read in 0..STRETCH {
            let hit = worth.is_on() && read % every == 0;
            if worth.is_on() {
                let start = worth.look();
                worth.looked(hit, ago(FAST, start));
            }
            if !hit {
                if worth.is_on() {
                    let start = worth.fill();
                    worth.filled(ago(SLOW, start));
                }
                let start = worth.ask();
                worth.asked(ago(far, start));
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
        (0..40).for_each(|_| stretch(&worth, 2, FAR));
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

    /// Every read follows a write of the same key, and is a hit.
    fn stretch_of_hits(worth: &Worth, far: Option<Duration>) {
        for _ in 0..STRETCH / 2 {
            if let Some(far) = far {
                let start = worth.ask();
                worth.answered(ago(far, start));
            }
            let start = worth.fill();
            worth.filled(ago(SLOW, start));
            worth.wrote();
            let start = worth.look();
            worth.looked(true, ago(FAST, start));
        }
    }

    #[test]
    fn a_tier_in_front_of_one_that_is_never_read_is_judged_by_what_writing_takes() {
        for (far, stays) in [(None, true), (Some(FAR), true), (Some(FAST), false)] {
            let worth = Worth::default();
            (0..4).for_each(|_| stretch_of_hits(&worth, far));
            assert_eq!(worth.is_on(), stays, "{far:?}");
        }
    }
}
