//! What a measurement found, for a person and for a record.

use std::fmt::{self, Write};

use figures::table::Table;
use serde_json::Value;

/// The tables of one measurement, its goals, and the raw figures behind them.
pub(crate) struct Outcome {
    pub(crate) name: &'static str,
    about: &'static str,
    tables: Vec<(String, Table)>,
    /// One line a goal: what was asked, what was found, **met** or **missed**.
    pub(crate) verdicts: Vec<String>,
    notes: Vec<String>,
    pub(crate) raw: Value,
}

impl Outcome {
    pub(crate) fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, tables: Vec::new(), verdicts: Vec::new(), notes: Vec::new(), raw: Value::Null }
    }

    /// Adds a table under a title, which may be empty.
    pub(crate) fn table(&mut self, title: impl Into<String>, table: Table) {
        self.tables.push((title.into(), table));
    }

    /// Adds what a reader must know to read the tables rightly.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Markdown.
impl fmt::Display for Outcome {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(to, "## {}\n\n{}", self.name, self.about)?;
        for (title, table) in &self.tables {
            if !title.is_empty() {
                write!(to, "\n{title}\n")?;
            }
            write!(to, "\n{table}")?;
        }
        let lines = self.verdicts.iter().chain(&self.notes);
        lines.enumerate().try_for_each(|(number, line)| {
            if number == 0 {
                to.write_char('\n')?;
            }
            writeln!(to, "- {line}")
        })
    }
}
