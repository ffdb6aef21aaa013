//! When requests are due: plain arithmetic, no clock.

use std::time::Duration;

use super::client::Share;
use super::request::RequestSpec;
use crate::number::float;

/// When requests are sent. See [`Plan`](super::Plan).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each connection sends the next request when it has its answer. A slow server is asked less often.
    Closed,
    /// A number of requests each second, whatever the server does; latency counts from the time a request was due.
    Open {
        /// Requests a second.
        per_second: f64,
    },
    /// From the one rate to the other, evenly over the measured time.
    Ramp {
        /// Requests a second at the beginning.
        from: f64,
        /// Requests a second at the end.
        to: f64,
    },
    /// Each request at its own time, as an access log has it.
    Replay {
        /// How many times faster than it was.
        speed: f64,
    },
}

impl Pace {
    pub(crate) fn check(self) -> Result<(), String> {
        let is_rate = |rate: f64| rate.is_finite() && rate > 0.0 && rate <= 1e8;
        match self {
            Self::Open { per_second: rate } | Self::Ramp { from: rate, to: _ } if !is_rate(rate) => {
                Err(format!("{rate} requests a second are no rate; it would be more than 0 and at most 100000000"))
            }
            Self::Ramp { to, .. } if !is_rate(to) => Err(format!("{to} requests a second are no rate")),
            Self::Replay { speed } if !is_rate(speed) => Err(format!("{speed} times is no speed")),
            _ => Ok(()),
        }
    }

    /// The pace of the warm-up: a ramp stays where it begins, and a log is not warmed up for.
    pub(crate) fn to_warm_up(self) -> Option<Self> {
        match self {
            Self::Closed | Self::Open { .. } => Some(self),
            Self::Ramp { from, .. } => Some(Self::Open { per_second: from }),
            Self::Replay { .. } => None,
        }
    }
}

/// The due times of a pace, one after the other, as distances from the beginning.
#[derive(Debug)]
pub(crate) struct Schedule {
    pace: Pace,
    time: Duration,
    next: u64,
    share: Share,
}

impl Schedule {
    /// Of a pace, the part that is this share's.
    pub(super) fn new(pace: Pace, time: Duration, share: Share) -> Self {
        Self { pace, time, next: share.number, share }
    }

    /// Whether requests wait for their time; otherwise, for a connection only.
    pub(crate) fn is_open(&self) -> bool {
        self.pace != Pace::Closed
    }

    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// When the next request is due, and which of `requests` it is. `None`: no more are due.
    pub(crate) fn peek(&self, requests: &[RequestSpec]) -> Option<(Duration, usize)> {
        let place = usize::try_from(self.next % requests.len().max(1) as u64).unwrap_or(0);
        let due = match self.pace {
            Pace::Closed => return Some((Duration::ZERO, place)),
            Pace::Open { per_second } => float(self.next) / per_second,
            Pace::Ramp { from, to } => ramp(float(self.next), from, to, self.time.as_secs_f64())?,
            Pace::Replay { speed } => {
                requests.get(usize::try_from(self.next).ok()?).map(|request| request.at.as_secs_f64() / speed)?
            }
        };
        let due = Duration::from_secs_f64(due);
        (due < self.time).then_some((due, place))
    }

    pub(crate) fn advance(&mut self) {
        self.next += self.share.of;
    }

    /// Whether its requests have a rate, and not each its own time.
    pub(crate) fn has_a_rate(&self) -> bool {
        matches!(self.pace, Pace::Open { .. } | Pace::Ramp { .. })
    }

    /// How many were due by now and were never sent.
    pub(crate) fn left(&mut self, requests: &[RequestSpec], now: Duration) -> u64 {
        let before = self.next;
        while self.is_open() && self.peek(requests).is_some_and(|(due, _)| due <= now) {
            self.advance();
        }
        (self.next - before) / self.share.of
    }
}

/// When request number `n` is due, if the rate goes evenly from `from` to `to` in `time` seconds: the number sent
/// after `t` seconds is `from t + (to - from) t^2 / 2 time`, solved for `t`.
fn ramp(n: f64, from: f64, to: f64, time: f64) -> Option<f64> {
    let slope = (to - from) / time;
    if slope.abs() < 1e-9 {
        return Some(n / from);
    }
    let root = from * from + 2.0 * slope * n;
    (root >= 0.0).then(|| (root.sqrt() - from) / slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(pace: Pace, seconds: u64, requests: &[RequestSpec]) -> Vec<f64> {
        times_of(Schedule::new(pace, Duration::from_secs(seconds), Share::WHOLE), requests)
    }

    fn times_of(mut schedule: Schedule, requests: &[RequestSpec]) -> Vec<f64> {
        let mut times = Vec::new();
        while let Some((due, _)) = schedule.peek(requests) {
            times.push(due.as_secs_f64());
            schedule.advance();
        }
        times
    }

    #[test]
    fn a_constant_rate_has_constant_gaps() {
        let times = times(Pace::Open { per_second: 4.0 }, 2, &[RequestSpec::get("/")]);
        assert_eq!(times, [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75]);
    }

    #[test]
    fn threads_send_the_requests_of_one_pace_in_turn() {
        let share = |number| {
            let schedule =
                Schedule::new(Pace::Open { per_second: 4.0 }, Duration::from_secs(1), Share { number, of: 2 });
            times_of(schedule, &[RequestSpec::get("/")])
        };
        assert_eq!((share(0), share(1)), (vec![0.0, 0.5], vec![0.25, 0.75]));
    }

    #[test]
    fn a_ramp_sends_the_mean_of_its_rates_and_most_at_its_end() {
        let times = times(Pace::Ramp { from: 100.0, to: 300.0 }, 10, &[RequestSpec::get("/")]);
        assert_eq!(times.len(), 2000);
        assert_eq!(times.iter().filter(|time| **time < 1.0).count(), 110);
        assert_eq!(times.iter().filter(|time| **time >= 9.0).count(), 290);
    }

    #[test]
    fn a_ramp_goes_down_as_well() {
        let times = times(Pace::Ramp { from: 300.0, to: 100.0 }, 10, &[RequestSpec::get("/")]);
        assert!((1999..=2001).contains(&times.len()), "{}", times.len());
    }

    #[test]
    fn a_log_is_replayed_at_its_times() {
        let at = |seconds| RequestSpec { at: Duration::from_secs(seconds), ..RequestSpec::get("/") };
        assert_eq!(times(Pace::Replay { speed: 2.0 }, 60, &[at(0), at(3), at(10)]), [0.0, 1.5, 5.0]);
    }

    #[test]
    fn rates_that_are_none_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Pace::Open { per_second: rate }.check().is_err());
            assert!(Pace::Ramp { from: 1.0, to: rate }.check().is_err());
        }
    }
}
