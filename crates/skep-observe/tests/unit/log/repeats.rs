//! Tests of `log::repeats`.

use super::*;

#[test]
fn equal_lines_in_a_row_are_counted_after_the_first_ones() {
    let mut repeats = Repeats::new(2);
    let mut judge = |category: &str, text: &str| repeats.judge_text(Level::WARN, category, text);
    let row = [judge("a", "x"), judge("a", "x"), judge("a", "x"), judge("a", "x")];
    assert_eq!(row, [Verdict::Write(None), Verdict::Write(None), Verdict::Fold, Verdict::Fold]);
    assert_eq!(judge("a", "y"), Verdict::Write(Some(Folded { count: 2, category: "a".into() })));
    assert_eq!([judge("a", "x"), judge("b", "x")], [Verdict::Write(None), Verdict::Write(None)]);
    assert_eq!(repeats.judge_text(Level::ERROR, "b", "x"), Verdict::Write(None));
}

#[test]
fn without_a_limit_all_lines_are_written() {
    let mut repeats = Repeats::new(0);
    for _ in 0..100 {
        assert_eq!(repeats.judge_text(Level::WARN, "a", "x"), Verdict::Write(None));
    }
}
