//! When workers are replaced although they work.

use std::hash::{BuildHasher, RandomState};

/// The part of `hang_timeout` after which a worker counts as hung; the rest is left for starting its successor.
pub(crate) const HUNG_AFTER: f64 = 0.75;

/// What a thread served while it hung, for the log, if it could say so.
pub(crate) fn while_serving(serving: Option<String>) -> String {
    serving.map_or_else(String::new, |serving| format!(" while it serves {serving}"))
}

/// `requests_per_worker`, plus or minus a tenth, so that workers are not all replaced at once. 0 means never.
pub(crate) fn jittered(requests: u64) -> u64 {
    if requests < 2 {
        return if requests == 0 { u64::MAX } else { 1 };
    }
    let tenth = requests / 10;
    // The standard library seeds this hasher from the system's randomness.
    requests - tenth + RandomState::new().hash_one(requests) % (2 * tenth + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_quota_is_the_setting_plus_or_minus_a_tenth() {
        assert_eq!((jittered(0), jittered(1), jittered(5)), (u64::MAX, 1, 5));
        for _ in 0..100 {
            assert!((900..=1100).contains(&jittered(1000)));
        }
    }
}
