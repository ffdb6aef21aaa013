//! Tests of `cost`.

use super::*;

#[test]
fn nobodys_password_costs_what_most_hashes_did() {
    let (costs, now) = (Costs::default(), PasswordCost::default());
    let before = PasswordCost { memory: 64, passes: 1, lanes: 1 };
    assert_eq!(costs.usual(), None);
    costs.note(before);
    assert_eq!(costs.usual(), Some(before), "one row tells more than the setting");
    let note = |cost, times| (0..times).for_each(|_| assert_eq!(costs.note(cost), cost));
    note(now, 3);
    assert_eq!(costs.usual(), Some(now));
    note(before, 10_000);
    note(now, 2000);
    assert_eq!(costs.usual(), Some(now), "what is new comes to count");
    for memory in 100..200 {
        costs.note(PasswordCost { memory, ..before });
    }
    assert!(costs.0.lock().unwrap().len() <= Costs::MOST);
}
