//! Unit tests of `log::request`.

use super::*;

#[test]
fn a_trace_is_read_as_the_recommendation_says() {
    let id = "4bf92f3577b34da6a3ce929d0e0e4736";
    let read = |text: &str| Trace::parse(text.as_bytes()).map(|trace| trace.id);
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
    let flags = |flags: &str| Trace::parse(format!("00-{id}-00f067aa0ba902b7-{flags}").as_bytes()).unwrap();
    assert!(
        flags("01").is_sampled() && flags("03").is_sampled() && !flags("00").is_sampled() && !flags("02").is_sampled()
    );
    assert_eq!(flags("00").parent(), Some("00f067aa0ba902b7"));
}

#[test]
fn requests_of_the_application_belong_to_the_trace() {
    let headers = |value: Option<&str>| {
        let value = value.map(|value| (TRACEPARENT.clone(), value.parse().unwrap()));
        Fields::from(value.into_iter().collect::<http::HeaderMap>())
    };
    let sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    assert_eq!(RequestLog::new(7, &headers(None), None).traceparent(), None);
    assert_eq!(RequestLog::new(7, &headers(Some(sent)), None).traceparent().as_deref(), Some(sent), "passed on");
    let trace = Trace::of(&headers(Some(sent)));
    let own = RequestLog::new(7, &headers(Some(sent)), None).with_trace(trace).traceparent();
    assert_eq!(
        own.as_deref(),
        Some("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000007-01"),
        "the span of the server"
    );
    let begun = Trace::begin(7, false);
    assert_eq!((begun.parent(), begun.is_sampled()), (None, false));
    let log = RequestLog::new(7, &headers(None), None).with_trace(Some(begun));
    assert!(Trace::parse(log.traceparent().unwrap().as_bytes()).is_some_and(|read| read.id() == begun.id()));
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
    let mut outer = RequestLog::new(1, &Fields::default(), None);
    let mut inner = RequestLog::new(2, &Fields::default(), None);
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
