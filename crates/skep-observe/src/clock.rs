//! Clocks in milliseconds, which all processes of a machine share.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds of the monotonic clock. Never 0.
#[must_use]
pub fn monotonic_millis() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let millis = time.tv_sec.saturating_mul(1000).saturating_add(time.tv_nsec / 1_000_000);
    millis.cast_unsigned().max(1)
}

/// Milliseconds since 1970.
#[must_use]
pub fn unix_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
