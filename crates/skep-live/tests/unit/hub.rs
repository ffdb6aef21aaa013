//! Tests of `hub`.

use super::*;

#[test]
fn of_a_key_that_has_no_subscriber_nothing_is_kept() {
    let hub = Hub::default();
    let (first, one) = hub.join("news", "a", 10);
    let (second, two) = hub.join("news", "a", 10);
    assert!(Arc::ptr_eq(&first, &second) && one != two);
    hub.leave(&first, one);
    hub.push(vec![(7, "news".into(), "a".into(), "1".into())]);
    assert!(!second.is_quiet_after(6) && second.is_quiet_after(7));
    hub.leave(&second, two);
    assert!(lock(&hub.0).channels.is_empty());
    let (third, _) = hub.join("news", "a", 10);
    assert_eq!((third.from(), hub.last()), (7, Some(7)));
}
