//! Unit tests of `state::grants`.

use super::*;

#[test]
fn what_was_asked_for_has_a_name() {
    let frozen = Frozen::default();
    assert!(frozen.asked().is_empty());
    frozen.note(Frozen::RANDOM);
    frozen.note(Frozen::CLOCK);
    assert_eq!(frozen.asked(), ["the time", "secure random numbers"]);
}
