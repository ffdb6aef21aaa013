//! Unit tests of `people::password`.

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

/// What is compared is the password to the byte; who asks normalises it.
#[test]
fn a_hash_is_of_one_text() {
    let cost = || Params::new(64, 1, 1, None).unwrap();
    let typed = "a\u{308}pfel und birnen";
    let hash = hash_with(cost(), typed, b"a salt of 16 byte").unwrap();
    assert!(is_of(cost(), typed, Some(&hash)).unwrap());
    assert!(!is_of(cost(), &normalise(typed), Some(&hash)).unwrap() && !is_of(cost(), typed, None).unwrap());
}

#[test]
fn one_password_is_the_same_on_every_keyboard() {
    for (typed, same) in [
        ("a\u{308}pfel", "\u{e4}pfel"),
        ("\u{212b}ngstro\u{308}m", "\u{c5}ngstr\u{f6}m"),
        ("two\u{a0}words", "two words"),
        ("\u{3000}a\u{2009}b\u{1680}\u{202f}\u{205f}", " a b   "),
        ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
        ("q\u{307}\u{323}", "q\u{323}\u{307}"),
    ] {
        assert_eq!(normalise(typed), same, "{typed:?}");
    }
    // Neither case nor width is mapped, and no spaces are dropped.
    for unchanged in ["", "a  b ", "Correct", "\u{ff21}\u{fb01}", "tab\tand\u{200b}", "\u{df}\u{1e9e}"] {
        assert_eq!(normalise(unchanged), unchanged);
    }
}
