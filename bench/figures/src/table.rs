//! A Markdown table whose columns stand under each other in a terminal too.

use std::fmt;

/// Rows of cells; the first row is the head.
pub struct Table(Vec<Vec<String>>);

impl Table {
    /// A table without rows yet.
    pub fn new(head: impl IntoIterator<Item = String>) -> Self {
        Self(vec![head.into_iter().collect()])
    }

    /// Adds columns.
    pub fn head(&mut self, more: impl IntoIterator<Item = String>) {
        self.0[0].extend(more);
    }

    /// Adds a row.
    pub fn row(&mut self, row: Vec<String>) {
        self.0.push(row);
    }

    fn width(&self, column: usize) -> usize {
        self.0.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0).max(2)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.0[0].len()).map(|column| self.width(column)).collect();
        for (number, row) in self.0.iter().enumerate() {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                // Names stand left, figures right.
                if column == 0 { write!(to, "| {cell:<width$} |")? } else { write!(to, " {cell:>width$} |")? }
            }
            writeln!(to)?;
            if number == 0 {
                let rules = widths.iter().enumerate().map(|(column, &width)| {
                    if column == 0 { "-".repeat(width + 2) } else { "-".repeat(width + 1) + ":" }
                });
                writeln!(to, "|{}|", rules.collect::<Vec<_>>().join("|"))?;
            }
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
        table.row(vec!["a".into(), "1.25".into()]);
        assert_eq!(table.to_string(), "| variant |   ms |\n|---------|-----:|\n| a       | 1.25 |\n");
    }
}
