//! Unit tests of `log::request`.

use super::*;

#[test]
fn a_trace_is_read_as_the_recommendation_says() {
    let id = "4bf92f3577b34da6a3ce929d0e0e4736";
    let read = |text: &str| Trace::parse(text.as_bytes()).map(|trace| trace.0);
    let expected = Some(*id.as_bytes().first_chunk::<32>().unwrap());
    assert_eq!(read(&format!("00-{id}-00f067aa0ba902b7-01")), expected);
    assert_eq!(read(&format!("cc-{id}-00f067aa0ba902b7-01-what-the-future-brings")), expected);
    for wrong in [
        "",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\n",
    ] {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

#[test]
fn the_newest_lines_are_kept() {
    let mut lines = Lines::default();
    for number in 0..100 {
        lines.push(format!("line {number:03}").as_bytes(), 60);
    }
    lines.push(&[b'x'; 60], 60); // never fits
    let mut kept = Vec::new();
    lines.each(|line| kept.push(String::from_utf8(line.to_vec()).unwrap()));
    assert_eq!(kept, ["line 095", "line 096", "line 097", "line 098", "line 099"]);
    assert!(lines.0.len() <= 60);
}

#[test]
fn a_request_is_current_while_it_is_worked_on_even_after_a_panic() {
    let current = || with_request(|request| request.map(RequestLog::id));
    let mut outer = RequestLog::new(1, &HeaderMap::new(), None);
    let mut inner = RequestLog::new(2, &HeaderMap::new(), None);
    outer.enter(|| {
        assert_eq!(current(), Some(1));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            inner.enter(|| {
                set_user("ann");
                assert_eq!(current(), Some(2));
                panic!("on purpose");
            });
        }));
        assert!(caught.is_err());
        assert_eq!(current(), Some(1));
    });
    assert_eq!((current(), inner.user(), outer.user()), (None, Some("ann"), None));
}
