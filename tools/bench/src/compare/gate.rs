//! A condition for CI: `a>=0.97*b`.

use std::fmt;
use std::str::FromStr;

use super::interval::Interval;
use super::measure::Measure;
use super::rounds::Rounds;
use crate::number::{float, whole};

/// A condition on two variants: `new>=0.97*old`, `p99:new<=1.1*old`, `cpu:new<=old`. Without a measure it is about the
/// rate.
///
/// ```
/// use skep_bench::compare::Gate;
///
/// let gate: Gate = "p99:new<=1.1*old".parse()?;
/// assert_eq!(gate.to_string(), "p99:new<=1.1*old");
/// assert!("new=old".parse::<Gate>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    measure: Measure,
    ours: String,
    at_least: bool,
    times: f64,
    other: String,
}

/// What came of a [`Gate`]: the worst is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The whole interval is on the good side.
    Holds,
    /// The bound lies within the interval: these rounds do not say.
    Open,
    /// The whole interval is on the bad side.
    Broken,
}

/// More rounds than these are no advice.
const MOST_ROUNDS: usize = 1000;

/// Rounds that suffice if there were too few for bounds.
const USUAL_ROUNDS: usize = 10;

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is no gate; it would be \"new>=0.97*old\" or \"p99:new<=1.1*old\"");
        let (at_least, (left, right)) = text
            .split_once(">=")
            .map(|sides| (true, sides))
            .or_else(|| text.split_once("<=").map(|sides| (false, sides)))
            .ok_or_else(wrong)?;
        let (measure, ours) = match left.split_once(':') {
            Some((key, ours)) => (Measure::of_key(key.trim())?, ours.trim()),
            None => (Measure::Rate, left.trim()),
        };
        let (times, other) = match right.split_once('*') {
            Some((times, other)) => (times.trim().parse::<f64>().map_err(|_| wrong())?, other.trim()),
            None => (1.0, right.trim()),
        };
        if ours.is_empty() || other.is_empty() || !times.is_finite() || times <= 0.0 {
            return Err(wrong());
        }
        Ok(Self { measure, ours: ours.to_owned(), at_least, times, other: other.to_owned() })
    }
}

impl Gate {
    /// Whether both variants take part; otherwise who does not. See [`Gate`].
    pub fn check(&self, names: &[&str]) -> Result<(), String> {
        match [&self.ours, &self.other].into_iter().find(|name| !names.contains(&name.as_str())) {
            Some(name) => {
                Err(format!("no variant is called \"{name}\" (--gate {self}); there are {}", names.join(", ")))
            }
            None => Ok(()),
        }
    }

    /// Whether it holds, as far as the rounds say; and the interval that says so. `None`: it was not measured. See
    /// [`Gate`].
    #[must_use]
    pub fn outcome(&self, rounds: &Rounds, confidence: f64) -> Option<(Outcome, Interval)> {
        let interval = rounds.interval(&self.ours, &self.other, self.measure, confidence)?;
        let (above, below) = (interval.low >= self.times, interval.high <= self.times);
        let outcome = match (above, below) {
            (true, true) => Outcome::Holds,
            (true, false) => {
                if self.at_least {
                    Outcome::Holds
                } else {
                    Outcome::Broken
                }
            }
            (false, true) => {
                if self.at_least {
                    Outcome::Broken
                } else {
                    Outcome::Holds
                }
            }
            (false, false) => Outcome::Open,
        };
        Some((outcome, interval))
    }

    /// How many rounds would decide it, if the ratio is what these rounds showed: half the interval shrinks with the
    /// root of their number. `None`: too many for anybody. See [`Gate`].
    #[must_use]
    pub fn rounds_to_decide(&self, interval: Interval, rounds: usize) -> Option<usize> {
        if !interval.has_bounds() {
            return Some(USUAL_ROUNDS.max(rounds + 1));
        }
        let half = (interval.high / interval.low).ln() / 2.0;
        let distance = (interval.ratio / self.times).ln().abs();
        let enough = (half / distance).powi(2) * float(rounds as u64);
        (enough < float(MOST_ROUNDS as u64))
            .then(|| usize::try_from(whole(enough.ceil())).unwrap_or(MOST_ROUNDS).max(rounds + 1))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.measure != Measure::Rate {
            write!(f, "{}:", self.measure.key())?;
        }
        write!(f, "{}{}", self.ours, if self.at_least { ">=" } else { "<=" })?;
        #[expect(clippy::float_cmp, reason = "it is 1 if nothing else was said")]
        if self.times != 1.0 {
            write!(f, "{}*", self.times)?;
        }
        f.write_str(&self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Sample, Variant};

    fn rounds(ours: [f64; 6]) -> Rounds {
        let mut rounds = Rounds::new("", [Variant::new("new", ""), Variant::new("old", "")]);
        for figure in ours {
            rounds.push(vec![], vec![Sample::from([(Measure::Rate, figure)]), Sample::from([(Measure::Rate, 100.0)])]);
        }
        rounds
    }

    fn outcome(gate: &str, ours: [f64; 6]) -> Outcome {
        gate.parse::<Gate>().unwrap().outcome(&rounds(ours), 0.95).unwrap().0
    }

    #[test]
    fn a_gate_holds_is_broken_or_open() {
        let steady = [99.0, 100.0, 101.0, 100.5, 99.5, 100.0];
        let slower = [89.0, 90.0, 91.0, 90.5, 89.5, 90.0];
        let wild = [60.0, 140.0, 80.0, 120.0, 100.0, 95.0];
        assert_eq!(outcome("new>=0.97*old", steady), Outcome::Holds);
        assert_eq!(outcome("new>=0.97*old", slower), Outcome::Broken);
        assert_eq!(outcome("new>=0.97*old", wild), Outcome::Open);
        assert_eq!(outcome("new<=0.97*old", steady), Outcome::Broken);
        assert_eq!(outcome("new <= 0.97 * old", slower), Outcome::Holds);
    }

    #[test]
    fn an_open_gate_says_how_many_rounds_would_decide_it() {
        let gate: Gate = "new>=0.9*old".parse().unwrap();
        // The bound is a tenth away and half the interval is two: four times as many rounds halve it.
        let interval = Interval { ratio: 0.9 * 0.1_f64.exp(), low: 0.9 * (-0.1_f64).exp(), high: 0.9 * 0.3_f64.exp() };
        assert_eq!(gate.rounds_to_decide(interval, 10), Some(40));
        assert_eq!(gate.rounds_to_decide(Interval { ratio: 0.9, ..interval }, 10), None);
        let unbounded = Interval { low: 0.0, high: f64::INFINITY, ..interval };
        assert_eq!(gate.rounds_to_decide(unbounded, 2), Some(10));
    }

    #[test]
    fn a_gate_that_is_none_says_what_one_is() {
        for bad in ["new", "new>old", ">=old", "new>=x*old", "new>=-1*old", "new>=0.9*"] {
            assert!(bad.parse::<Gate>().unwrap_err().contains("it would be"), "{bad}");
        }
        assert!("speed:a>=b".parse::<Gate>().unwrap_err().contains("nothing is measured as"));
        let gate: Gate = "new>=old".parse().unwrap();
        assert!(gate.check(&["new", "other"]).unwrap_err().contains("no variant is called \"old\""));
    }
}
