//! Unit tests of `status::plot`.

use super::*;

#[test]
fn a_line_has_a_gap_where_nothing_was_sampled() {
    let points = [Some(0.0), None, Some(10.0), None, None, None, Some(5.0)];
    let path = path(&points, 10.0);
    assert_eq!(path, "M0.0 96.0h1L200.0 6.0M600.0 51.0h1");
}

#[test]
fn a_plot_says_its_most_or_that_it_has_nothing_yet() {
    let line = Line { name: "", class: "a", value: |sample| Some(sample.requests.into()) };
    let plot = Plot { title: "requests", lines: Vec::leak(vec![line]), write: |value| format!("{value:.1}") };
    let drawn = |samples: &[Sample]| plot.draw(samples, Span { end: 3600, seconds: 3600 }).into_string();
    assert!(drawn(&[]).contains("<span>no data yet</span>"), "{}", drawn(&[]));
    let sample = |requests| Sample { stamp: 100, requests, ..Sample::default() };
    assert!(drawn(&[sample(0)]).contains("<span>at most 0.0</span>"));
    assert!(drawn(&[sample(7)]).contains("<span>at most 7.0</span>"));
}

#[test]
fn samples_of_one_point_are_averaged_and_old_ones_left_out() {
    let sample =
        |second: u64, requests| Sample { stamp: u32::try_from(second / 10).unwrap(), requests, ..Sample::default() };
    let samples = [sample(0, 99), sample(1_000_000, 10), sample(1_000_010, 20)];
    let span = Span { end: 1_003_600, seconds: 3600 };
    let points = points(&samples, span, |sample| Some(sample.requests.into()));
    assert_eq!(points[0], Some(15.0));
    assert!(points[1..].iter().all(Option::is_none));
}
