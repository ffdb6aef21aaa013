//! A table whose columns stand under each other, plain or as Markdown.

use std::fmt::{self, Write};

/// Rows of cells; the first row is the head. Names stand left, figures right.
///
/// ```
/// use skep_bench::table::Table;
///
/// let mut table = Table::new(["variant".into()]);
/// table.head(["ms".into()]);
/// table.row(vec!["a".into(), "1.25".into()]);
/// assert_eq!(table.to_string(), "variant    ms\na        1.25\n");
/// assert!(table.markdown().starts_with("| variant |   ms |"));
/// ```
#[derive(Debug, Clone)]
pub struct Table(Vec<Vec<String>>);

impl Table {
    /// Without rows yet. See [`Table`].
    pub fn new(head: impl IntoIterator<Item = String>) -> Self {
        Self(vec![head.into_iter().collect()])
    }

    /// Adds columns. See [`Table`].
    pub fn head(&mut self, more: impl IntoIterator<Item = String>) {
        self.0[0].extend(more);
    }

    /// Adds a row. See [`Table`].
    pub fn row(&mut self, row: Vec<String>) {
        self.0.push(row);
    }

    fn widths(&self, least: usize) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.0.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.max().unwrap_or(0).max(least)
        };
        (0..self.0[0].len()).map(width).collect()
    }

    /// With bars, as Markdown has it. A bar in a cell is escaped. See [`Table`].
    #[must_use]
    pub fn markdown(&self) -> String {
        let escaped =
            Self(self.0.iter().map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect()).collect());
        let widths = escaped.widths(2);
        let mut out = String::new();
        for (number, row) in escaped.0.iter().enumerate() {
            let cells =
                row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| aligned(cell, column, *width));
            let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
            if number == 0 {
                let rules = widths.iter().enumerate().map(|(column, width)| {
                    if column == 0 { "-".repeat(width + 2) } else { "-".repeat(width + 1) + ":" }
                });
                let _ = writeln!(out, "|{}|", rules.collect::<Vec<_>>().join("|"));
            }
        }
        out
    }
}

fn aligned(cell: &str, column: usize, width: usize) -> String {
    if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths(0);
        for row in &self.0 {
            let cells =
                row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| aligned(cell, column, *width));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_stand_under_each_other() {
        let mut table = Table::new(["variant".into(), "ms".into()]);
        table.row(vec!["a|b".into(), "1.25".into()]);
        assert_eq!(table.to_string(), "variant    ms\na|b      1.25\n");
        assert_eq!(table.markdown(), "| variant |   ms |\n|---------|-----:|\n| a\\|b    | 1.25 |\n");
    }
}
