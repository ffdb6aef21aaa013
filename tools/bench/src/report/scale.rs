//! Scales of plots: from a figure to a place, and where the ticks stand.

/// From figures to places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    from: (f64, f64),
    to: (f64, f64),
    log: bool,
}

impl Scale {
    pub(super) fn even(from: (f64, f64), to: (f64, f64)) -> Self {
        let from = if from.1 > from.0 { from } else { (from.0, from.0 + 1.0) };
        Self { from, to, log: false }
    }

    /// Each tenfold is as long as the next.
    pub(super) fn log(from: (f64, f64), to: (f64, f64)) -> Self {
        let low = from.0.max(1e-9);
        let high = if from.1 > low { from.1 } else { low * 10.0 };
        Self { from: (low, high), to, log: true }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let part = if self.log {
            (value.max(self.from.0) / self.from.0).ln() / (self.from.1 / self.from.0).ln()
        } else {
            (value - self.from.0) / (self.from.1 - self.from.0)
        };
        self.to.0 + part * (self.to.1 - self.to.0)
    }

    /// Round figures within, four to ten of them.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.log {
            return log_ticks(self.from);
        }
        let step = nice((self.from.1 - self.from.0) / 5.0);
        let first = (self.from.0 / step).ceil();
        (0..12).map(|n| (first + f64::from(n)) * step).take_while(|tick| *tick <= self.from.1 * (1.0 + 1e-9)).collect()
    }
}

/// The next of 1, 2, 5, 10, 20, ...
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.max(1e-12).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|nice| *nice >= step * 0.999)
        .unwrap_or(power * 10.0)
}

fn log_ticks((low, high): (f64, f64)) -> Vec<f64> {
    let first = low.log10().floor();
    let tens = || (0..14).map(move |n| 10_f64.powf(first + f64::from(n)));
    let within = |tick: &f64| *tick >= low * 0.999 && *tick <= high * 1.001;
    let factors: &[f64] = if high / low > 300.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    tens().flat_map(|ten| factors.iter().map(move |factor| ten * factor)).filter(within).collect()
}

/// The largest figure of an axis: a little above what is shown.
pub(super) fn above(value: f64) -> f64 {
    let step = nice(value / 5.0);
    (value / step).ceil() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(Scale::even((0.0, 1234.0), (0.0, 1.0)).ticks(), [0.0, 500.0, 1000.0]);
        assert_eq!(Scale::log((40.0, 3000.0), (0.0, 1.0)).ticks().first(), Some(&50.0));
        assert!((above(1234.0) - 1500.0).abs() < 1e-9);
    }

    #[test]
    fn a_place_is_where_the_figure_is() {
        assert!((Scale::even((0.0, 10.0), (100.0, 0.0)).place(5.0) - 50.0).abs() < 1e-9);
        assert!((Scale::log((1.0, 100.0), (0.0, 100.0)).place(10.0) - 50.0).abs() < 1e-9);
        assert!(Scale::even((5.0, 5.0), (0.0, 1.0)).place(5.0).is_finite());
    }
}
