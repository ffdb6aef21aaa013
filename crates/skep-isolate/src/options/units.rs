//! Sizes and times as people write them.

use std::time::Duration;

/// `64MiB`, `512KiB`, `1GiB`, `4096` or `4096B`.
pub(super) fn size(text: &str) -> Option<u64> {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0), ("", 0)];
    let (number, shift) = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)))?;
    number.trim_end().parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// `500ms`, `30s`, `5m`, `1h`.
pub(super) fn time(text: &str) -> Option<Duration> {
    let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
    let (number, factor) = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))?;
    Some(Duration::from_millis(number.trim_end().parse::<u64>().ok()?.checked_mul(factor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(size("64MiB"), Some(64 << 20));
        assert_eq!((size("4096"), size("1 KiB"), size("2B")), (Some(4096), Some(1024), Some(2)));
        assert_eq!((size("64MB"), size(""), size("-1"), size("99999999999GiB")), (None, None, None, None));
        assert_eq!(time("500ms"), Some(Duration::from_millis(500)));
        assert_eq!((time("2m"), time("1h")), (Some(Duration::from_mins(2)), Some(Duration::from_hours(1))));
        assert_eq!((time("30"), time("s"), time("1d")), (None, None, None));
    }
}
