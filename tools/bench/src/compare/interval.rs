//! How many times the other's figure is ours, and between which bounds that is to be believed.
//!
//! Figures are compared within their round only: what disturbs the machine for a minute disturbs both of a pair. The
//! mean of the logarithms is taken, so that twice and half stand for the same distance, without the eighth part at
//! either end, so that one wild round does not decide. Its standard error comes from a bootstrap over the pairs, its
//! bounds from Student's t: plain percentiles of resampled means are too narrow for ten rounds (Hesterberg, What
//! Teachers Should Know about the Bootstrap, 2015, 3.3), and would show differences that do not exist.

use fastrand::Rng;

use crate::number::float;

/// How often the pairs are resampled.
const DRAWS: usize = 2000;

/// Fewer pairs have no interval: of four, one draw in 64 is the same pair throughout.
const FEWEST: usize = 5;

/// How many times the other's figure is ours.
///
/// ```
/// use skep_bench::compare::Interval;
///
/// let pairs = [(105.0, 100.0), (104.0, 99.0), (106.0, 100.0), (103.0, 99.0), (105.0, 101.0), (107.0, 101.0)];
/// let interval = Interval::of(&pairs, 0.99).unwrap();
/// assert!(interval.shows_a_difference() && interval.low > 1.03 && interval.high < 1.08);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The geometric mean of the ratios, without the eighth part at either end.
    pub ratio: f64,
    /// The lower bound; 0, if there are too few rounds to say.
    pub low: f64,
    /// The upper bound; infinite, if there are too few rounds to say.
    pub high: f64,
}

impl Interval {
    /// Of the figures of two in the same rounds. `None`: there is no pair of two figures above zero.
    ///
    /// The same pairs have the same interval, always: what is drawn is drawn from a fixed seed.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)], confidence: f64) -> Option<Self> {
        let good = pairs.iter().filter(|(ours, other)| *ours > 0.0 && *other > 0.0);
        let logs: Vec<f64> = good.map(|(ours, other)| (ours / other).ln()).collect();
        let mean = trimmed_mean(&mut logs.clone())?;
        let ratio = mean.exp();
        if logs.len() < FEWEST {
            return Some(Self { ratio, low: 0.0, high: f64::INFINITY });
        }
        let freedom = float((logs.len() - 2 * trimmed(logs.len()) - 1) as u64);
        let half = student((1.0 - confidence) / 2.0, freedom) * standard_error(&logs);
        Some(Self { ratio, low: (mean - half).exp(), high: (mean + half).exp() })
    }

    /// Whether the two differ, as far as these rounds show: 1 is outside. See [`Interval`].
    #[must_use]
    pub fn shows_a_difference(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// Whether there were rounds enough for bounds. See [`Interval`].
    #[must_use]
    pub fn has_bounds(&self) -> bool {
        self.high.is_finite()
    }
}

/// How many are left out at either end.
fn trimmed(count: usize) -> usize {
    count / 8
}

fn trimmed_mean(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let cut = trimmed(values.len());
    let kept = values.get(cut..values.len() - cut).filter(|kept| !kept.is_empty())?;
    Some(kept.iter().sum::<f64>() / float(kept.len() as u64))
}

/// How far the means of drawn pairs lie apart. A draw of n has n - 1 free ones, and so lies closer than it should.
fn standard_error(logs: &[f64]) -> f64 {
    let mut random = Rng::with_seed(logs.len() as u64);
    let mut drawn = vec![0.0; logs.len()];
    let mut draw = |_| {
        for value in &mut drawn {
            *value = logs[random.usize(..logs.len())];
        }
        trimmed_mean(&mut drawn)
    };
    let means: Vec<f64> = (0..DRAWS).filter_map(&mut draw).collect();
    let count = float(means.len() as u64);
    let middle = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|mean| (mean - middle).powi(2)).sum::<f64>() / count;
    let n = float(logs.len() as u64);
    (variance * n / (n - 1.0)).sqrt()
}

