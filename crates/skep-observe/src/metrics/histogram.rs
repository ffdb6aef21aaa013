//! Latencies in buckets: four to each doubling, from microseconds to a minute, so that a quantile is off by an eighth
//! at most.

use std::time::Duration;

/// Buckets below a quarter of the first doubling count single microseconds.
const STEPS: u32 = 4;
const STEP_BITS: u32 = 2;
/// Everything from 2^26 us, which is 67 s, is in the last one.
const TOP_BITS: u32 = 26;
pub(super) const BUCKETS: usize = ((TOP_BITS - STEP_BITS) * STEPS + STEPS + 1) as usize;

/// The bounds that Prometheus sees, as powers of two of microseconds: from 64 us to 16.8 s.
const EXPORTED: std::ops::RangeInclusive<u32> = 6..=24;

/// How many latencies fell into which bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS] }
    }
}

/// The bucket of a latency in nanoseconds. Bounds are inclusive, as those of Prometheus are.
pub(super) fn bucket(nanos: u64) -> usize {
    let micros = nanos.saturating_sub(1) / 1000;
    if micros < u64::from(STEPS) {
        return usize::try_from(micros).unwrap_or(0);
    }
    let power = micros.ilog2();
    if power >= TOP_BITS {
        return BUCKETS - 1;
    }
    let step = (micros >> (power - STEP_BITS)) & u64::from(STEPS - 1);
    ((power - STEP_BITS + 1) * STEPS) as usize + usize::try_from(step).unwrap_or(0)
}

/// The upper bound of a bucket in microseconds; `None` for the last one.
fn bound(bucket: usize) -> Option<u64> {
    let bucket = u32::try_from(bucket + 1).ok().filter(|next| (*next as usize) < BUCKETS)?;
    if bucket <= STEPS {
        return Some(bucket.into());
    }
    let (power, step) = (bucket / STEPS - 1 + STEP_BITS, bucket % STEPS);
    Some((1 << power) + (u64::from(step) << (power - STEP_BITS)))
}

impl Histogram {
    pub(crate) fn add_to(&mut self, bucket: usize, count: u64) {
        self.counts[bucket] += count;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }

    /// What was added since an earlier state of the same.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let counts = self.counts.iter().zip(&earlier.counts).map(|(now, then)| now.saturating_sub(*then)).collect();
        Self { counts }
    }

    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The latency that this part of all requests does not exceed: the upper bound of its bucket. `None` if there are
    /// none.
    pub(crate) fn quantile(&self, part: f64) -> Option<Duration> {
        let all = self.count();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank"
        )]
        let rank = ((all as f64 * part).ceil() as u64).clamp(1, all.max(1));
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        (all > 0).then(|| Duration::from_micros(bound(found).unwrap_or(1 << TOP_BITS)))
    }

    /// Bounds in microseconds, and how many latencies are within each.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> {
        EXPORTED.map(|power| {
            let end = ((power - STEP_BITS + 1) * STEPS) as usize;
            (1 << power, self.counts[..end].iter().sum())
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/metrics/histogram.rs"]
mod tests;
