//! The highest rate that a server answers fast enough: arithmetic, and a closure that tries a rate.

use std::time::Duration;

/// What must hold at a rate: a percentage of the answers comes within this time, and none fails.
///
/// ```
/// use skep_bench::load::Bound;
///
/// let bound: Bound = "p99<10ms".parse()?;
/// assert_eq!((bound.percent, bound.within.as_millis()), (99.0, 10));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Which percentile.
    pub percent: f64,
    /// What it may be at most.
    pub within: Duration,
}

impl std::str::FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is no bound; it would be \"p99<10ms\"");
        let (percent, time) = text.strip_prefix('p').and_then(|rest| rest.split_once('<')).ok_or_else(wrong)?;
        let percent = percent.trim().parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
        let within = skep_units::parse_duration(time.trim_start_matches('=')).map_err(|error| error.to_string())?;
        Ok(Self { percent: percent.ok_or_else(wrong)?, within })
    }
}

/// What came of a rate that was tried.
///
/// See [`Search`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tried {
    /// Requests a second.
    pub rate: f64,
    /// Whether the bound held.
    pub held: bool,
}

/// Doubles a rate until the bound breaks, then halves the distance until it is `within` of what is known.
///
/// ```
/// use skep_bench::load::Search;
///
/// let mut search = Search::new(100.0, 0.02);
/// while let Some(rate) = search.next() {
///     search.tried(rate, rate < 1234.0); // a server that breaks at 1234 a second
/// }
/// let best = search.best().unwrap();
/// assert!((1200.0..1234.0).contains(&best));
/// ```
#[derive(Debug, Clone)]
pub struct Search {
    tried: Vec<Tried>,
    first: f64,
    within: f64,
}

/// Rates beyond these are not looked for.
const RANGE: (f64, f64) = (0.5, 1e8);

impl Search {
    /// Begins at a rate, and ends when the answer is known to a part of itself.
    #[must_use]
    pub fn new(first: f64, within: f64) -> Self {
        Self { tried: Vec::new(), first, within }
    }

    /// The rate to try next. `None`: it is known.
    #[must_use]
    pub fn next(&self) -> Option<f64> {
        let rate = match (self.best(), self.broke()) {
            (None, None) => self.first,
            (Some(held), None) => held * 2.0,
            (None, Some(broke)) => broke / 4.0,
            (Some(held), Some(broke)) if broke / held <= 1.0 + self.within => return None,
            (Some(held), Some(broke)) => f64::midpoint(held, broke),
        };
        (RANGE.0..=RANGE.1).contains(&rate).then_some(rate)
    }

    /// Notes what came of a rate.
    pub fn tried(&mut self, rate: f64, held: bool) {
        self.tried.push(Tried { rate, held });
    }

    /// The highest rate at which the bound held, below all at which it broke. See [`Search`].
    #[must_use]
    pub fn best(&self) -> Option<f64> {
        let broke = self.broke().unwrap_or(f64::INFINITY);
        self.tried.iter().filter(|one| one.held && one.rate < broke).map(|one| one.rate).reduce(f64::max)
    }

    fn broke(&self) -> Option<f64> {
        self.tried.iter().filter(|one| !one.held).map(|one| one.rate).reduce(f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(limit: f64, first: f64) -> (Option<f64>, usize) {
        let mut search = Search::new(first, 0.02);
        while let Some(rate) = search.next() {
            search.tried(rate, rate <= limit);
            assert!(search.tried.len() < 60, "it never ends");
        }
        (search.best(), search.tried.len())
    }

    #[test]
    fn the_limit_is_found_from_below_and_from_above() {
        for (limit, first) in [(777.0, 100.0), (777.0, 50_000.0), (3.0, 1000.0), (900_000.0, 1000.0)] {
            let (best, tries) = found(limit, first);
            let best = best.unwrap();
            assert!(best <= limit && best * 1.021 >= limit && tries < 25, "{limit}: {best} after {tries}");
        }
    }

    #[test]
    fn a_server_that_never_holds_the_bound_has_no_rate() {
        assert_eq!(found(0.0, 1000.0).0, None);
    }

    #[test]
    fn what_is_no_bound_is_named() {
        assert_eq!("p99.9<=5ms".parse::<Bound>().unwrap().within, Duration::from_millis(5));
        for bad in ["99<1ms", "p99", "p101<1ms", "p99<soon"] {
            assert!(bad.parse::<Bound>().is_err(), "{bad}");
        }
    }
}