/// What Student's t exceeds with this probability: the expansion of Abramowitz and Stegun, 26.7.5, good to 0.3 % from
/// four degrees of freedom on.
fn student(tail: f64, freedom: f64) -> f64 {
    let z = normal(tail);
    let power = |n: i32| z.powi(n);
    let terms = [
        (power(3) + z) / 4.0,
        (5.0 * power(5) + 16.0 * power(3) + 3.0 * z) / 96.0,
        (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * z) / 384.0,
        (79.0 * power(9) + 776.0 * power(7) + 1482.0 * power(5) - 1920.0 * power(3) - 945.0 * z) / 92160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + z
}

/// What the normal distribution exceeds with this probability, below one half (Abramowitz and Stegun, 26.2.23).
fn normal(tail: f64) -> f64 {
    let t = (-2.0 * tail.clamp(1e-12, 0.5).ln()).sqrt();
    t - (2.515_517 + 0.802_853 * t + 0.010_328 * t * t)
        / (1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Box and Muller.
    fn normal(random: &mut Rng) -> f64 {
        (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
    }

    /// Pairs of a run: rounds drift by up to 20 %, each figure has noise of its own, and one round in ten is disturbed.
    fn pairs(random: &mut Rng, rounds: usize, truth: f64, noise: f64) -> Vec<(f64, f64)> {
        let figure = |random: &mut Rng, level: f64| {
            let disturbed = if random.f64() < 0.1 { 1.0 - 0.1 * random.f64() } else { 1.0 };
            level * disturbed * (1.0 + noise * normal(random))
        };
        let mut round = || {
            let level = 1000.0 * (0.9 + 0.2 * random.f64());
            (figure(random, level * truth), figure(random, level))
        };
        (0..rounds).map(|_| round()).collect()
    }

    fn differences(rounds: usize, truth: f64, noise: f64, confidence: f64, comparisons: usize) -> usize {
        let mut random = Rng::with_seed(36);
        let shows = |_: &usize| {
            let pairs = pairs(&mut random, rounds, truth, noise);
            Interval::of(&pairs, confidence).is_some_and(|interval| interval.shows_a_difference())
        };
        (0..comparisons).filter(shows).count()
    }

    #[test]
    fn identical_variants_show_no_difference_in_at_least_95_of_100_comparisons() {
        for rounds in [5, 7, 10, 15] {
            for noise in [0.002, 0.02, 0.1] {
                let wrong = differences(rounds, 1.0, noise, 0.99, 100);
                assert!(wrong <= 5, "{rounds} rounds, noise {noise}: {wrong} of 100");
            }
        }
    }

    #[test]
    fn the_interval_keeps_its_promise_in_the_long_run() {
        let wrong = differences(10, 1.0, 0.02, 0.99, 1000);
        assert!(wrong <= 15, "{wrong} of 1000 at 99 %");
        let wrong = differences(10, 1.0, 0.02, 0.95, 1000);
        assert!((10..=65).contains(&wrong), "{wrong} of 1000 at 95 %");
    }

    #[test]
    fn a_true_difference_of_five_percent_is_found() {
        let found = [(10, 1.05, 0.01), (15, 0.95, 0.01), (20, 1.05, 0.02)];
        let found = found.map(|(rounds, truth, noise)| differences(rounds, truth, noise, 0.99, 100));
        assert!(found[0] >= 75 && found[1] >= 95 && found[2] >= 95, "{found:?} of 100 each");
    }

    #[test]
    fn student_is_as_in_the_tables() {
        for (tail, freedom, table) in
            [(0.005, 4.0, 4.604), (0.005, 9.0, 3.250), (0.025, 9.0, 2.262), (0.025, 30.0, 2.042)]
        {
            assert!(
                (student(tail, freedom) / table - 1.0).abs() < 0.003,
                "{tail} {freedom}: {}",
                student(tail, freedom)
            );
        }
    }

    #[test]
    fn one_wild_round_does_not_decide() {
        let mut pairs: Vec<_> = (0..10).map(|round| (100.0 + f64::from(round % 3), 100.0)).collect();
        pairs[4].0 = 1000.0;
        let interval = Interval::of(&pairs, 0.99).unwrap();
        assert!((interval.ratio - 1.01).abs() < 0.005, "{interval:?}");
    }

    #[test]
    fn a_drift_that_both_have_is_no_difference() {
        let pairs: Vec<_> = (1..=10).map(|round| (f64::from(round) * 100.0, f64::from(round) * 100.0)).collect();
        let interval = Interval::of(&pairs, 0.99).unwrap();
        assert_eq!((interval.ratio, interval.shows_a_difference()), (1.0, false));
    }

    #[test]
    fn too_few_rounds_show_nothing_however_far_apart() {
        let interval = Interval::of(&[(10.0, 1.0), (11.0, 1.0), (12.0, 1.0)], 0.99).unwrap();
        assert!(!interval.has_bounds() && !interval.shows_a_difference() && (interval.ratio - 10.97).abs() < 0.01);
        assert_eq!(Interval::of(&[(1.0, 0.0)], 0.99), None);
    }
}
