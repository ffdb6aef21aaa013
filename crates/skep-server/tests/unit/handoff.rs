//! Unit tests of `handoff`.

use super::*;

#[test]
fn a_handoff_is_parsed_as_it_was_written() {
    let spec = HandoffSpec {
        supervisor: 7,
        number: 3,
        channel: 5,
        scoreboard: 6,
        slots: 2,
        additive_migrations_only: true,
        build: 77,
        listeners: vec![vec![8, 9], vec![10, 11]],
    };
    assert_eq!(HandoffSpec::parse(&spec.to_string()), Some(spec));
    assert_eq!(HandoffSpec::parse("1 2 3"), None);
}
