//! Unit tests of `quota`.

use super::*;

#[test]
fn all_shares_together_stay_within_the_limit_and_what_is_dropped_is_free_again() {
    let quota = Quota::default();
    let (mut one, mut other) = (quota.share(), quota.share());
    assert!(one.take(60, 100) && !other.take(41, 100) && other.take(40, 100));
    assert_eq!(quota.used(), 100);
    one.give_back(10);
    assert!(other.take(10, 100) && !other.take(1, 100));
    drop(other);
    assert_eq!(quota.used(), 50);
    one.give_back(1000);
    assert!(one.is_empty());
    assert_eq!(quota.used(), 0);
}
