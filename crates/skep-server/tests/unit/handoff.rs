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
        metrics: Some(12),
        last_lines: 13,
        listeners: vec![vec![8, 9], vec![10, 11]],
    };
    assert_eq!(HandoffSpec::parse(&spec.to_string()), Some(spec.clone()));
    let uncounted = HandoffSpec { metrics: None, ..spec };
    assert_eq!(HandoffSpec::parse(&uncounted.to_string()), Some(uncounted));
    assert_eq!(HandoffSpec::parse("1 2 3"), None);
}

#[test]
fn the_handoff_of_the_status_page_is_parsed_as_it_was_written() {
    for listener in [Some(3), None] {
        let handoff = StatusHandoff { supervisor: 7, listener, metrics: 4 };
        assert_eq!(StatusHandoff::parse(&handoff.to_string()), Some(handoff));
    }
    assert_eq!(StatusHandoff::parse("7 3"), None);
    assert_eq!(StatusHandoff::parse("7 3 4 5"), None);
}
