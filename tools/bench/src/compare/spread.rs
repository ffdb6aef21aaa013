//! Medians, ranges, ratios within rounds. No means: one bad round would move them.

/// The middle of some figures, and how far they lie apart.
///
/// ```
/// use skep_bench::compare::Spread;
///
/// let spread = Spread::of(&[10.0, 11.0, 12.0, 13.0, 500.0]).unwrap();
/// assert_eq!((spread.median, spread.deviation), (12.0, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The middle one.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// The median distance from the median: what a usual round is off by.
    pub deviation: f64,
}

impl Spread {
    /// `None` without values. See [`Spread`].
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let median = median(values)?;
        let distances: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
        Some(Self {
            median,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            deviation: self::median(&distances)?,
        })
    }
}

/// The middle one, or between the two middle ones.
///
/// ```
/// assert_eq!(skep_bench::compare::median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
/// ```
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(sorted[sorted.len() / 2 - 1], upper))
}

/// How many times the other's figure is ours, round by round.
///
/// A round counts only if both have a figure in it, and the other's is not zero.
///
/// ```
/// assert_eq!(skep_bench::compare::ratios(&[Some(4.0), None], &[Some(2.0), Some(2.0)]), [2.0]);
/// ```
#[must_use]
pub fn ratios(ours: &[Option<f64>], others: &[Option<f64>]) -> Vec<f64> {
    let pairs = ours.iter().zip(others).filter_map(|(ours, other)| Some(((*ours)?, (*other)?)));
    pairs.filter(|(_, other)| *other != 0.0).map(|(ours, other)| ours / other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn one_wild_round_moves_the_range_and_not_the_middle() {
        let spread = Spread::of(&[10.0, 11.0, 12.0, 13.0, 500.0]).unwrap();
        assert_eq!(spread, Spread { median: 12.0, least: 10.0, most: 500.0, deviation: 1.0 });
    }

    #[test]
    fn a_ratio_is_made_within_its_round() {
        // Round 2 ran at half the speed for both: the ratio does not see it.
        let ours = [Some(20.0), Some(10.0), Some(22.0)];
        let others = [Some(10.0), Some(5.0), Some(10.0)];
        assert_eq!(ratios(&ours, &others), [2.0, 2.0, 2.2]);
    }

    #[test]
    fn a_round_without_a_figure_does_not_count() {
        assert_eq!(ratios(&[Some(1.0), None, Some(3.0)], &[Some(0.0), Some(2.0), Some(2.0)]), [1.5]);
    }
}
