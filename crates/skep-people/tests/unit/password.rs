//! Unit tests of `people::password`.

use super::*;

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
