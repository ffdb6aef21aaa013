//! Unit tests of `screen`.

use std::time::{Duration, Instant};

use skep_server::control::{Overview, SlotOverview, WorkerOverview};

use super::*;

pub(crate) fn snapshot(mpm: &str) -> Snapshot {
    let slot = |number| SlotOverview { number, process: 100 + number, ..SlotOverview::default() };
    let worker = WorkerOverview {
        number: 3,
        process: 100,
        state: "ready".into(),
        slots: vec![slot(1), slot(4)],
        ..WorkerOverview::default()
    };
    let overview =
        Overview { name: "blog 1.2.3".into(), mpm: mpm.into(), workers: vec![worker], ..Overview::default() };
    Snapshot { at: Instant::now(), overview, metrics: Err("not counted".into()) }
}

fn press(screen: &mut Screen, keys: &str) -> Reaction {
    let code = |letter| match letter {
        '\n' => KeyCode::Enter,
        '\u{8}' => KeyCode::Backspace,
        '\u{1b}' => KeyCode::Esc,
        'v' if screen_is_watched(screen) => KeyCode::Down,
        letter => KeyCode::Char(letter),
    };
    let codes: Vec<KeyCode> = keys.chars().map(code).collect();
    codes.into_iter().map(|code| screen.on_key(code.into())).last().unwrap()
}

fn screen_is_watched(screen: &Screen) -> bool {
    screen.mode == Mode::Watch
}

#[test]
fn what_changes_something_is_confirmed_first() {
    for (mpm, keys, command) in [
        ("thread", "d", "drain 3"),
        ("thread", "vd", "drain 3"),
        ("prefork", "d", "drain 3"),
        ("prefork", "vvd", "drain 3.4"),
        ("thread", "s", "swap"),
        ("thread", "u", "upgrade"),
    ] {
        for no in ["n", "\n", "q", "\u{1b}"] {
            let mut screen = Screen::new(snapshot(mpm));
            assert_eq!(press(&mut screen, keys), Reaction::None);
            assert!(
                matches!(&screen.mode, Mode::Confirm { command: asked, .. } if asked == command),
                "{:?}",
                screen.mode
            );
            assert_eq!(press(&mut screen, no), Reaction::None, "{no:?}");
            assert_eq!(screen.mode, Mode::Watch);
        }
        let mut screen = Screen::new(snapshot(mpm));
        assert_eq!(press(&mut screen, keys), Reaction::None);
        assert_eq!(press(&mut screen, "y"), Reaction::Send(command.to_owned()));
    }
}

#[test]
fn a_log_level_is_typed_and_can_be_cancelled() {
    let mut screen = Screen::new(snapshot("thread"));
    assert_eq!(
        press(&mut screen, "luser qqq\u{8}\u{8}\u{8}anna debug 15m\n"),
        Reaction::Send("log user anna debug 15m".into())
    );
    assert_eq!(press(&mut screen, "lquit\u{1b}"), Reaction::None);
    assert_eq!(press(&mut screen, "l \n"), Reaction::None);
    press(&mut screen, "l");
    press(&mut screen, &"x".repeat(1000));
    assert_eq!(screen.mode, Mode::Prompt { text: "x".repeat(LONGEST) });
    assert_eq!(press(&mut screen, "\u{1b}q"), Reaction::Quit);
}

#[test]
fn only_a_worker_is_drained() {
    let mut screen = Screen::new(snapshot("thread"));
    assert_eq!(press(&mut screen, "2d"), Reaction::None);
    assert_eq!(screen.mode, Mode::Watch);
    assert!(screen.message.is_some_and(|message| message.is_err()));
}

#[test]
fn rates_are_those_of_workers_that_are_still_there() {
    let (before, mut now) = (snapshot("thread"), snapshot("thread"));
    now.at = before.at + Duration::from_secs(2);
    (now.overview.workers[0].requests, now.overview.workers[0].processor) = (100, 0.5);
    now.overview.workers.push(WorkerOverview { number: 4, requests: 7, ..WorkerOverview::default() });
    let rates = Rates::between(&before, &now);
    assert_eq!((rates.requests(), rates.processor()), (50.0, 0.25));
    assert_eq!(Rates::between(&now, &before), Rates::default());
}
