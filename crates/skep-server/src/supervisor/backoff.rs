//! How long to wait before a worker that died is started again.

use std::time::Duration;

/// Who lived at least so long did not die at once.
const YOUNG: Duration = Duration::from_secs(10);

/// So many that died young, one after the other, are a crash loop.
const LOOP: u32 = 5;

/// So many are replaced at once.
const FREE: u32 = 3;

const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How many workers died young, one after the other. The first few are replaced at
/// once, each further one after twice the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backoff {
    deaths: u32,
}

impl Backoff {
    /// A worker died that lived so long. `useful`: it has done what it was there for; what it died of came later. Gives back how
    /// long to wait for the next.
    pub(crate) fn died(&mut self, lived: Duration, useful: bool) -> Duration {
        self.deaths = if lived < YOUNG && !useful { self.deaths.saturating_add(1) } else { 1 };
        match self.deaths.checked_sub(FREE + 1) {
            None => Duration::ZERO,
            Some(more) => LONGEST_WAIT.min(FIRST_WAIT.saturating_mul(1 << more.min(16))),
        }
    }

    /// How many died young, one after the other.
    pub(crate) fn deaths(self) -> u32 {
        self.deaths
    }

    /// This is not bad luck any more.
    pub(crate) fn is_crash_loop(self) -> bool {
        self.deaths >= LOOP
    }

    /// A worker has lived long enough.
    pub(crate) fn lives(&mut self, since: Duration) {
        if since >= YOUNG {
            self.deaths = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_deaths_cost_no_time_and_a_crash_loop_does_not_burn_the_machine() {
        let mut backoff = Backoff::default();
        let waits: Vec<u128> = (0..14).map(|_| backoff.died(Duration::from_millis(5), false).as_millis()).collect();
        assert_eq!(waits[..6], [0, 0, 0, 100, 200, 400]);
        assert_eq!(waits[13], 30_000);
        assert!(backoff.is_crash_loop());
        assert_eq!(backoff.died(Duration::from_secs(11), false), Duration::ZERO);
        assert!(!backoff.is_crash_loop());
    }

    #[test]
    fn it_is_a_crash_loop_from_the_fifth_on_unless_they_were_useful() {
        let mut backoff = Backoff::default();
        let mut is_loop = |useful| {
            backoff.died(Duration::ZERO, useful);
            backoff.is_crash_loop()
        };
        let loops: Vec<bool> = (0..6).map(|_| is_loop(false)).collect();
        assert_eq!(loops, [false, false, false, false, true, true]);
        assert!(!is_loop(true));
        backoff.lives(Duration::from_secs(10));
        assert_eq!(backoff.deaths(), 0);
    }
}
