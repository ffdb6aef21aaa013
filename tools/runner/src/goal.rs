//! What Skep must reach, and whether it did.

use crate::measure::Measure;

/// A promise about one variant of an experiment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    pub(crate) variant: &'static str,
    pub(crate) measure: Measure,
    pub(crate) bound: Bound,
    pub(crate) beside: Beside,
}

/// What the bound counts from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Beside {
    /// Nothing: the figure itself, in the measure's own unit.
    Nothing,
    /// This variant's figure is the unit.
    Times(&'static str),
    /// What comes on top of this variant's figure, in the measure's own unit.
    OnTopOf(&'static str),
}

/// What came out: the figure or ratio, and the bounds between which it is to be believed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reached {
    pub(crate) middle: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Which side of a figure is good.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    /// `variant` uses at most this multiple of what `beside` uses.
    pub(crate) const fn at_most(variant: &'static str, measure: Measure, times: f64, beside: &'static str) -> Self {
        Self { variant, measure, bound: Bound::AtMost(times), beside: Beside::Times(beside) }
    }

    /// `variant` reaches at least this multiple of what `beside` reaches.
    pub(crate) const fn at_least(variant: &'static str, measure: Measure, times: f64, beside: &'static str) -> Self {
        Self { variant, measure, bound: Bound::AtLeast(times), beside: Beside::Times(beside) }
    }

    /// `variant` reaches this, whatever the others reach.
    pub(crate) const fn alone(variant: &'static str, measure: Measure, bound: Bound) -> Self {
        Self { variant, measure, bound, beside: Beside::Nothing }
    }

    /// `variant` uses at most so much more than `beside` uses.
    pub(crate) const fn at_most_more(variant: &'static str, measure: Measure, more: f64, beside: &'static str) -> Self {
        Self { variant, measure, bound: Bound::AtMost(more), beside: Beside::OnTopOf(beside) }
    }

    /// Says the goal: `skep: CPU us/request at most 1.04 of hyper`.
    pub(crate) fn describe(&self) -> String {
        let Self { variant, measure, beside, .. } = self;
        let (side, figure) = match self.bound {
            Bound::AtMost(figure) => ("at most", figure),
            Bound::AtLeast(figure) => ("at least", figure),
        };
        match beside {
            Beside::Times(beside) => format!("{variant}: {} {side} {figure:.2} of {beside}'s", measure.name()),
            Beside::OnTopOf(beside) => {
                format!("{variant}: {} {side} {} on top of {beside}'s", measure.name(), measure.show(figure))
            }
            Beside::Nothing => format!("{variant}: {} {side} {}", measure.name(), measure.show(figure)),
        }
    }

    /// Says what came out.
    pub(crate) fn verdict(&self, reached: Option<Reached>) -> &'static str {
        let Some(Reached { middle, low, high }) = reached else { return "not measured" };
        match (self.bound.holds(middle), self.bound.holds(low), self.bound.holds(high)) {
            (true, true, true) => "met",
            (true, _, _) => "met, but not beyond doubt",
            (false, false, false) => "missed",
            (false, _, _) => "missed, but not beyond doubt",
        }
    }
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(figure) => value <= figure,
            Self::AtLeast(figure) => value >= figure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: Goal = Goal::at_most("skep", Measure::Cpu, 1.04, "hyper");

    #[test]
    fn the_middle_decides_and_the_bounds_say_how_surely() {
        let verdict = |middle, low, high| CPU.verdict(Some(Reached { middle, low, high }));
        assert_eq!(verdict(1.02, 1.01, 1.04), "met");
        assert_eq!(verdict(1.02, 1.01, 1.10), "met, but not beyond doubt");
        assert_eq!(verdict(1.05, 1.01, 1.10), "missed, but not beyond doubt");
        assert_eq!(verdict(1.06, 1.05, 1.10), "missed");
        assert_eq!(CPU.verdict(None), "not measured");
    }

    #[test]
    fn a_goal_says_itself() {
        assert_eq!(CPU.describe(), "skep: CPU us/request at most 1.04 of hyper's");
        let start = Goal::alone("skep", Measure::Start, Bound::AtMost(30.0));
        assert_eq!(start.describe(), "skep: first answer, ms at most 30.0");
        let fork = Goal::at_most_more("fork", Measure::Cpu, 120.0, "thread");
        assert_eq!(fork.describe(), "fork: CPU us/request at most 120.00 on top of thread's");
    }
}
