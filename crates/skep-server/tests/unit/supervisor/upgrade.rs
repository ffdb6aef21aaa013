//! Unit tests of `supervisor::upgrade`.

use super::*;

#[test]
fn upgrade_state_is_parsed_as_it_was_written() {
    let worker = InheritedWorker {
        serving: true,
        number: 7,
        pid: 123,
        channel: 10,
        scoreboard: 11,
        slots: 2,
        last_lines: Some(14),
    };
    let state = UpgradeState {
        process: 5,
        last_number: 7,
        crashes: 1,
        name: "blog 1.0".into(),
        control: Some(9),
        sockets: vec![vec![3, 4], vec![5, 6]],
        status: InheritedStatus { metrics: Some(12), socket: Some(13), process: Some(77) },
        workers: vec![worker, InheritedWorker { serving: false, number: 6, pid: 99, last_lines: None, ..worker }],
        urls: vec!["http://localhost:80 (on every address)".into(), "unix:/a b".into()],
        level_changes: vec!["warn".parse().unwrap(), "blog::search debug".parse().unwrap()],
        raises: vec![Raise::parse(&["user", "Anna", "Lena", "debug"]).unwrap()],
        swaps: 3,
        replaced: 2,
        previous: Some("0123abcd".into()),
        last_swap: Some((1500, Err("app: no such file\nor so".into()))),
    };
    assert_eq!(UpgradeState::parse(&state.to_text()), Some(state.clone()));
    let last_swap = Some((0, Ok("version 0123abcd serves".into())));
    let status = InheritedStatus::default();
    let without = UpgradeState { workers: Vec::new(), control: None, status, last_swap, previous: None, ..state };
    assert_eq!(UpgradeState::parse(&without.to_text()), Some(without.clone()));
    assert_eq!(UpgradeState::parse("1\n2"), None);
    assert_eq!(UpgradeState::parse(&(without.to_text() + "later 1\n")), Some(without), "another version's word");
}
