//! Unit tests of `channel`.

use super::*;

#[test]
fn a_command_is_parsed_as_it_was_written() {
    let states = [WorkerState::Serving, WorkerState::Retiring, WorkerState::Draining].map(Command::State);
    let others = [
        Command::Quit,
        Command::Level(LevelChange::parse(&["debug"]).unwrap()),
        Command::Level("blog::search trace".parse().unwrap()),
        Command::Raise(Raise::parse(&["user", "anna", "debug", "15m"]).unwrap()),
        Command::Add,
        Command::Drain { process: 3 },
        Command::Reopen(StreamFiles::default()),
        Command::Status { id: 7, json: true },
    ];
    for command in states.into_iter().chain(others) {
        assert_eq!(Command::parse(&command.to_string()), Some(command));
    }
    assert_eq!(Command::parse("dance"), None);
    assert_eq!(decode_line(encode_line("a\nb").trim_end()), "a\nb");
}
