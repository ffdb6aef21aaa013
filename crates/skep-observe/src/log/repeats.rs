//! Lines that repeat the one before them are counted instead of written.

use tracing::Level;

use super::record::Record;

/// The last line, and how often it came again.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// How many equal lines in a row are written. 0 means all.
    limit: u32,
    level: Option<Level>,
    category: String,
    text: String,
    /// Written.
    lines: u32,
    /// Not written.
    folded: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Write it, and before it how often the last line was not written.
    Write(Option<Folded>),
    Fold,
}

/// Lines that were not written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) count: u64,
    pub(super) category: String,
}

/// Longer lines are always written: remembering them costs too much.
const LONGEST: usize = 1024;

impl Repeats {
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Equal are lines with the same level, category, message and fields. Their requests may be others.
    pub(super) fn judge(&mut self, record: &Record<'_>) -> Verdict {
        self.judge_text(record.level, record.category, record.fields.text())
    }

    fn judge_text(&mut self, level: Level, category: &str, text: &str) -> Verdict {
        if self.limit == 0 {
            return Verdict::Write(None);
        }
        if self.level == Some(level) && self.text == text && self.category == category {
            if self.lines >= self.limit {
                self.folded += 1;
                return Verdict::Fold;
            }
            self.lines += 1;
            return Verdict::Write(None);
        }
        let folded = self.take();
        self.level = (text.len() <= LONGEST).then_some(level);
        self.text.clear();
        self.category.clear();
        if self.level.is_some() {
            self.text.push_str(text);
            self.category.push_str(category);
        }
        self.lines = 1;
        Verdict::Write(folded)
    }

    /// How often the last line was not written, up to now.
    pub(super) fn take(&mut self) -> Option<Folded> {
        let count = std::mem::take(&mut self.folded);
        (count > 0).then(|| Folded { count, category: self.category.clone() })
    }
}

#[cfg(test)]
mod tests {
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
}
