//! Unit tests of `tiered::validity`.

use super::*;

const NOW: Time = Time::from_millis(1_700_000_000_005);

#[test]
fn a_copy_expires_with_its_stamp_or_its_time_whichever_comes_first() {
    let bound = Duration::from_secs(1);
    let (validity, other) = (Validity::StampAndTime(7), Validity::StampAndTime(8));
    let mark = validity.mark(NOW, bound);
    assert!(validity.holds(mark, NOW, bound) && !other.holds(mark, NOW, bound));
    assert!(validity.holds(mark, NOW.plus(Duration::from_millis(980)), bound));
    for late in [1_000, 1_010, 5_000, 40_000_000_000] {
        assert!(!validity.holds(mark, NOW.plus(Duration::from_millis(late)), bound), "{late}");
    }
    let shorter = Duration::from_millis(500);
    assert!(!validity.holds(mark, NOW, shorter), "a mark beyond the bound is invalid");
}

#[test]
fn a_complete_stamp_ignores_time_and_time_ignores_stamps() {
    let bound = Duration::from_secs(1);
    let mark = Validity::Stamp(u64::MAX).mark(NOW, bound);
    assert!(Validity::Stamp(u64::MAX).holds(mark, NOW.plus(Duration::from_hours(1)), bound));
    let mark = Validity::Time.mark(NOW, bound);
    assert!(Validity::Time.holds(mark, NOW.plus(Duration::from_millis(999)), bound));
    assert!(!Validity::Time.holds(mark, NOW.plus(bound), bound));
}
