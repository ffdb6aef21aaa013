//! One thread's part of a load: which of its requests and connections are its own, and what it is asked to do.

use std::time::Duration;

use super::{Figures, LoadError, Pace, Plan, Version, Watch, h1, h2};

/// One of several equal parts of a load. Requests go round; connections are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) number: u64,
    pub(super) of: u64,
}

impl Share {
    /// All of it.
    pub(super) const WHOLE: Self = Self { number: 0, of: 1 };

    /// How many of `all` things are ours.
    pub(super) fn part(self, all: u64) -> u64 {
        all / self.of + u64::from(self.number < all % self.of)
    }

    pub(super) fn connections(self, plan: &Plan) -> usize {
        usize::try_from(self.part(plan.connections as u64)).unwrap_or(plan.connections)
    }
}

/// Something to do: to warm up, or what counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phase {
    pub(super) pace: Pace,
    pub(super) time: Duration,
    /// Of all threads.
    pub(super) count: Option<u64>,
    /// Whether answers that are due at its end are waited for, in a closed loop too.
    pub(super) drains: bool,
}

impl Phase {
    /// What comes before anything counts, if anything does.
    pub(super) fn warm_up(plan: &Plan) -> Option<Self> {
        let pace = plan.pace.to_warm_up().filter(|_| !plan.warm_up.is_zero())?;
        Some(Self { pace, time: plan.warm_up, count: None, drains: true })
    }

    pub(super) fn measured(plan: &Plan) -> Self {
        Self { pace: plan.pace, time: plan.time, count: plan.count, drains: plan.drain }
    }
}

/// Who loads. Its connections stay from one phase to the next.
pub(super) trait Client {
    fn phase(&mut self, phase: Phase, watch: &mut dyn Watch) -> Result<Figures, LoadError>;
}

/// A client of the plan's HTTP, on this thread.
pub(super) fn client(plan: &Plan, share: Share) -> Result<Box<dyn Client + '_>, LoadError> {
    Ok(match plan.http {
        Version::Http1 => Box::new(h1::Engine::new(plan, share)?),
        Version::Http2 => Box::new(h2::Engine::new(plan, share)?),
    })
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn the_parts_are_the_whole() {
        for (all, of) in [(10, 3), (3, 3), (32, 1), (2, 5)] {
            let parts: Vec<u64> = (0..of).map(|number| Share { number, of }.part(all)).collect();
            assert_eq!(parts.iter().sum::<u64>(), all, "{parts:?}");
            assert!(parts.iter().max().unwrap() - parts.iter().min().unwrap() <= 1, "{parts:?}");
        }
    }
}
