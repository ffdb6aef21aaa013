//! Tests of `status::totals`.

use super::*;

#[test]
fn a_total_never_falls_when_a_process_exits_or_restarts() {
    let mut totals = Totals::default();
    let key = || ("cache pages".to_owned(), "hits".to_owned());
    let mut report = |process, number, others: &[u32]| {
        totals.report(process, key(), number);
        totals.retain(&others.iter().copied().chain([process]).collect());
        totals.get("cache pages", "hits")
    };
    assert_eq!(report(1, 10, &[]), 10);
    assert_eq!(report(2, 5, &[1]), 15);
    assert_eq!(report(1, 12, &[2]), 17);
    assert_eq!(report(2, 5, &[]), 17, "process 1 has exited");
    assert_eq!(report(2, 3, &[]), 20, "and another one has got its id");
}
