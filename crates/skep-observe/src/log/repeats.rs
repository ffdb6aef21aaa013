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
#[path = "../../tests/unit/log/repeats.rs"]
mod tests;
