//! Unit tests of `log::access`.

use super::*;

fn line(target: &str) -> String {
    let mut out = Vec::new();
    let status = Some(StatusCode::OK);
    Line { peer: "::1", method: "GET", target, status, bytes: 13, time: Duration::from_micros(85) }.write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_line_has_all_that_is_asked_for() {
    assert_eq!(line("/a?b=c"), " ::1 GET /a?b=c 200 13 85\n");
}

#[test]
fn secrets_do_not_reach_the_log() {
    assert_eq!(
        line("/in?user=ada&Password=x&to%6ben=y&token"),
        " ::1 GET /in?user=ada&Password=***&to%6ben=***&token 200 13 85\n"
    );
}

#[test]
fn a_target_cannot_forge_a_line() {
    assert_eq!(line("/a\"\\"), " ::1 GET /a\\\"\\\\ 200 13 85\n");
}

#[test]
fn a_stamp_moves_within_its_second_and_beyond() {
    let mut stamp = Stamp::default();
    let mut out = Vec::new();
    for millis in [1_795_246_200_001, 1_795_246_200_999, 1_795_246_201_000] {
        stamp.write(&mut out, UNIX_EPOCH + Duration::from_millis(millis));
        out.push(b' ');
    }
    assert_eq!(out, b"2026-11-21T07:30:00.001Z 2026-11-21T07:30:00.999Z 2026-11-21T07:30:01.000Z ");
}
