//! Unit tests of `draw`.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::super::screen::tests::snapshot;
use super::*;

fn drawn(screen: &mut Screen, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, screen)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |row| (0..width).map(|column| buffer[(column, row)].symbol()).collect::<String>();
    (0..height).map(|row| line(row).trim_end().to_owned()).collect()
}

#[test]
fn all_columns_and_keys_fit_into_80_columns() {
    let mut screen = Screen::new(snapshot("prefork"));
    let lines = drawn(&mut screen, 80, 24);
    assert!(lines[0].starts_with(" blog 1.2.3  version"), "{lines:#?}");
    assert!(lines[4].starts_with("WORKER PROCESS") && lines[4].ends_with("MEMORY"), "{lines:#?}");
    assert!(lines[5].starts_with(" 3     100     ready") && lines[7].starts_with(" 3.4   104"), "{lines:#?}");
    assert_eq!(lines[23], KEYS);
    assert!(VIEWS.iter().all(|view| lines[3].contains(view)), "{lines:#?}");
}

#[test]
fn no_size_is_too_small() {
    for (width, height) in [(1, 1), (10, 3), (40, 6), (300, 100)] {
        for view in 0..VIEWS.len() {
            let mut screen = Screen::new(snapshot("thread"));
            screen.view = view;
            assert_eq!(drawn(&mut screen, width, height).len(), usize::from(height));
        }
    }
}

#[test]
fn what_a_client_sent_controls_no_terminal() {
    let mut screen = Screen::new(snapshot("thread"));
    let error =
        json!({"at": 0, "status": 500, "id": "0123456789abcdef", "path": "/\u{1b}[31mred\r\n", "cause": "on purpose"});
    (screen.snapshot.metrics, screen.view) = (Ok(json!({ "errors": [error] })), 4);
    let lines = drawn(&mut screen, 80, 24);
    assert!(
        lines[5].contains("500") && lines[5].contains("0123456789abcdef") && lines[5].ends_with("on purpose"),
        "{lines:#?}"
    );
    assert!(lines.iter().all(|line| !line.contains(char::is_control)), "{lines:#?}");
}

#[test]
fn what_is_wrong_is_said_first() {
    let mut screen = Screen::new(snapshot("thread"));
    assert_eq!(drawn(&mut screen, 80, 24)[2], " serving");
    (screen.snapshot.overview.swap_succeeded, screen.snapshot.overview.swap) =
        (Some(false), Some("no such file".into()));
    assert_eq!(drawn(&mut screen, 80, 24)[2], " LAST SWAP FAILED 0 s ago: no such file");
    screen.lost = Some("no server listens".into());
    assert_eq!(drawn(&mut screen, 80, 24)[2], " NO REPLY: no server listens");
    screen.view = 1;
    assert_eq!(drawn(&mut screen, 80, 24)[4], " not counted");
}

#[test]
fn a_request_that_has_ended_does_not_run() {
    let mut screen = Screen::new(snapshot("prefork"));
    let running = |process: u32| json!({"since": 0, "process": process, "request": format!("GET /of/{process}")});
    (screen.snapshot.metrics, screen.view) = (Ok(json!({ "running": [running(101), running(104)] })), 2);
    assert_eq!(drawn(&mut screen, 80, 24)[4], " none");
    screen.snapshot.overview.workers[0].slots[1].running = 1;
    let lines = drawn(&mut screen, 80, 24);
    assert!(lines[5].ends_with("GET /of/104") && lines[6].is_empty(), "{lines:#?}");
}
