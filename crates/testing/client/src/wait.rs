//! Waiting for what another thread or process does, without guessing how long it takes.

use std::thread;
use std::time::{Duration, Instant};

/// How long something may take that should come: much longer than it takes, also on a machine that does other things.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long it is until it is looked at again.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until `is_so`, which it looks at every 5 ms.
///
/// ```
/// let mut looked = 0;
/// let third_look = || {
///     looked += 1;
///     looked == 3
/// };
/// skep_client::wait_until(|| "it is not looked at".to_owned(), third_look);
/// ```
///
/// # Panics
///
/// After a minute, with `what`, which says what did not come, and what is there instead: a log, say.
#[track_caller]
pub fn wait_until(what: impl Fn() -> String, is_so: impl FnMut() -> bool) {
    wait_for(PATIENCE, what, is_so);
}

/// The same for so long.
///
/// # Panics
///
/// When this time is over.
#[track_caller]
pub fn wait_for(patience: Duration, what: impl Fn() -> String, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < patience, "waited in vain for {patience:?}: {}", what());
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "waited in vain for 20ms: the moon")]
    fn what_does_not_come_is_named() {
        wait_for(Duration::from_millis(20), || "the moon".to_owned(), || false);
    }
}
